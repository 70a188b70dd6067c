#include "net/server/connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/limits.h"
#include "net/server/answer_text.h"
#include "net/server/server_exchange.h"

namespace perdure {
namespace {

Code code_of(int status) {
  switch (status) {
    case 408: return Code::unavailable;
    case 413:
    case 429:
    case 431: return Code::limit_reached;
    default: return Code::invalid_argument;
  }
}

constexpr std::uint16_t close_try_again = 1013;

bool has_no_body(int status) { return status / 100 == 1 || status == 204 || status == 304; }

}  // namespace

Connection::Connection(std::shared_ptr<ConnectionHost> host, std::shared_ptr<ByteStream> stream,
                       std::shared_ptr<const HttpPeer> peer)
    : host_(std::move(host)), stream_(std::move(stream)), peer_(std::move(peer)) {}

void Connection::start() {
  stream_->set_events(this);
  known_by_ms_ = host_->reactor().now_ms() + host_->limits().stranger_ms;
  expect_within(host_->limits().idle_ms);
  stream_->start_reading();
}

void Connection::schedule() {
  if (!host_->is_down()) host_->schedule(shared_from_this());
}

void Connection::expect_within(std::int64_t ms) {
  deadline_ms_ = host_->reactor().now_ms() + std::max<std::int64_t>(ms, 1);
}

// Separate limits for a body that stalls, one that trickles, and one that never ends.
void Connection::expect_body() {
  const HttpServerLimits& limits = host_->limits();
  const auto earned_ms =
      static_cast<std::int64_t>(body_bytes_ * 1000 / limits.body_bytes_per_second_min);
  deadline_ms_ = std::min({host_->reactor().now_ms() + limits.body_ms,
                           body_began_ms_ + limits.body_grace_ms + earned_ms,
                           body_began_ms_ + limits.body_total_ms});
}

bool Connection::is_idle() const {
  switch (phase_) {
    case Phase::head:
    case Phase::body:
    case Phase::sending:
    case Phase::lingering: return true;
    case Phase::handling:
    case Phase::streaming:
    case Phase::upgraded:
    case Phase::closed: break;
  }
  return false;
}

void Connection::on_bytes(std::string_view bytes) {
  const auto self = shared_from_this();
  if (phase_ == Phase::lingering) {
    lingered_bytes_ += bytes.size();
    if (lingered_bytes_ > http_linger_bytes_max) lose();
    return;
  }
  if (in_.empty() && phase_ == Phase::head) expect_within(host_->limits().head_ms);
  in_.append(bytes);
  advance();
  if (phase_ == Phase::closed) return;
  // If a client sends more while it waits for an answer, its bytes wait in the kernel.
  const bool reads = phase_ == Phase::head || phase_ == Phase::body;
  if (!reads && in_.size() > host_->limits().head_bytes_max) stream_->stop_reading();
}

void Connection::advance() {
  while (phase_ == Phase::head || phase_ == Phase::body) {
    const bool went_on = phase_ == Phase::head ? take_head() : take_body();
    if (!went_on) return;
  }
}

bool Connection::take_head() {
  if (in_.empty()) return false;
  const std::size_t bytes_max = host_->limits().head_bytes_max;
  const HeadSearch search = find_head_end(in_, searched_);
  if (search.end == HeadEnd::broken) {
    refuse({400, "a line of the head does not end with CR and LF"});
    return false;
  }
  if (search.bytes > bytes_max || (search.end == HeadEnd::not_yet && in_.size() > bytes_max)) {
    refuse({431, "the head is too long"});
    return false;
  }
  searched_ = in_.size();
  if (search.end == HeadEnd::not_yet) return false;
  auto head = parse_request_head(std::string_view(in_).substr(0, search.bytes));
  in_.erase(0, search.bytes);
  searched_ = 0;
  if (!head) {
    refuse(head.error());
    return false;
  }
  return admit(std::move(*head));
}

bool Connection::admit(RequestHead head) {
  head.request.peer = peer_;
  is_http_1_0_ = head.is_http_1_0;
  is_head_request_ = head.request.method == "HEAD";
  if (is_head_request_) head.request.method = "GET";
  if (!head.keeps_alive) closes_ = true;
  const HttpAdmission admission = host_->handler().on_head(head.request);
  if (phase_ == Phase::closed) return false;
  const bool has_place = !admission.is_known || host_->note_known(*this, admission.credential);
  if (!has_place) {
    refuse({429, "too many connections are open with these credentials"});
    return false;
  }
  if (admission.refuse) {
    // The body is not read, so the start of the next request is unknown.
    lingers_ = head.body.kind != BodyKind::none;
    send_last(*admission.refuse, admission.refuse_after_ms);
    return false;
  }
  const BodyReader body(head.body, admission.body_bytes_max);
  reading_ = std::make_unique<Reading>(Reading{std::move(head), body});
  if (reading_->head.expects_continue && reading_->body.state() == BodyReader::State::more &&
      in_.empty()) {
    out_.add_fixed("HTTP/1.1 100 Continue\r\n\r\n");
    schedule();
  }
  phase_ = Phase::body;
  body_began_ms_ = host_->reactor().now_ms();
  body_bytes_ = 0;
  expect_body();
  return true;
}

bool Connection::take_body() {
  const std::size_t used = reading_->body.feed(in_, reading_->head.request.body);
  in_.erase(0, used);
  switch (reading_->body.state()) {
    case BodyReader::State::more:
      body_bytes_ += used;
      if (used > 0) expect_body();
      return false;
    case BodyReader::State::done: hand_over(); return true;
    case BodyReader::State::too_long: refuse({413, "the body is too long"}); return false;
    case BodyReader::State::broken: refuse({400, "the body is malformed"}); return false;
  }
  return false;
}

void Connection::hand_over() {
  const std::unique_ptr<Reading> read = std::move(reading_);
  phase_ = Phase::handling;
  deadline_ms_ = 0;
  if (in_.empty()) in_ = {};
  auto exchange = make_exchange(shared_from_this(), read->head);
  host_->handler().on_request(std::move(read->head.request), std::move(exchange));
}

void Connection::refuse(Refusal refusal) {
  lingers_ = true;
  send_last(error_answer(refusal.status, code_of(refusal.status), refusal.why));
}

// Sends an answer and then closes the connection, ignoring further input.
void Connection::send_last(const HttpResponse& response, std::int64_t delay_ms) {
  reading_.reset();
  in_ = {};
  deadline_ms_ = 0;
  closes_ = true;
  phase_ = Phase::handling;
  if (delay_ms <= 0) return respond(response);
  host_->reactor().after_ms(delay_ms, [weak = weak_from_this(), response] {
    const auto self = weak.lock();
    if (self && !self->host_->is_down()) self->respond(response);
  });
}

void Connection::respond(HttpResponse response) {
  if (phase_ == Phase::closed) return;
  CHECK(phase_ == Phase::handling);
  AnswerFraming framing{.closes = closes_};
  const std::size_t size =
      response.fixed_body.empty() ? response.body.size() : response.fixed_body.size();
  if (!has_no_body(response.status)) framing.content_length = size;
  out_.add(answer_head(response, framing));
  if (!is_head_request_ && !has_no_body(response.status)) {
    if (response.fixed_body.empty()) {
      out_.add(std::move(response.body));
    } else {
      out_.add_fixed(response.fixed_body);
    }
  }
  phase_ = Phase::sending;
  schedule();
}

void Connection::begin_stream(HttpResponse head, HttpStreamEvents& events) {
  stream_events_ = &events;
  if (phase_ == Phase::closed) return schedule();
  CHECK(phase_ == Phase::handling);
  if (is_http_1_0_ || is_head_request_) closes_ = true;
  const bool is_chunked = !is_http_1_0_ && !is_head_request_;
  out_.add(answer_head(head, {.chunked = is_chunked, .closes = closes_}));
  drain_due_ = true;  // the head is unsent, too
  // Without a body there is nothing to stream: the answer ends here.
  phase_ = is_head_request_ ? Phase::sending : Phase::streaming;
  if (peer_ended_) return lose();
  schedule();
}

void Connection::write(std::shared_ptr<const std::string> bytes) {
  if (phase_ != Phase::streaming || bytes->empty()) return;
  const std::size_t unsent_max = host_->limits().stream_unsent_bytes_max;
  if (!out_.empty() && out_.unsent_bytes() + bytes->size() > unsent_max) {
    // The bytes just queued have not been sent yet, so try that first.
    const Sent sent = send_queued();
    const bool fits = out_.empty() || out_.unsent_bytes() + bytes->size() <= unsent_max;
    if (sent == Sent::broken || !fits) return lose();
  }
  if (is_http_1_0_) {
    out_.add_shared(std::move(bytes));
  } else {
    out_.add_chunk(std::move(bytes));
  }
  drain_due_ = true;
  schedule();
}

void Connection::finish() {
  stream_events_ = nullptr;
  if (phase_ != Phase::streaming) return;
  if (!is_http_1_0_) out_.add_fixed("0\r\n\r\n");
  phase_ = Phase::sending;
  schedule();
}

void Connection::drop_stream() {
  stream_events_ = nullptr;
  if (phase_ == Phase::streaming) lose();
}

std::shared_ptr<WebSocket> Connection::upgrade(const HttpRequest& request,
                                               const WebSocketLimits& limits,
                                               WebSocketEvents& events) {
  WebSocketSetup setup{.limits = limits, .early_bytes = std::move(in_)};
  in_ = {};
  if (phase_ != Phase::closed) {
    CHECK(phase_ == Phase::handling);
    phase_ = Phase::upgraded;
    deadline_ms_ = 0;
    stream_->stop_reading();
    stream_->set_events(nullptr);
    setup.stream = std::move(stream_);
    setup.unsent_bytes_max = host_->limits().stream_unsent_bytes_max;
    setup.on_gone = [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->lose();
    };
  }
  if (host_->is_down()) return closed_websocket();
  websocket_ = accept_websocket(host_->reactor(), std::move(setup), request, events);
  return hold_websocket(websocket_);
}

void Connection::after_this_call(std::move_only_function<void()> then) {
  if (!host_->is_down()) host_->reactor().post(std::move(then));
}

Connection::Sent Connection::send_queued() {
  bool progressed = false;
  std::array<std::string_view, send_parts_max> parts;
  while (!out_.empty()) {
    const std::size_t count = out_.gather(parts);
    const Transferred sent = stream_->write(std::span(parts).first(count));
    if (sent.how == Transfer::broken) return Sent::broken;
    if (sent.how != Transfer::some) break;
    out_.sent(sent.bytes);
    progressed = true;
  }
  if (out_.empty()) return Sent::all;
  if (progressed || deadline_ms_ == 0) expect_within(host_->limits().write_ms);
  return Sent::some;
}

void Connection::round() {
  const auto self = shared_from_this();
  if (phase_ == Phase::closed) return tell_closed();
  if (phase_ == Phase::upgraded || phase_ == Phase::lingering) return;
  switch (send_queued()) {
    case Sent::broken: return lose();
    case Sent::some: return;
    case Sent::all: return all_sent();
  }
}

void Connection::all_sent() {
  if (phase_ == Phase::sending) {
    if (stream_events_ != nullptr) return lose();
    return answer_done();
  }
  if (phase_ != Phase::streaming) return;
  deadline_ms_ = 0;
  if (std::exchange(drain_due_, false) && stream_events_ != nullptr) stream_events_->on_drained();
}

void Connection::answer_done() {
  if (closes_ || peer_ended_) {
    if (!lingers_ || peer_ended_) return lose();
    stream_->end_writing();
    phase_ = Phase::lingering;
    expect_within(http_linger_ms);
    stream_->start_reading();
    return;
  }
  phase_ = Phase::head;
  drain_due_ = false;
  searched_ = 0;
  expect_within(in_.empty() ? host_->limits().idle_ms : host_->limits().head_ms);
  stream_->start_reading();
  advance();
}

void Connection::on_end() {
  const auto self = shared_from_this();
  peer_ended_ = true;
  // The client may have closed only its own direction and still wait for the answer.
  if (phase_ != Phase::handling && phase_ != Phase::sending) lose();
}

void Connection::on_writable() { round(); }

void Connection::on_broken() {
  const auto self = shared_from_this();
  lose();
}

void Connection::check_deadline(std::int64_t now_ms) {
  const bool is_late = deadline_ms_ != 0 && now_ms >= deadline_ms_;
  const bool is_still_strange = is_stranger && is_idle() && now_ms >= known_by_ms_;
  if ((!is_late && !is_still_strange) || phase_ == Phase::closed) return;
  const auto self = shared_from_this();
  deadline_ms_ = 0;
  if (is_still_strange && phase_ != Phase::head && phase_ != Phase::body) return lose();
  const bool is_reading = (phase_ == Phase::head && !in_.empty()) || phase_ == Phase::body;
  if (!is_reading || !out_.empty()) return lose();
  refuse({408, "the request did not come to its end in time"});
}

void Connection::finish_and_close() {
  closes_ = true;
  if (phase_ == Phase::head && in_.empty() && out_.empty()) lose();
}

void Connection::abandon() {
  phase_ = Phase::closed;
  stream_events_ = nullptr;
  if (stream_) stream_->close();
  if (const auto socket = std::move(websocket_)) socket->abort();
}

void Connection::lose() {
  if (phase_ == Phase::closed) return;
  const auto self = shared_from_this();
  phase_ = Phase::closed;
  peer_ended_ = true;
  deadline_ms_ = 0;
  if (stream_) stream_->close();
  out_.clear();
  in_ = {};
  reading_.reset();
  websocket_.reset();
  if (stream_events_ != nullptr) schedule();
  host_->forget(*this);
}

void Connection::drop() {
  if (const auto socket = websocket_) return socket->end(close_try_again, "others need its place");
  lose();
}

void Connection::tell_closed() {
  if (auto* events = std::exchange(stream_events_, nullptr)) events->on_closed();
}

}  // namespace perdure
