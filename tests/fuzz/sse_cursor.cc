// Any bytes as a stream's cursor, in Last-Event-ID or in ?after=: a decimal number below 2^64 or an
// error; and any text as the data of a frame stays within that frame.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/streams/frames.h"

namespace perdure {
namespace {

void try_cursor(std::string_view text) {
  HttpRequest by_header{.headers = {{"Last-Event-ID", std::string(text)}}};
  HttpRequest by_query{.query = {{"after", std::string(text)}}};
  const Result<StreamCursor> header = stream_cursor(by_header);
  const Result<StreamCursor> query = stream_cursor(by_query);
  const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (header && !text.empty()) CHECK(digits && header->from_header);
  if (query && !text.empty()) CHECK(digits && query->after == header->after);
  if (!text.empty()) CHECK(header.has_value() == query.has_value());
  if (digits && !text.empty() && text.size() < 20)
    CHECK(std::stoull(std::string(text)) == query->after);
  by_header.headers.push_back({"last-event-id", "1"});
  CHECK(!stream_cursor(by_header).has_value());
}

// No line of the data can be mistaken for a line of the frame.
void try_frame(std::string_view data) {
  const std::string frame = encode_sse({.event = "record", .id = 7, .data = data});
  CHECK(frame.starts_with("id: 7\nevent: record\ndata: "));
  CHECK(frame.ends_with("\n\n") && !frame.contains('\r'));
  std::string_view rest =
      std::string_view(frame).substr(std::string_view("id: 7\nevent: record\n").size());
  rest.remove_suffix(1);
  while (!rest.empty()) {
    CHECK(rest.starts_with("data: "));
    rest.remove_prefix(rest.find('\n') + 1);
  }
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  perdure::try_cursor(text);
  perdure::try_frame(text);
  return 0;
}
