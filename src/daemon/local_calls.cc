#include "daemon/local_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/limits.h"

namespace perdure {
namespace {

HttpRequest http_request(client::ApiRequest request) {
  HttpRequest out;
  out.method = std::move(request.method);
  out.target = request.path;
  out.path = percent_decode(request.path).value_or(request.path);
  out.query = std::move(request.query);
  out.headers.push_back({"Accept", std::move(request.accept)});
  if (out.method != "GET") out.headers.push_back({"Content-Type", std::move(request.content_type)});
  if (!request.key.empty()) out.headers.push_back({"Idempotency-Key", std::move(request.key)});
  out.body = std::move(request.body);
  return out;
}

client::ApiAnswer answer_of(HttpResponse response) {
  client::ApiAnswer answer{.status = response.status, .body = std::move(response.body)};
  if (answer.body.empty()) answer.body = response.fixed_body;
  if (answer.status < 200 || answer.status > 299) {
    answer.refusal = client::read_refusal(answer.status, answer.body);
  }
  return answer;
}

// Delivers one answer from the loop.
class OneAnswer final : public HttpExchange {
 public:
  OneAnswer(Loop& loop, client::OnApiAnswer done) : loop_(loop), done_(std::move(done)) {}
  ~OneAnswer() override {
    if (done_) respond(error_response(Error(Code::internal, "the request was not answered")));
  }
  void respond(HttpResponse response) override {
    loop_.post([done = std::exchange(done_, nullptr),
                answer = answer_of(std::move(response))]() mutable { done(std::move(answer)); });
  }
  // Never requested by these callers.
  std::shared_ptr<HttpStream> stream(HttpResponse, HttpStreamEvents&) override;
  std::shared_ptr<WebSocket> upgrade(const WebSocketLimits&, WebSocketEvents&) override {
    return nullptr;
  }
  bool is_gone() const override { return false; }

 private:
  Loop& loop_;
  client::OnApiAnswer done_;
};

std::shared_ptr<HttpStream> OneAnswer::stream(HttpResponse, HttpStreamEvents&) {
  class Nowhere final : public HttpStream {
    void write(std::shared_ptr<const std::string>) override {}
    std::size_t unsent_bytes() const override { return 0; }
    void finish() override {}
  };
  respond(error_response(Error(Code::internal, "a stream was not asked for")));
  return std::make_shared<Nowhere>();
}

}  // namespace

void dispatch(const LocalApi& api, const Principal& principal, client::ApiRequest request,
              std::shared_ptr<HttpExchange> exchange) {
  const auto refuse = [&](Code code, std::string why) {
    exchange->respond(error_response(Error(code, std::move(why))));
  };
  // TOK2: revoked rights end with the commit that revoked them.
  if (!api.gate.still_valid(principal)) {
    return refuse(Code::unauthenticated, "this caller's right has ended");
  }
  HttpRequest made = http_request(std::move(request));
  Router::Match match = api.router.find(made.method, made.path);
  if (!match.route) return refuse(Code::not_found, "there is no " + made.path);
  if (!has_access(principal, match.route->access)) {
    return refuse(Code::denied, "this caller may not do that");
  }
  if (made.body.size() > match.route->body_bytes_max) {
    return refuse(Code::too_large, "the request is too long");
  }
  api.router.serve(*match.route, {.request = std::move(made),
                                  .exchange = std::move(exchange),
                                  .principal = principal,
                                  .arguments = std::move(match.arguments)});
}

void call_locally(const LocalApi& api, const Principal& principal, client::ApiRequest request,
                  client::OnApiAnswer done) {
  dispatch(api, principal, std::move(request),
           std::make_shared<OneAnswer>(api.loop, std::move(done)));
}

// Shared by both ends of a stream. The writer's end is the HttpStream, whose destruction ends the
// writing; the reader's end is the following, which detaches when it is destroyed.
class LocalFollowing::Pipe {
 public:
  explicit Pipe(LocalFollowing* reader) : reader_(reader) {}

  void write(std::string_view bytes) {
    bytes_ += bytes;
    wake();
  }
  void end() {
    writer_ = nullptr;
    ended_ = true;
    wake();
  }
  void respond(HttpResponse response) {
    answer_ = answer_of(std::move(response));
    end();
  }
  void begin(HttpStreamEvents& writer) {
    writer_ = &writer;
    opened_ = true;
    wake();
  }
  void detach() { reader_ = nullptr; }
  std::size_t unsent_bytes() const {
    return bytes_.size() + (reader_ ? reader_->order_.unread_bytes() : 0);
  }
  void wake() {
    if (reader_) reader_->drive_later();
  }

  LocalFollowing* reader_;
  HttpStreamEvents* writer_ = nullptr;  // null before the stream begins and after it ends
  std::string bytes_;                   // written but not yet delivered
  std::optional<client::ApiAnswer> answer_;
  bool opened_ = false;
  bool ended_ = false;
};

class LocalFollowing::Exchange final : public HttpExchange {
 public:
  explicit Exchange(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}
  void respond(HttpResponse response) override { pipe_->respond(std::move(response)); }
  std::shared_ptr<HttpStream> stream(HttpResponse, HttpStreamEvents& events) override {
    class End final : public HttpStream {
     public:
      explicit End(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}
      ~End() override { pipe_->end(); }
      void write(std::shared_ptr<const std::string> bytes) override { pipe_->write(*bytes); }
      std::size_t unsent_bytes() const override { return pipe_->unsent_bytes(); }
      void finish() override { pipe_->end(); }

     private:
      std::shared_ptr<Pipe> pipe_;
    };
    pipe_->begin(events);
    return std::make_shared<End>(pipe_);
  }
  std::shared_ptr<WebSocket> upgrade(const WebSocketLimits&, WebSocketEvents&) override {
    return nullptr;
  }
  bool is_gone() const override { return pipe_->reader_ == nullptr; }

 private:
  std::shared_ptr<Pipe> pipe_;
};

LocalFollowing::LocalFollowing(const LocalApi& api, Order order, client::FollowEvents& events)
    : api_(api), order_(std::move(order)), core_(order_.request, events, [&random = api.random] {
        return static_cast<double>(random.next() >> 11) * 0x1p-53;
      }) {
  drive_later();
}

LocalFollowing::~LocalFollowing() {
  api_.loop.cancel(timer_);
  hang_up();
}

void LocalFollowing::hang_up() {
  const std::shared_ptr<Pipe> pipe = std::exchange(pipe_, nullptr);
  if (!pipe) return;
  pipe->detach();
  if (HttpStreamEvents* const writer = std::exchange(pipe->writer_, nullptr)) writer->on_closed();
}

void LocalFollowing::drive_later() {
  api_.loop.post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) drive();
  });
}

void LocalFollowing::drive() {
  api_.loop.cancel(std::exchange(timer_, 0));
  const std::weak_ptr<bool> alive = alive_;
  deliver();
  while (!alive.expired()) {
    const client::FollowCore::Next next = core_.next(now_ms());
    switch (next.wish) {
      case client::FollowCore::Wish::connect: open(); break;
      case client::FollowCore::Wish::hang_up:
        hang_up();
        core_.on_closed(now_ms());
        break;
      case client::FollowCore::Wish::wait:
        timer_ = api_.loop.after_ms(std::max<std::int64_t>(1, next.at_ms - now_ms()), [this] {
          timer_ = 0;
          drive();
        });
        return;
      case client::FollowCore::Wish::nothing: return;
    }
  }
}

void LocalFollowing::open() {
  hang_up();
  parser_ = client::SseParser();
  client::ApiRequest request = core_.connect(now_ms());
  pipe_ = std::make_shared<Pipe>(this);
  dispatch(api_, order_.principal, std::move(request), std::make_shared<Exchange>(pipe_));
}

void LocalFollowing::deliver() {
  const std::shared_ptr<Pipe> pipe = pipe_;
  if (!pipe) return;
  const std::weak_ptr<bool> alive = alive_;
  const std::int64_t now = now_ms();
  if (pipe->answer_) {
    const std::optional<client::ApiAnswer> answer = std::exchange(pipe->answer_, std::nullopt);
    hang_up();
    return answer->refusal ? core_.on_refused(*answer->refusal, now) : core_.on_closed(now);
  }
  if (std::exchange(pipe->opened_, false)) core_.on_open(now);
  const auto events = parser_.feed(std::exchange(pipe->bytes_, {}));
  if (events) {
    for (const client::SseEvent& event : *events) {
      if (alive.expired() || pipe_ != pipe) return;
      core_.on_event(event, now);
    }
  }
  if (alive.expired()) return;
  if (!events || (pipe->ended_ && pipe->bytes_.empty())) {
    hang_up();
    core_.on_closed(now);
    return;
  }
  drained();
}

void LocalFollowing::drained() {
  if (!pipe_ || !pipe_->writer_ || pipe_->unsent_bytes() >= face_unsent_bytes_max) return;
  pipe_->writer_->on_drained();
}

}  // namespace perdure
