// Writing blocks on purpose: while the editor does not read, nothing is read from the daemon. The
// daemon then ends the stream at its cursor, and this reconnects after that cursor. So no queue
// grows here.
#include "editor/stdio.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"

namespace perdure::face {
namespace {

constexpr int idle_step_ms = 1000;
// A pipe that is ready accepts this much without blocking.
constexpr std::size_t write_bytes = 4096;
constexpr int exit_done = 0;
constexpr int exit_cut = 1;

std::string random_name() {
  std::array<unsigned char, 16> bytes{};
  CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string name = "acp-";
  for (const unsigned char byte : bytes) {
    name += "0123456789abcdef"[byte >> 4U];
    name += "0123456789abcdef"[byte & 15U];
  }
  return name;
}

enum class Written { all, gone, stuck };

Written write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(face_write_ms));
    if (polled == 0) return Written::stuck;
    if (polled < 0 && errno == EINTR) continue;
    if (polled < 0 || (ready.revents & POLLOUT) == 0) return Written::gone;
    const ssize_t wrote = ::write(STDOUT_FILENO, bytes.data(), std::min(bytes.size(), write_bytes));
    if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (wrote <= 0) return Written::gone;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return Written::all;
}

class Bridge;

// One followed session: forwards its events.
class Followed final : public client::FollowEvents {
 public:
  Followed(Bridge& bridge, std::string session) : bridge_(bridge), session_(std::move(session)) {}
  void begin(client::DaemonApi& daemon) {
    following_ = daemon.follow({.session = session_, .after = 0, .log_id = {}}, *this);
  }

  void on_state(std::string_view json) override;
  void on_record(std::uint64_t seq, std::string_view json) override;
  void on_reset() override;
  void on_connection(client::Connection connection) override;
  void on_refused(const client::Refusal& refusal) override;

 private:
  Bridge& bridge_;
  std::string session_;
  std::unique_ptr<client::Following> following_;
};

class Bridge {
 public:
  Bridge(const StdioWorld& world, FaceSetup setup) : world_(world), face_(std::move(setup)) {}

  int run() {
    struct stat about{};
    const bool is_file = ::fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode);
    const std::shared_ptr<bool> is_alive = std::make_shared<bool>(true);
    if (!is_file) {
      world_.daemon.watch(STDIN_FILENO, [this, alive = std::weak_ptr(is_alive)] {
        if (!alive.expired()) read_some();
      });
    }
    while (true) {
      if (is_file && !at_end_) read_some();
      switch (write_all(face_.take_output())) {
        case Written::all: break;
        case Written::gone: return exit_done;
        case Written::stuck:
          note("the editor has not read for a minute and is cut off; its sessions go on");
          return exit_cut;
      }
      for (Wish& wish : face_.take_wishes()) fulfil(wish);
      for (const std::string& remark : face_.take_remarks()) note(remark);
      // At the end of input, requests in progress are completed; followed streams are dropped.
      if (at_end_ && !face_.has_calls()) return exit_done;
      world_.daemon.step(is_file && !at_end_ ? 0 : idle_step_ms);
      revive_if_gone();
    }
  }

  Face& face() { return face_; }
  void connection(client::Connection connection) {
    if (connection == client::Connection::open) {
      lost_ms_ = 0;
    } else if (lost_ms_ == 0) {
      lost_ms_ = world_.daemon.now_ms();
    }
  }

 private:
  static void note(std::string_view text) {
    const std::string line = "perdure acp: " + std::string(text) + "\n";
    std::fputs(line.c_str(), stderr);
  }

  void read_some() {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (at_end_ || ::poll(&ready, 1, 0) <= 0) return;
    std::array<char, 64UL << 10> bytes;
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
      at_end_ = true;
      return;
    }
    face_.on_bytes({bytes.data(), static_cast<std::size_t>(got)});
  }

  void fulfil(Wish& wish) {
    if (auto* const call = std::get_if<CallWish>(&wish)) {
      if (!call->is_quiet) calls_.emplace(call->number, world_.daemon.now_ms());
      world_.daemon.send(std::move(call->request),
                         [this, number = call->number](Result<client::ApiAnswer> answer) {
                           calls_.erase(number);
                           face_.on_answer(number, std::move(answer));
                         });
    } else if (auto* const follow = std::get_if<FollowWish>(&wish)) {
      auto followed = std::make_unique<Followed>(*this, follow->session);
      followed->begin(world_.daemon);
      followed_.insert_or_assign(follow->session, std::move(followed));
    } else {
      followed_.erase(std::get<UnfollowWish>(wish).session);
    }
  }

  // Restarts a missing daemon only while a request is waiting: a person who stopped it on purpose
  // may have an idle editor open.
  void revive_if_gone() {
    const std::int64_t now = world_.daemon.now_ms();
    if (!world_.revive || !face_.is_waiting() || now < revive_ms_) return;
    std::int64_t since = lost_ms_;
    for (const auto& [number, begun_ms] : calls_) {
      since = since == 0 ? begun_ms : std::min(since, begun_ms);
    }
    if (since == 0 || now - since < face_revive_ms) return;
    const Result<> revived = world_.revive();
    const std::string trouble = revived ? "" : revived.error().message();
    if (!trouble.empty() && trouble != trouble_) note(trouble);
    trouble_ = trouble;
    revive_ms_ = world_.daemon.now_ms() + face_revive_ms;
  }

  const StdioWorld& world_;
  Face face_;
  std::map<std::string, std::unique_ptr<Followed>> followed_;
  std::map<std::uint64_t, std::int64_t> calls_;  // time of each call
  std::int64_t lost_ms_ = 0;                     // 0: the streams are connected
  std::int64_t revive_ms_ = 0;                   // not again before this time
  std::string trouble_;                          // why no daemon responds, as last logged
  bool at_end_ = false;
};

void Followed::on_state(std::string_view json) { bridge_.face().on_state(session_, json); }
void Followed::on_record(std::uint64_t seq, std::string_view json) {
  bridge_.face().on_record(session_, seq, json);
}
void Followed::on_reset() { bridge_.face().on_reset(session_); }
void Followed::on_connection(client::Connection connection) { bridge_.connection(connection); }
void Followed::on_refused(const client::Refusal& refusal) {
  bridge_.face().on_refused(session_, refusal);
}

}  // namespace

int serve_stdio(const StdioWorld& world, FaceSetup setup) {
  // An editor that is gone must cause a write error, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  setup.key_prefix = random_name();
  return Bridge(world, std::move(setup)).run();
}

}  // namespace perdure::face
