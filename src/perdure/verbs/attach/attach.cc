#include "perdure/verbs/attach/attach.h"

#include <array>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/json/json.h"
#include "perdure/terminal/keys.h"
#include "perdure/verbs/attach/terminal.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/session_brief.h"

namespace perdure::cli {
namespace {

constexpr int idle_step_ms = 1000;
constexpr int escape_step_ms = 50;  // an escape character followed by nothing is the key itself

// While it lives, signals are read from a descriptor instead of acted on.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGWINCH, SIGTERM, SIGHUP, SIGINT}) sigaddset(&set_, signal);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
    fd_ = ::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() {
    if (fd_ >= 0) ::close(fd_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return fd_; }
  // 0 if there is none.
  int take() const {
    signalfd_siginfo told{};
    return ::read(fd_, &told, sizeof told) == sizeof told ? static_cast<int>(told.ssi_signo) : 0;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  int fd_ = -1;
};

class Attached final : public client::FollowEvents {
 public:
  Attached(client::DaemonApi& api, const AttachTo& to, Style style)
      : api_(api), to_(to), style_(style), view_(style, terminal_size()) {
    view_.set_host(to.host);
    if (!to.first_note.empty()) view_.note(Ink::dim, to.first_note);
  }

  Outcome<int> run() {
    const std::unique_ptr<RawTerminal> terminal = TRY(told(RawTerminal::enter()));
    // The api keeps the watch until it is destroyed; the watch must not use this object after its
    // end.
    const std::shared_ptr<bool> is_alive = std::make_shared<bool>(true);
    api_.watch(STDIN_FILENO, [this, alive = std::weak_ptr(is_alive)] {
      if (!alive.expired()) read_keys();
    });
    if (signals_.descriptor() >= 0) {
      api_.watch(signals_.descriptor(), [this, alive = std::weak_ptr(is_alive)] {
        if (!alive.expired()) take_signals();
      });
    }
    const auto following = api_.follow(
        {.session = encode_segment(to_.session), .after = to_.after, .log_id = {}}, *this);
    while (!is_over_ && !refusal_) {
      write_all(STDOUT_FILENO, view_.take_output());
      const bool is_between = keys_.is_between();
      has_read_ = false;
      api_.step(is_between ? escape_step_ms : idle_step_ms);
      if (is_between && !has_read_) press(keys_.flush());
      for (const AttachWish& wish : view_.take_wishes()) fulfil(wish);
    }
    write_all(STDOUT_FILENO, view_.finish());
    if (refusal_) return std::unexpected(Trouble::of(*refusal_));
    write_all(STDOUT_FILENO,
              style_.paint(Ink::dim, "Detached; it keeps running. Reattach: perdure attach " +
                                         short_id(to_.session)) +
                  "\r\n");
    return exit_done;
  }

  void on_state(std::string_view json) override {
    if (const auto state = JsonView::read(json)) view_.on_state(*state, api_.now_ms());
  }
  void on_record(std::uint64_t seq, std::string_view json) override {
    if (const auto record = JsonView::read(json)) view_.on_record(seq, *record, api_.now_ms());
  }
  void on_reset() override { view_.on_reset(); }
  void on_connection(client::Connection connection) override { view_.on_connection(connection); }
  void on_refused(const client::Refusal& refusal) override { refusal_ = refusal; }

 private:
  void read_keys() {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0) return;
    std::array<char, 4096> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      is_over_ = true;  // the terminal is gone
      return;
    }
    has_read_ = true;
    press(keys_.feed({bytes.data(), static_cast<std::size_t>(got)}));
  }

  void press(const std::vector<Key>& keys) {
    for (const Key& key : keys) view_.on_key(key, api_.now_ms());
  }

  void take_signals() {
    while (const int signal = signals_.take()) {
      if (signal == SIGWINCH) {
        view_.on_resize(terminal_size());
      } else {
        is_over_ = true;
      }
    }
  }

  void fulfil(const AttachWish& wish) {
    JsonWriter body;
    switch (wish.kind) {
      case AttachWish::Kind::detach: is_over_ = true; return;
      case AttachWish::Kind::send:
        body.begin_object().key("text").string(wish.text).end_object();
        ask(session_path(to_.session, "/prompt"), body.text(), "not sent");
        return;
      case AttachWish::Kind::cancel_run:
        ask(session_path(to_.session, "/cancel"), "{}", "not cancelled");
        return;
      case AttachWish::Kind::details: read_details(wish); return;
      case AttachWish::Kind::answer:
        body.begin_object().key("option_id").string(wish.option);
        if (!wish.digest.empty()) body.key("if_question").string(wish.digest);
        body.end_object();
        if (!ask("/api/permissions/" + encode_segment(wish.permission), body.text(),
                 "not answered")) {
          view_.on_answer_refused();
        }
        return;
    }
  }

  void read_details(const AttachWish& wish) {
    client::ApiRequest request;
    request.path = "/api/permissions/" + encode_segment(wish.permission);
    const auto answer = api_.call(std::move(request));
    if (!answer) return;  // asked for again when the card gets the keys
    const auto json = answer->refusal ? std::nullopt : JsonView::read(answer->body);
    view_.on_details(wish.permission, json.value_or(JsonView()), api_.now_ms());
  }

  bool ask(std::string path, std::string body, std::string_view otherwise) {
    client::ApiRequest request;
    request.method = "POST";
    request.path = std::move(path);
    request.body = std::move(body);
    const auto answer = api_.call(std::move(request));
    if (answer && !answer->refusal) return true;
    view_.note(Ink::red, std::string(otherwise) + ": " +
                             (answer ? answer->refusal->message : answer.error().message()));
    return false;
  }

  client::DaemonApi& api_;
  const AttachTo& to_;
  Style style_;
  AttachView view_;
  KeyReader keys_;
  Signals signals_;
  std::optional<client::Refusal> refusal_;
  bool is_over_ = false;
  bool has_read_ = false;
};

}  // namespace

Outcome<int> attach_terminal(client::DaemonApi& api, const AttachTo& to, Style style) {
  return Attached(api, to, style).run();
}

}  // namespace perdure::cli
