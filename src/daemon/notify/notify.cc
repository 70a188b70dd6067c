// Retry intervals grow: a hook that is down for a minute misses nothing, and one that is down for
// an hour costs little. The queue is limited; when it is full, the oldest entry is dropped.
#include "daemon/notify/notify.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/deceptive.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::size_t notification_chars_max = 400;  // for each title, question or message
constexpr std::array<std::int64_t, 5> retry_after_ms = {1'000, 5'000, 30'000, 120'000, 600'000};

struct Authority {
  std::string host;
  std::uint16_t port = 0;
};

Result<Authority> parse_authority(std::string_view text, std::uint16_t port_otherwise) {
  Authority out{.port = port_otherwise};
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return fail(Code::invalid_argument, "the webhook's host has no closing ]");
    }
    out.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    out.host = text.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (out.host.empty() || text.find('@') != std::string_view::npos) {
    return fail(Code::invalid_argument, "the webhook's URL names no plain host");
  }
  if (port.empty()) return out;
  const char* const end = port.data() + port.size();
  const auto [at, error] = std::from_chars(port.data() + 1, end, out.port);
  if (!port.starts_with(':') || error != std::errc() || at != end || out.port == 0) {
    return fail(Code::invalid_argument, "the webhook's port is not a number from 1 to 65535");
  }
  return out;
}

}  // namespace

std::string Notification::shown(std::string_view agent_text) {
  const std::string_view cut = utf8_prefix_chars(agent_text, notification_chars_max);
  std::string out = mark_deceptive(cut, Care::title) + (cut.size() < agent_text.size() ? "…" : "");
  std::ranges::replace(out, '\n', ' ');
  std::ranges::replace(out, '\t', ' ');
  return out;
}

std::string Notification::json() const {
  JsonWriter json;
  json.begin_object().key("v").number(1).key("id").string(id()).key("event").string(event);
  json.key("session_id").string(session.text());
  if (run) json.key("run_id").string(run.text());
  json.key("title").string(shown(title)).key("text").string(shown(text));
  json.key("agent").string(agent).key("folder").string(shown(folder));
  // A notification has only the question's title, so it says where the rest is shown.
  if (!permission.empty()) {
    json.key("perm_id").string(permission);
    json.key("review").string("perdure answer " + permission);
  }
  json.key("ts").string(format_timestamp(at)).end_object();
  return std::move(json).take();
}

Result<HookUrl> parse_hook_url(std::string_view url) {
  HookUrl out;
  std::string_view rest;
  if (url.starts_with("https://")) {
    out.endpoint.tls = true;
    rest = url.substr(8);
  } else if (url.starts_with("http://")) {
    rest = url.substr(7);
  } else {
    return fail(Code::invalid_argument, "a webhook's URL begins with http:// or https://");
  }
  const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  out.host = rest.substr(0, slash);
  const Authority authority = TRY(parse_authority(out.host, out.endpoint.tls ? 443 : 80));
  out.endpoint.host = authority.host;
  out.endpoint.port = authority.port;
  out.target = rest.substr(slash, rest.find('#') - slash);
  if (!out.target.starts_with('/')) out.target.insert(0, "/");
  return out;
}

std::string sign_hook(std::string_view secret, std::int64_t seconds, std::string_view body) {
  return "sha256=" + hmac_sha256(secret, std::to_string(seconds) + "." + std::string(body)).hex();
}

struct Notifications::Delivery {
  std::uint64_t number = 0;
  std::string body;
  std::string id;
  std::size_t tries = 0;
  std::uint64_t call = 0;
  Loop::TimerId timer = 0;  // 0: none runs
};

// One run of the command: the notification on its stdin, its output read and dropped.
class Notifications::Hook final : public ProcessEvents {
 public:
  Hook(Notifications& owner, std::uint64_t number) : owner_(owner), number_(number) {}
  ~Hook() override { owner_.ports_.loop.cancel(timer_); }

  Result<> start(const Notification& notification) {
    SpawnSpec spec{.command = owner_.setting_.command,
                   .environment = owner_.setting_.command_environment,
                   .cwd = "/"};
    spec.environment.push_back("PERDURE_EVENT=" + notification.event);
    spec.environment.push_back("PERDURE_NOTIFIED_SESSION=" + notification.session.text());
    spec.environment.push_back("PERDURE_TITLE=" + Notification::shown(notification.title));
    spec.environment.push_back("PERDURE_TEXT=" + Notification::shown(notification.text));
    process_ = TRY(owner_.ports_.processes.spawn(spec, *this));
    process_->write(notification.json() + "\n");
    process_->close_input();
    timer_ = owner_.ports_.loop.after_ms(notify_command_ms, [this] {
      timer_ = 0;
      process_->signal(SIGKILL);
    });
    return {};
  }

 private:
  void on_output(std::string_view) override {}
  void on_error_output(std::string_view) override {}
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override {
    exit.code == 0 ? ++owner_.delivered_ : ++owner_.given_up_;
    // Not destroyed within its own call.
    owner_.ports_.loop.post([&owner = owner_, exists = owner_.exists_, number = number_] {
      if (!*exists) return;
      owner.hooks_.erase(number);
      owner.start_next_command();
    });
  }

  Notifications& owner_;
  std::uint64_t number_;
  std::unique_ptr<Process> process_;
  Loop::TimerId timer_ = 0;
};

Result<std::unique_ptr<Notifications>> Notifications::create(Ports ports, NotifySetting setting) {
  HookUrl url;
  if (!setting.webhook_url.empty()) url = TRY(parse_hook_url(setting.webhook_url));
  return std::unique_ptr<Notifications>(
      new Notifications(ports, std::move(setting), std::move(url)));
}

Notifications::Notifications(Ports ports, NotifySetting setting, HookUrl url)
    : ports_(ports), setting_(std::move(setting)), url_(std::move(url)), calls_(ports.io) {}

Notifications::~Notifications() {
  *exists_ = false;
  while (!deliveries_.empty()) drop(deliveries_.begin()->first);
}

void Notifications::tell(Notification notification) {
  if (setting_.webhook_url.empty() && setting_.command.empty()) return;
  if (!setting_.events.empty() &&
      std::ranges::find(setting_.events, notification.event) == setting_.events.end()) {
    return;
  }
  const std::pair key(notification.session, notification.event);
  const bool is_new = !debounced_.contains(key);
  debounced_.insert_or_assign(key, std::move(notification));
  if (!is_new) return;
  ports_.loop.after_ms(setting_.debounce_ms, [this, exists = exists_, key] {
    if (!*exists) return;
    send(debounced_.extract(key).mapped());
  });
}

void Notifications::send(const Notification& notification) {
  if (!setting_.webhook_url.empty()) {
    if (deliveries_.size() >= notifications_waiting_max) {
      drop(deliveries_.begin()->first);
      given_up_ += 1;
    }
    auto delivery = std::make_unique<Delivery>();
    delivery->number = ++last_delivery_;
    delivery->body = notification.json();
    delivery->id = notification.id();
    deliveries_.emplace(last_delivery_, std::move(delivery));
    post(last_delivery_);
  }
  if (!setting_.command.empty()) run_command(notification);
}

void Notifications::drop(std::uint64_t number) {
  const auto dropped = deliveries_.extract(number);
  calls_.give_up(dropped.mapped()->call);
  ports_.loop.cancel(dropped.mapped()->timer);
}

void Notifications::post(std::uint64_t number) {
  Delivery& delivery = *deliveries_.at(number);
  const std::int64_t seconds = ports_.clock.now().wall.ms / 1000;
  HttpRequest request{.method = "POST", .target = url_.target, .body = delivery.body};
  request.headers = {{"Host", url_.host},
                     {"Content-Type", "application/json"},
                     {"User-Agent", "perdure"},
                     {"X-Perdure-Delivery", delivery.id},
                     {"X-Perdure-Timestamp", std::to_string(seconds)}};
  if (!setting_.webhook_secret.empty()) {
    request.headers.push_back(
        {"X-Perdure-Signature", sign_hook(setting_.webhook_secret, seconds, delivery.body)});
  }
  constexpr HttpCallLimits limits{
      .connect_ms = 10'000, .answer_ms = 15'000, .body_bytes_max = 64UL << 10};
  delivery.call = calls_.fetch(
      url_.endpoint, std::move(request), limits,
      [this, number](const Result<HttpResponse>& answer) { on_answer(number, answer); });
}

void Notifications::on_answer(std::uint64_t number, const Result<HttpResponse>& answer) {
  if (!answer || answer->status / 100 != 2) return retry(*deliveries_.at(number));
  delivered_ += 1;
  drop(number);
}

void Notifications::retry(Delivery& delivery) {
  if (delivery.tries >= retry_after_ms.size()) {
    given_up_ += 1;
    return drop(delivery.number);
  }
  const std::int64_t delay_ms = retry_after_ms[delivery.tries++];
  delivery.timer = ports_.loop.after_ms(delay_ms, [this, number = delivery.number] {
    deliveries_.at(number)->timer = 0;
    post(number);
  });
}

void Notifications::run_command(const Notification& notification) {
  if (commands_.size() >= notifications_waiting_max) {
    commands_.pop_front();
    given_up_ += 1;
  }
  commands_.push_back(notification);
  start_next_command();
}

void Notifications::start_next_command() {
  while (!commands_.empty() && hooks_.size() < notify_commands_max) {
    const Notification notification = std::move(commands_.front());
    commands_.pop_front();
    auto hook = std::make_unique<Hook>(*this, ++last_hook_);
    if (!hook->start(notification)) {
      given_up_ += 1;
      continue;
    }
    hooks_.emplace(last_hook_, std::move(hook));
  }
}

}  // namespace perdure
