#include "net/client.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "net/connect.h"
#include "net/head.h"
#include "net/send_queue.h"
#include "net/server/answer_text.h"
#include "net/server/body_reader.h"

namespace perdure {
namespace {

// A request and its answer over a separate connection.
class ClientCall final : public ByteStreamEvents, public std::enable_shared_from_this<ClientCall> {
 public:
  ClientCall(HttpReactor& reactor, const HttpCallLimits& limits, HttpBodyEvents& events)
      : reactor_(reactor), limits_(limits), events_(&events) {}
  ~ClientCall() override { give_up(); }

  void start(const HttpEndpoint& to, HttpRequest request) {
    method_ = request.method;
    if (request.count("connection") == 0) request.headers.push_back({"Connection", "close"});
    out_.add(request_text(request, host_header(to)));
    watch_silence(limits_.connect_ms);
    connecting_ = connect_to(reactor_, to, [this](auto connected) {
      const auto self = shared_from_this();
      if (!connected) return end(std::unexpected(std::move(connected).error()));
      stream_ = std::move(*connected);
      stream_->set_events(this);
      watch_silence(limits_.answer_ms);
      stream_->start_reading();
      send_queued();
    });
  }

  void give_up() {
    events_ = nullptr;
    reactor_.cancel(std::exchange(timer_, 0));
    connecting_.reset();
    if (stream_) stream_->close();
  }

  void on_bytes(std::string_view bytes) override {
    const auto self = shared_from_this();
    last_byte_ms_ = reactor_.now_ms();
    in_.append(bytes);
    while (events_ != nullptr && !has_head_) {
      if (!take_head()) return;
    }
    take_body();
  }

  void on_end() override {
    const auto self = shared_from_this();
    if (!has_head_) return end(cut());
    body_.end();
    take_body();
  }
  void on_writable() override {
    last_byte_ms_ = reactor_.now_ms();
    send_queued();
  }
  void on_broken() override {
    const auto self = shared_from_this();
    end(cut());
  }

 private:
  std::unexpected<Error> cut() const {
    const std::string why = stream_ ? stream_->trouble() : "";
    return fail(Code::unavailable, why.empty() ? "the connection ended early" : why);
  }

  void watch_silence(std::int64_t ms) {
    silence_ms_ = ms;
    last_byte_ms_ = reactor_.now_ms();
    reactor_.cancel(timer_);
    timer_ = reactor_.after_ms(ms, [this] { check_silence(); });
  }
  void check_silence() {
    timer_ = 0;
    const auto self = shared_from_this();
    const std::int64_t left = last_byte_ms_ + silence_ms_ - reactor_.now_ms();
    if (left > 0) {
      timer_ = reactor_.after_ms(left, [this] { check_silence(); });
      return;
    }
    end(fail(Code::unavailable, stream_ ? "no answer in time" : "no connection in time"));
  }

  void send_queued() {
    std::array<std::string_view, send_parts_max> parts;
    while (!out_.empty()) {
      const Transferred sent = stream_->write(std::span(parts).first(out_.gather(parts)));
      // A server that refuses a request may not read all of it, so the answer must still be read.
      if (sent.how == Transfer::broken) return out_.clear();
      if (sent.how != Transfer::some) return;
      out_.sent(sent.bytes);
    }
  }

  // Whether a head was parsed, including those of interim answers.
  bool take_head() {
    const HeadSearch search = find_head_end(in_, searched_);
    searched_ = in_.size();
    if (search.end == HeadEnd::broken || in_.size() > http_answer_head_bytes_max + search.bytes) {
      end(fail(Code::unavailable, "the answer is malformed"));
      return false;
    }
    if (search.end == HeadEnd::not_yet) return false;
    auto head = parse_response_head(std::string_view(in_).substr(0, search.bytes), method_);
    in_.erase(0, search.bytes);
    searched_ = 0;
    if (!head) {
      end(std::unexpected(std::move(head).error()));
      return false;
    }
    if (head->response.status / 100 == 1) return true;
    has_head_ = true;
    body_ = BodyReader(head->body, limits_.body_bytes_max);
    events_->on_head(head->response);
    return true;
  }

  void take_body() {
    if (events_ == nullptr) return;
    std::string portion;
    in_.erase(0, body_.feed(in_, portion));
    if (!portion.empty()) events_->on_bytes(portion);
    switch (body_.state()) {
      case BodyReader::State::more: return;
      case BodyReader::State::done: return end({});
      case BodyReader::State::too_long:
        return end(fail(Code::limit_reached, "the answer is too long"));
      case BodyReader::State::broken: return end(cut());
    }
  }

  void end(Result<> result) {
    HttpBodyEvents* events = events_;
    give_up();
    if (events != nullptr) events->on_end(std::move(result));
  }

  HttpReactor& reactor_;
  HttpCallLimits limits_;
  HttpBodyEvents* events_;  // null after the end
  std::unique_ptr<Connecting> connecting_;
  std::shared_ptr<ByteStream> stream_;
  std::string method_;
  SendQueue out_;
  std::string in_;
  std::size_t searched_ = 0;
  bool has_head_ = false;
  BodyReader body_;
  Loop::TimerId timer_ = 0;
  std::int64_t silence_ms_ = 0;
  std::int64_t last_byte_ms_ = 0;
};

class HeldCall final : public HttpCall {
 public:
  explicit HeldCall(std::shared_ptr<ClientCall> call) : call_(std::move(call)) {}
  ~HeldCall() override { call_->give_up(); }

 private:
  std::shared_ptr<ClientCall> call_;
};

std::unique_ptr<HttpCall> open_call(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                    const HttpCallLimits& limits, HttpBodyEvents& events) {
  auto call = std::make_shared<ClientCall>(reactor_of(io), limits, events);
  call->start(to, std::move(request));
  return std::make_unique<HeldCall>(std::move(call));
}

// Collects the whole answer.
class Fetch final : public HttpCall, public HttpBodyEvents {
 public:
  explicit Fetch(std::move_only_function<void(Result<HttpResponse>)> done)
      : done_(std::move(done)) {}

  void on_head(const HttpResponse& head) override { response_ = head; }
  void on_bytes(std::string_view bytes) override { response_.body.append(bytes); }
  void on_end(Result<> result) override {
    // The callback may destroy this object.
    auto done = std::move(done_);
    HttpResponse response = std::move(response_);
    if (!result) return done(std::unexpected(std::move(result).error()));
    done(std::move(response));
  }

  std::unique_ptr<HttpCall> call;

 private:
  std::move_only_function<void(Result<HttpResponse>)> done_;
  HttpResponse response_;
};

}  // namespace

std::unique_ptr<HttpCall> http_fetch(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                     const HttpCallLimits& limits,
                                     std::move_only_function<void(Result<HttpResponse>)> done) {
  auto fetch = std::make_unique<Fetch>(std::move(done));
  fetch->call = open_call(io, to, std::move(request), limits, *fetch);
  return fetch;
}

std::unique_ptr<HttpCall> http_open(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                                    const HttpCallLimits& limits, HttpBodyEvents& events) {
  HttpCallLimits endless = limits;
  endless.body_bytes_max = std::numeric_limits<std::size_t>::max();
  return open_call(io, to, std::move(request), endless, events);
}

std::uint64_t HttpCalls::fetch(const HttpEndpoint& to, HttpRequest request,
                               const HttpCallLimits& limits, Done done) {
  const std::uint64_t number = ++last_;
  calls_[number] =
      http_fetch(io_, to, std::move(request), limits,
                 [this, number, done = std::move(done)](Result<HttpResponse> answer) mutable {
                   // Erasing the call also destroys this capture.
                   auto told = std::move(done);
                   calls_.erase(number);
                   told(std::move(answer));
                 });
  return number;
}

Result<HttpResponse> http_call(HttpIo& io, const HttpEndpoint& to, HttpRequest request,
                               const HttpCallLimits& limits) {
  std::optional<Result<HttpResponse>> answer;
  const auto call = http_fetch(io, to, std::move(request), limits,
                               [&](Result<HttpResponse> result) { answer = std::move(result); });
  while (!answer) io.run_for_ms(1000);
  return std::move(*answer);
}

}  // namespace perdure
