#include "daemon/hosting/remote/outpost_client.h"

#include <algorithm>
#include <utility>

#include "daemon/hosting/remote/tunnel_link.h"

namespace perdure {

OutpostClient::OutpostClient(Loop& loop, Clock& clock, OutpostAccess access)
    : loop_(loop), clock_(clock), access_(std::move(access)) {}

OutpostClient::~OutpostClient() {
  link_ = {};  // at once, since its creator may be destroyed before the loop runs
  cut("it is known in another way now");
}

void OutpostClient::tell_later(OnReply done, Result<std::string> result) {
  loop_.post(
      [done = std::move(done), result = std::move(result)] mutable { done(std::move(result)); });
}

void OutpostClient::call(OutpostCall call, OnReply done) {
  if (open_.size() >= outpost_calls_open_max) {
    return tell_later(std::move(done), fail(Code::remote_unavailable,
                                            access_.name + ": too many calls wait for an answer"));
  }
  if (!access_.dial) {
    trouble_ = "no remote of this name is known here: perdure remote add";
    return tell_later(std::move(done),
                      fail(Code::remote_unavailable, access_.name + ": " + trouble_));
  }
  if (!link_.link && now_ms() < not_before_ms_) {
    return tell_later(std::move(done),
                      fail(Code::remote_unavailable, access_.name + ": " + trouble_));
  }
  call.id = ++last_call_;
  const std::int64_t answer_ms =
      call.verb == OutpostVerb::start ? outpost_start_ms : outpost_call_ms;
  Open& open = open_[call.id];
  open.done = std::move(done);
  open.answer_ms = answer_ms;
  open.line = encode_line(call);
  // Silence is not an answer: a new connection shows whether the outpost is reachable.
  open.timer = loop_.after_ms(answer_ms, [this, id = call.id] {
    if (const auto at = open_.find(id); at != open_.end()) at->second.timer = 0;
    cut("no answer within " + std::to_string(outpost_call_ms / 1000) + " seconds or more");
  });
  if (!link_.link) connect();
  if (is_welcome_) send_waiting();
}

void OutpostClient::connect() {
  is_welcome_ = false;
  lines_ = OutpostLines(outpost_line_bytes_max);
  link_ = access_.dial();
  link_.link->set_events(*this);
  link_.link->send(encode_line(OutpostHello{.secret = access_.secret}));
}

void OutpostClient::send_waiting() {
  for (auto& [id, open] : open_) {
    if (!open.line.empty()) link_.link->send(std::exchange(open.line, {}));
  }
}

void OutpostClient::on_bytes(std::string_view bytes) {
  lines_.add(bytes);
  while (link_.link) {
    Result<std::optional<std::string>> line = lines_.next();
    if (!line) return cut(line.error().message());
    if (!*line) return;
    const Result<> read = is_welcome_ ? read_line(**line) : meet(**line);
    if (!read) return cut(read.error().message());
  }
}

Result<> OutpostClient::meet(const std::string& line) {
  const OutpostWelcome welcome = TRY(decode_welcome(line));
  if (!welcome.code.empty()) return fail(parse_code(welcome.code), welcome.message);
  is_welcome_ = true;
  backoff_ms_ = not_before_ms_ = 0;
  trouble_.clear();
  send_waiting();
  return {};
}

Result<> OutpostClient::read_line(const std::string& line) {
  OutpostReply reply = TRY(decode_outpost_reply(line));
  auto found = open_.extract(reply.id);
  if (!found) return {};  // cancelled
  loop_.cancel(found.mapped().timer);
  if (reply.code.empty()) {
    tell_later(std::move(found.mapped().done), std::move(reply.result.text));
  } else {
    // The outpost's own "unavailable" is an answer, so it must differ from a missing one.
    const Code code = parse_code(reply.code);
    tell_later(std::move(found.mapped().done),
               fail(code == Code::unavailable ? Code::internal : code,
                    access_.name + ": " + reply.message));
  }
  return {};
}

void OutpostClient::on_closed() {
  const std::string why = link_.trouble ? link_.trouble() : "";
  cut(why.empty() ? "the connection broke" : why);
}

void OutpostClient::cut(const std::string& why) {
  trouble_ = why;
  is_welcome_ = false;
  // Not destroyed within its own call.
  loop_.post([link = std::shared_ptr<Link>(std::move(link_.link))] {});
  link_ = {};
  backoff_ms_ = std::clamp(backoff_ms_ * 2, access_.backoff_min_ms, access_.backoff_max_ms);
  not_before_ms_ = now_ms() + backoff_ms_;
  for (auto& [id, open] : std::exchange(open_, {})) {
    loop_.cancel(open.timer);
    const Code code = open.line.empty() ? Code::unavailable : Code::remote_unavailable;
    tell_later(std::move(open.done), fail(code, access_.name + ": " + why));
  }
}

Result<std::unique_ptr<Link>> OutpostClient::tunnel(ExecId exec, const std::string& owner) {
  if (!access_.dial) return fail(Code::remote_unavailable, access_.name + " is not known here");
  return std::make_unique<TunnelLink>(
      access_.dial(), OutpostHello{.secret = access_.secret, .exec = exec, .owner = owner});
}

}  // namespace perdure
