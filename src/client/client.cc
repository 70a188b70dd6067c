#include "client/client.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/random.h>

#include "base/check.h"
#include "base/limits.h"
#include "client/endpoint.h"
#include "client/follow_core.h"
#include "client/sse.h"
#include "net/io.h"

namespace perdure::client {
namespace {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  CHECK(::getrandom(&number, sizeof number, 0) == sizeof number);
  return number;
}

double random_fraction() { return static_cast<double>(random_number() >> 11) * 0x1p-53; }

std::string make_key() {
  std::string key;
  for (int part = 0; part < 2; ++part) {
    for (std::uint64_t number = random_number(), digit = 0; digit < 16; ++digit, number >>= 4) {
      key += "0123456789abcdef"[number & 15];
    }
  }
  return key;
}

std::int64_t steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string target_of(const ApiRequest& request) {
  std::string target = request.path;
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    target += std::exchange(separator, '&');
    target += percent_encode(name) + '=' + percent_encode(value);
  }
  return target;
}

std::string content_type_of(const HttpResponse& response) {
  for (const HttpHeader& header : response.headers) {
    if (std::ranges::equal(header.name, std::string_view("content-type"), {},
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; })) {
      return header.value;
    }
  }
  return {};
}

ApiAnswer answer_of(HttpResponse response) {
  ApiAnswer answer{.status = response.status,
                   .content_type = content_type_of(response),
                   .body = std::move(response.body),
                   .refusal = {}};
  if (answer.status < 200 || answer.status > 299) {
    answer.refusal = read_refusal(answer.status, answer.body);
  }
  return answer;
}

// The interface between the client and one follower or sent call.
class StreamDriver {
 public:
  virtual ~StreamDriver() = default;
  // Does what is due; returns the time of its next call.
  virtual std::int64_t drive(std::int64_t now_ms) = 0;
};

class Client final : public DaemonApi {
 public:
  Client(HttpEndpoint endpoint, std::string token)
      : endpoint_(std::move(endpoint)), token_(std::move(token)), io_(HttpIo::create()) {}

  Result<ApiAnswer> call(ApiRequest request) override;
  void send(ApiRequest request, OnApiAnswer done) override;
  std::unique_ptr<Following> follow(FollowRequest request, FollowEvents& events) override;
  void watch(int descriptor, std::move_only_function<void()> readable) override {
    io_->drive(descriptor, std::move(readable));
  }
  void step(int wait_ms) override;
  std::int64_t now_ms() override { return steady_ms(); }

  HttpRequest make_request(const ApiRequest& request) const;
  // One attempt, at most this long.
  Result<HttpResponse> attempt(const ApiRequest& request, const HttpCallLimits& limits) {
    return http_call(*io_, endpoint_, make_request(request), limits);
  }
  bool is_there(std::int64_t wait_ms);

  HttpIo& io() { return *io_; }
  const HttpEndpoint& endpoint() const { return endpoint_; }
  void add(StreamDriver* driver) { drivers_.insert(driver); }
  void remove(StreamDriver* driver) { drivers_.erase(driver); }
  // Deferred until the loop is back in step(): the caller itself is to be destroyed.
  void forget_sent(StreamDriver* driver) { over_.push_back(driver); }

 private:
  HttpEndpoint endpoint_;
  std::string token_;
  std::unique_ptr<HttpIo> io_;
  std::set<StreamDriver*> drivers_;
  std::map<StreamDriver*, std::unique_ptr<StreamDriver>> sent_;  // calls under way
  std::vector<StreamDriver*> over_;
};

// A call without a waiting caller. Repeated under its key until there is a response.
class SentCall final : public StreamDriver {
 public:
  SentCall(Client& client, ApiRequest request, OnApiAnswer done)
      : client_(client), request_(std::move(request)), done_(std::move(done)) {
    client_.add(this);
  }
  ~SentCall() override { client_.remove(this); }
  SentCall(const SentCall&) = delete;
  SentCall& operator=(const SentCall&) = delete;

  std::int64_t drive(std::int64_t now_ms) override {
    if (is_over_) return now_ms + stream_silence_ms;
    if (give_up_ms_ == 0) give_up_ms_ = now_ms + call_patience_ms;
    if (outcome_) {
      Result<HttpResponse> outcome = std::move(*outcome_);
      outcome_.reset();
      call_.reset();
      if (outcome) return end(answer_of(std::move(*outcome)), now_ms);
      if (now_ms >= give_up_ms_) return end(std::unexpected(std::move(outcome).error()), now_ms);
      due_ms_ = now_ms + std::min(call_retry_ms << std::min(failures_, 4), reconnect_longest_ms);
      failures_ += 1;
    }
    if (!call_ && now_ms >= due_ms_) {
      call_ = http_fetch(client_.io(), client_.endpoint(), client_.make_request(request_), {},
                         [this](Result<HttpResponse> outcome) { outcome_ = std::move(outcome); });
    }
    return call_ ? now_ms + stream_silence_ms : due_ms_;
  }

 private:
  std::int64_t end(Result<ApiAnswer> answer, std::int64_t now_ms) {
    is_over_ = true;
    client_.forget_sent(this);
    done_(std::move(answer));
    return now_ms + stream_silence_ms;
  }

  Client& client_;
  ApiRequest request_;
  OnApiAnswer done_;
  std::unique_ptr<HttpCall> call_;
  std::optional<Result<HttpResponse>> outcome_;
  std::int64_t give_up_ms_ = 0;
  std::int64_t due_ms_ = 0;
  int failures_ = 0;
  bool is_over_ = false;
};

// Its callbacks only record events; drive() passes them to the core, so that none of the caller's
// code runs while net/ is on the stack.
class SessionStream final : public Following, StreamDriver, HttpBodyEvents {
 public:
  SessionStream(Client& client, FollowRequest request, FollowEvents& events)
      : client_(client), core_(std::move(request), events, random_fraction) {
    client_.add(this);
  }
  ~SessionStream() override { client_.remove(this); }
  SessionStream(const SessionStream&) = delete;
  SessionStream& operator=(const SessionStream&) = delete;

  std::uint64_t cursor() const override { return core_.cursor(); }

  std::int64_t drive(std::int64_t now_ms) override {
    tell(now_ms);
    while (true) {
      const FollowCore::Next next = core_.next(now_ms);
      switch (next.wish) {
        case FollowCore::Wish::connect: open(now_ms); break;
        case FollowCore::Wish::hang_up:
          forget();
          core_.on_closed(now_ms);
          break;
        case FollowCore::Wish::wait: return next.at_ms;
        case FollowCore::Wish::nothing: forget(); return now_ms + stream_silence_ms;
      }
    }
  }

 private:
  void open(std::int64_t now_ms) {
    forget();
    parser_ = SseParser();
    const ApiRequest request = core_.connect(now_ms);
    HttpCallLimits limits;
    limits.answer_ms = stream_silence_ms;
    limits.body_bytes_max = SIZE_MAX;
    call_ =
        http_open(client_.io(), client_.endpoint(), client_.make_request(request), limits, *this);
  }
  void forget() {
    call_.reset();
    head_.reset();
    bytes_.clear();
    ended_ = false;
    was_told_open_ = false;
  }

  void tell(std::int64_t now_ms) {
    if (!call_) return;
    const bool ended = ended_;
    if (head_ && head_->status != 200) {
      if (!ended) return;  // the body has the reason
      const Refusal refusal = read_refusal(head_->status, bytes_);
      forget();
      core_.on_refused(refusal, now_ms);
      return;
    }
    if (head_ && !std::exchange(was_told_open_, true)) core_.on_open(now_ms);
    const std::string bytes = std::exchange(bytes_, {});
    if (const auto events = parser_.feed(bytes)) {
      for (const SseEvent& event : *events) core_.on_event(event, now_ms);
    } else {
      forget();
      core_.on_closed(now_ms);
      return;
    }
    if (ended) {
      forget();
      core_.on_closed(now_ms);
    }
  }

  void on_head(const HttpResponse& head) override { head_ = head; }
  void on_bytes(std::string_view bytes) override { bytes_ += bytes; }
  void on_end(Result<>) override { ended_ = true; }

  Client& client_;
  FollowCore core_;
  SseParser parser_;
  std::unique_ptr<HttpCall> call_;
  std::optional<HttpResponse> head_;
  std::string bytes_;
  bool ended_ = false;
  bool was_told_open_ = false;
};

HttpRequest Client::make_request(const ApiRequest& request) const {
  HttpRequest out;
  out.method = request.method;
  out.target = target_of(request);
  out.headers.push_back({"Host", host_header(endpoint_)});
  out.headers.push_back({"Accept", request.accept});
  if (!token_.empty()) out.headers.push_back({"Authorization", "Bearer " + token_});
  if (request.method != "GET") {
    out.headers.push_back({"Content-Type", request.content_type});
    if (!request.key.empty()) out.headers.push_back({"Idempotency-Key", request.key});
  }
  out.body = request.body;
  return out;
}

Result<ApiAnswer> Client::call(ApiRequest request) {
  if (request.method != "GET" && request.key.empty()) request.key = make_key();
  Result<HttpResponse> response = attempt(request, {});
  for (int again = 0; !response && again < call_retries_max; ++again) {
    const std::int64_t until = steady_ms() + (call_retry_ms << again);
    while (steady_ms() < until) step(static_cast<int>(until - steady_ms()));
    response = attempt(request, {});
  }
  if (!response) return std::unexpected(std::move(response).error());
  return answer_of(std::move(*response));
}

void Client::send(ApiRequest request, OnApiAnswer done) {
  if (request.method != "GET" && request.key.empty()) request.key = make_key();
  auto sent = std::make_unique<SentCall>(*this, std::move(request), std::move(done));
  StreamDriver* const driver = sent.get();
  sent_.emplace(driver, std::move(sent));
}

std::unique_ptr<Following> Client::follow(FollowRequest request, FollowEvents& events) {
  return std::make_unique<SessionStream>(*this, std::move(request), events);
}

void Client::step(int wait_ms) {
  const auto drive_all = [&] {
    std::int64_t next = steady_ms() + wait_ms;
    for (StreamDriver* driver : std::vector(drivers_.begin(), drivers_.end())) {
      // Skip drivers that a callback of another one has removed.
      if (drivers_.contains(driver)) next = std::min(next, driver->drive(steady_ms()));
    }
    return next;
  };
  for (StreamDriver* driver : std::exchange(over_, {})) sent_.erase(driver);
  const std::int64_t next = drive_all();
  io_->run_for_ms(static_cast<int>(std::max<std::int64_t>(0, next - steady_ms())));
  drive_all();
}

bool Client::is_there(std::int64_t wait_ms) {
  HttpCallLimits limits;
  limits.connect_ms = wait_ms;
  limits.answer_ms = wait_ms;
  ApiRequest request;
  request.path = "/healthz";
  return attempt(request, limits).has_value();
}

}  // namespace

Result<std::unique_ptr<DaemonApi>> connect_daemon(ClientSettings settings) {
  const bool is_remote = !settings.host_url.empty();
  HttpEndpoint endpoint =
      is_remote ? TRY(parse_endpoint(settings.host_url)) : socket_endpoint(settings.data_folder);
  const std::string name = is_remote ? settings.host_url : settings.data_folder;
  auto client = std::make_unique<Client>(std::move(endpoint), std::move(settings.token));
  const std::int64_t wait_ms = settings.probe_ms > 0 ? settings.probe_ms : daemon_probe_ms;
  if (client->is_there(wait_ms)) return client;
  if (is_remote) return fail(Code::unavailable, "no daemon answers at " + name);
  switch (settings.start) {
    case StartPolicy::never:
      return fail(Code::unavailable,
                  "no daemon is running for " + name + "; `perdure serve` starts one");
    case StartPolicy::inside_session:
      return fail(Code::unavailable, "no daemon is running for " + name +
                                         ", and none is started from inside a hosted session");
    case StartPolicy::may_start: break;
  }
  settings.starter.data_folder = settings.data_folder;
  TRY_VOID(ensure_daemon(settings.starter, [&] { return client->is_there(wait_ms); }));
  return client;
}

}  // namespace perdure::client
