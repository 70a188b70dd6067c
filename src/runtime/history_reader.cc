#include "runtime/history_reader.h"

#include <algorithm>
#include <vector>

#include "wire/record.h"

namespace perdure {
namespace {

constexpr Seq window_records = 256;

}  // namespace

Result<ResumeContext> read_resume_context(Store& store, SessionId session,
                                          ResumeContextBuilder::Ask ask) {
  ResumeContextBuilder builder(ask);
  Seq end = ask.boundary;
  while (!builder.full()) {
    const Seq after = end > window_records ? end - window_records : 0;
    std::vector<Record> window;
    while (after + window.size() < end) {
      const Seq from = after + window.size();
      const RecordPage page =
          TRY(store.read(session, {.after = from, .limit = static_cast<std::size_t>(end - from)}));
      if (page.records.empty()) return fail(Code::damaged, "records are missing");
      for (const std::string& bytes : page.records) {
        window.push_back(std::move(TRY(decode_record(bytes)).record));
      }
    }
    builder.add_older(window);
    if (window.empty()) break;
    end = after;
  }
  return builder.build();
}

}  // namespace perdure
