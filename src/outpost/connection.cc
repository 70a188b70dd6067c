#include "outpost/connection.h"

#include <utility>

namespace perdure {
namespace {

constexpr std::int64_t leave_ms = 5'000;

}  // namespace

OutpostConnection::OutpostConnection(Outpost& outpost, Place place, std::unique_ptr<Link> link)
    : outpost_(outpost), place_(std::move(place)), link_(std::move(link)) {}

OutpostConnection::~OutpostConnection() {
  *exists_ = false;
  outpost_.ports_.loop.cancel(timer_);
  no_stranger_any_more();
}

void OutpostConnection::begin() {
  outpost_.strangers_.push_back(this);
  timer_ = outpost_.ports_.loop.after_ms(outpost_hello_ms, [this] {
    timer_ = 0;
    leave();
  });
  link_->set_events(*this);
}

void OutpostConnection::no_stranger_any_more() { std::erase(outpost_.strangers_, this); }

void OutpostConnection::on_bytes(std::string_view bytes) {
  if (state_ == State::leaving) return;
  if (state_ == State::tunnel) {
    far_->send(std::string(bytes));
    if (far_->unsent_bytes() > outpost_unsent_bytes_max) link_->pause();
    return;
  }
  lines_.add(bytes);
  read_lines();
}

void OutpostConnection::read_lines() {
  while (state_ == State::stranger || state_ == State::calls) {
    Result<std::optional<std::string>> line = lines_.next();
    if (!line) return leave();
    if (!*line) return;
    if (state_ == State::stranger) {
      meet(**line);
    } else {
      take_call(**line);
    }
  }
}

void OutpostConnection::meet(const std::string& line) {
  outpost_.ports_.loop.cancel(std::exchange(timer_, 0));
  const Result<OutpostHello> hello = decode_hello(line);
  if (!hello) return refuse(hello.error());
  // Hashed first, so that the compared texts always have the same length.
  if (!equal_constant_time(sha256(hello->secret), outpost_.setting_.secret)) {
    return refuse(Error(Code::unauthenticated, "the secret is not this outpost's"));
  }
  no_stranger_any_more();
  if (hello->exec) return open_tunnel(*hello);
  lines_.set_limit(outpost_line_bytes_max);
  state_ = State::calls;
  link_->send(encode_line(
      OutpostWelcome{.build = outpost_.setting_.build, .host_boot = outpost_.setting_.host_boot}));
}

void OutpostConnection::refuse(const Error& why) {
  state_ = State::leaving;
  link_->send(encode_line(OutpostWelcome{.build = {},
                                         .host_boot = {},
                                         .code = std::string(code_name(why.code())),
                                         .message = why.message()}));
  leave_when_sent();
}

void OutpostConnection::open_tunnel(const OutpostHello& hello) {
  if (!is_owner(hello.owner)) {
    return refuse(Error(Code::invalid_argument, "owner: it is missing"));
  }
  Result<std::unique_ptr<Link>> far =
      outpost_.ports_.host.connect(outpost_.run_folder(hello.owner), hello.exec.text() + ".sock");
  if (!far) return refuse(far.error());
  far_ = std::move(*far);
  state_ = State::tunnel;
  link_->send(encode_line(
      OutpostWelcome{.build = outpost_.setting_.build, .host_boot = outpost_.setting_.host_boot}));
  far_->set_events(far_events_);
  if (std::string rest = lines_.take_rest(); !rest.empty()) far_->send(std::move(rest));
}

void OutpostConnection::take_call(const std::string& line) {
  Result<OutpostCall> call = decode_outpost_call(line);
  if (!call) return leave();
  const std::uint64_t id = call->id;
  const auto reply = [this, id](const Result<std::string>& result) {
    OutpostReply out{.id = id};
    if (result) {
      out.result.text = *result;
      while (out.result.text.ends_with('\n')) out.result.text.pop_back();
    } else {
      out.code = code_name(result.error().code());
      out.message = result.error().message();
    }
    link_->send(encode_line(out));
  };
  if (open_calls_ >= outpost_calls_open_max) {
    return reply(fail(Code::limit_reached, "too many calls wait for an answer"));
  }
  ++open_calls_;
  outpost_.run(std::move(*call),
               [this, exists = std::weak_ptr<bool>(exists_), reply](Result<std::string> result) {
                 if (exists.expired()) return;
                 --open_calls_;
                 if (state_ == State::calls) reply(result);
               });
}

void OutpostConnection::pass_back(std::string_view bytes) {
  link_->send(std::string(bytes));
  if (link_->unsent_bytes() > outpost_unsent_bytes_max) far_->pause();
}

void OutpostConnection::on_drained() {
  if (state_ == State::tunnel) far_->resume();
  if (state_ == State::leaving) leave();
}

void OutpostConnection::leave_when_sent() {
  state_ = State::leaving;
  if (timer_ != 0) return;
  timer_ = outpost_.ports_.loop.after_ms(link_->unsent_bytes() == 0 ? 0 : leave_ms, [this] {
    timer_ = 0;
    leave();
  });
}

void OutpostConnection::leave() {
  state_ = State::leaving;
  if (std::exchange(has_left_, true)) return;
  outpost_.forget_connection(place_.number);
}

}  // namespace perdure
