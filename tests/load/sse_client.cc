// Each frame is parsed once and dropped: no record is kept.
#include "sse_client.h"

#include <charconv>
#include <utility>

namespace perdure::load {
namespace {

// The number after the first `name` in the text; 0 if there is none.
std::uint64_t number_behind(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return 0;
  std::uint64_t value = 0;
  const char* const begin = text.data() + at + name.size();
  std::from_chars(begin, text.data() + text.size(), value);
  return value;
}

}  // namespace

SseClient::SseClient(HttpIo& io, const Door& door, Order order, Times& delays)
    : order_(std::move(order)), delays_(delays), last_(order_.after) {
  HttpRequest request{
      .method = "GET",
      .target = "/api/sessions/" + order_.session + "/events?after=" + std::to_string(last_),
      .headers = door.headers};
  request.headers.push_back({"Accept", "text/event-stream"});
  call_ = http_open(io, door.endpoint, std::move(request),
                    {.connect_ms = 60'000, .answer_ms = 120'000}, *this);
}

void SseClient::on_bytes(std::string_view bytes) {
  if (!unread_.empty()) {
    unread_ += bytes;
    bytes = unread_;
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = bytes.find("\n\n", begin)) != std::string_view::npos;
       begin = end + 2) {
    take_frame(bytes.substr(begin, end - begin));
  }
  unread_ = std::string(bytes.substr(begin));
}

void SseClient::on_end(Result<>) {
  ended_ = true;
  call_.reset();
}

void SseClient::take_frame(std::string_view frame) {
  if (frame.starts_with("event: state")) {
    has_state_ = true;
    head_ = number_behind(frame, "\"head\":");
  }
  if (frame.starts_with("event: cut") || frame.starts_with("event: reset")) ++wrong_;
  if (!frame.starts_with("id: ")) return;
  const std::uint64_t seq = number_behind(frame, "id: ");
  if (seq != last_ + 1) ++wrong_;
  last_ = seq;
  if (const std::uint64_t due = number_behind(frame, "due="); due != 0) {
    ++chunks_;
    delays_.add(wall_ms() - static_cast<double>(due));
  }
  if (frame.contains(R"("kind":"run.completed")")) ++completed_;
}

}  // namespace perdure::load
