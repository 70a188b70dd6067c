#include "daemon/runtime/reads/journal_reader.h"

#include <algorithm>
#include <utility>

#include "core/wire/journal/record.h"

namespace perdure {
namespace {

constexpr Seq window_records = 256;

Seq window_before(Seq end) { return end > window_records ? end - window_records : 0; }

}  // namespace

Result<std::vector<Record>> read_records(Store& store, SessionId session, Seq after, Seq upto) {
  std::vector<Record> out;
  out.reserve(static_cast<std::size_t>(upto - after));
  while (after < upto) {
    const RecordPage page =
        TRY(store.read(session, {.after = after, .limit = static_cast<std::size_t>(upto - after)}));
    if (page.records.empty()) return fail(Code::damaged, "records are missing");
    for (const std::string& bytes : page.records) {
      out.push_back(std::move(TRY(decode_record(bytes)).record));
    }
    after += page.records.size();
  }
  return out;
}

Result<ResumeContext> read_resume_context(Store& store, SessionId session,
                                          ResumeContextBuilder::Ask ask) {
  ResumeContextBuilder builder(ask);
  Seq end = ask.boundary;
  while (!builder.full()) {
    const Seq after = window_before(end);
    builder.add_older(TRY(read_records(store, session, after, end)));  // empty: at the start
    end = after;
  }
  return builder.build();
}

Result<TranscriptSlice> read_transcript(Store& store, SessionId session, TranscriptPage::Ask ask,
                                        const TranscriptScope& scope) {
  const Seq stored = TRY(store.head(session)).seq;
  const Seq head = std::min(stored, scope.at.value_or(stored));
  const Seq from = ask.before && *ask.before > 0 ? std::min(head, *ask.before - 1) : head;
  TranscriptPage page(ask);
  std::vector<QuestionAnswer> answers;
  const auto window = [&](Seq after, Seq upto) -> Result<std::vector<Record>> {
    std::vector<Record> records = TRY(read_records(store, session, after, upto));
    for (const Record& record : records) {
      if (auto answer = question_answer(record)) answers.push_back(std::move(*answer));
    }
    if (scope.on_record) std::ranges::for_each(records, scope.on_record);
    return records;
  };
  for (Seq after = from; page.wants_newer();) {
    const Seq upto = std::min(head, after + window_records);
    page.add_newer(TRY(window(after, upto)));
    after = upto;
  }
  for (Seq end = from; page.wants_older();) {
    const Seq after = window_before(end);
    page.add_older(TRY(window(after, end)));
    end = after;
  }
  TranscriptPage::Slice slice = std::move(page).take();
  const Seq begin = slice.has_older ? slice.messages.front().first_seq : 1;
  const Seq end = ask.before.value_or(head + 1);
  std::erase_if(answers, [&](const auto& one) { return one.seq < begin || one.seq >= end; });
  std::ranges::sort(answers, {}, &QuestionAnswer::seq);
  return TranscriptSlice{.messages = std::move(slice.messages),
                         .answers = std::move(answers),
                         .has_older = slice.has_older,
                         .last_seq = head};
}

}  // namespace perdure
