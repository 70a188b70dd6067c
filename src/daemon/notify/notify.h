// Notifies the outside, by a webhook and a command, that a session needs input, has finished,
// failed, was interrupted or stalled. No other part waits for this or depends on it. Undeliverable
// notifications are dropped after a while and counted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "env/env.h"
#include "env/process.h"
#include "net/client.h"

namespace perdure {

struct Notification {
  std::string event;  // needs_input, finished, failed, interrupted, stalled: each distinct (N15)
  SessionId session;
  RunId run;
  std::string title;  // the session's title
  std::string text;   // the question's title, or what happened
  std::string agent = {};
  std::string folder = {};      // where the session works
  std::string permission = {};  // the question's id; empty: no question
  Timestamp at;
  // Identifies it if it is repeated, even after a crash.
  std::string id() const { return session.text() + "/" + run.text() + "/" + event; }
  std::string json() const;
  // An agent's text on one line, with its deceptive characters marked; a long text is cut.
  static std::string shown(std::string_view agent_text);
};

struct NotifySetting {
  std::string webhook_url;  // empty: none
  std::string webhook_secret;
  std::vector<std::string> command;  // empty: none
  std::vector<std::string> command_environment;
  std::vector<std::string> events;  // empty: all
  std::int64_t debounce_ms = 2'000;
};

struct HookUrl {
  HttpEndpoint endpoint;
  std::string target;
  std::string host;  // for the Host header
};
// http://host[:port]/path or https://…; invalid_argument names what is wrong.
Result<HookUrl> parse_hook_url(std::string_view url);

// `sha256=` + HMAC-SHA-256 over "<seconds since 1970>.<body>", as the header X-Perdure-Signature.
std::string sign_hook(std::string_view secret, std::int64_t seconds, std::string_view body);

class Notifications {
 public:
  struct Ports {
    Clock& clock;
    Loop& loop;
    Processes& processes;
    HttpIo& io;
  };
  static Result<std::unique_ptr<Notifications>> create(Ports ports, NotifySetting setting);
  ~Notifications();

  // Of equal ones (session, event) within debounce_ms, only the last is sent.
  void tell(Notification notification);

  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t given_up() const { return given_up_; }

 private:
  struct Delivery;
  class Hook;

  Notifications(Ports ports, NotifySetting setting, HookUrl url);
  void send(const Notification& notification);
  void post(std::uint64_t number);
  void on_answer(std::uint64_t number, const Result<HttpResponse>& answer);
  void retry(Delivery& delivery);
  void drop(std::uint64_t number);
  void run_command(const Notification& notification);
  void start_next_command();

  Ports ports_;
  NotifySetting setting_;
  HookUrl url_;
  std::map<std::pair<SessionId, std::string>, Notification> debounced_;
  HttpCalls calls_;
  // Timers and answers refer to a delivery by its number: only this map owns it.
  std::map<std::uint64_t, std::unique_ptr<Delivery>> deliveries_;
  std::uint64_t last_delivery_ = 0;
  std::deque<Notification> commands_;
  std::map<std::uint64_t, std::unique_ptr<Hook>> hooks_;
  std::uint64_t last_hook_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t given_up_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
