// Frames end at blank lines; a connection that breaks within one loses only that frame.
#include "event_reader.h"

#include <cstdlib>
#include <utility>

namespace perdure {

EventReader::~EventReader() { close(); }

void EventReader::open() { open_behind(last()); }

void EventReader::open_behind(std::uint64_t after) {
  close();
  unread_.clear();
  next_ = after + 1;
  status_ = 0;
  ended_ = false;
  ++connections_;
  HttpRequest request{.method = "GET",
                      .target = "/api/sessions/" + session_ + "/events",
                      .headers = {{"Host", "localhost"},
                                  {"Accept", "text/event-stream"},
                                  {"Last-Event-ID", std::to_string(after)}}};
  call_ = http_open(client_.io(), client_.endpoint(), std::move(request),
                    {.connect_ms = 5'000, .answer_ms = 60'000}, *this);
}

void EventReader::on_head(const HttpResponse& head) { status_ = head.status; }

void EventReader::on_bytes(std::string_view bytes) {
  unread_ += bytes;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = unread_.find("\n\n", begin)) != std::string::npos;
       begin = end + 2) {
    take_frame(std::string_view(unread_).substr(begin, end - begin));
  }
  unread_.erase(0, begin);
}

void EventReader::on_end(Result<>) { ended_ = true; }

void EventReader::take_frame(std::string_view frame) {
  std::string event;
  std::string data;
  std::uint64_t id = 0;
  while (!frame.empty()) {
    const std::size_t end = std::min(frame.find('\n'), frame.size());
    const std::string_view line = frame.substr(0, end);
    frame.remove_prefix(std::min(end + 1, frame.size()));
    if (line.starts_with("id: "))
      id = std::strtoull(std::string(line.substr(4)).c_str(), nullptr, 10);
    if (line.starts_with("event: ")) event = line.substr(7);
    if (line.starts_with("data: ")) data += line.substr(6);
  }
  if (event == "record") take_record(id, std::move(data));
  if (event == "reset") {
    ++resets_;
    if (wrong_.empty()) wrong_ = "reset: " + data;
  }
}

void EventReader::take_record(std::uint64_t seq, std::string data) {
  if (seq != next_ && wrong_.empty()) {
    wrong_ = "record " + std::to_string(seq) + " where " + std::to_string(next_) + " was due";
  }
  next_ = seq + 1;
  if (seq == records_.size() + 1) {
    const std::string kind = json_at(data, "kind");
    runs_ended_ += kind == "run.completed" || kind == "run.failed" || kind == "run.cancelled" ||
                   kind == "run.interrupted";
    records_.push_back(std::move(data));
  } else if (seq <= records_.size() && seq > 0 && records_[seq - 1] != data && wrong_.empty()) {
    wrong_ =
        "record " + std::to_string(seq) + " was once another:\n" + records_[seq - 1] + "\n" + data;
  }
}

}  // namespace perdure
