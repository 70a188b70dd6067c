#include "store/postgres/link/pg_listener.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "store/postgres/pg_hints.h"
#include "store/postgres/pg_schema.h"

namespace perdure {
namespace {

// A silent connection is probed this often.
constexpr std::chrono::milliseconds probe_after{15'000};
// More sessions than this are reported as "any".
constexpr std::size_t told_max = 4'096;

}  // namespace

PgListener::PgListener(Setting setting)
    : setting_(std::move(setting)), wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(wake_fd_ >= 0, "no file descriptor is left");
  thread_ = std::thread([this] { run(); });
}

PgListener::~PgListener() {
  stopping_ = true;
  const std::uint64_t one = 1;
  CHECK(::write(wake_fd_, &one, sizeof(one)) == sizeof(one));
  thread_.join();
  ::close(wake_fd_);
}

void PgListener::pause(std::chrono::milliseconds time) {
  pollfd wake{.fd = wake_fd_, .events = POLLIN, .revents = 0};
  ::poll(&wake, 1, static_cast<int>(time.count()));
}

void PgListener::run() {
  std::chrono::milliseconds retry = setting_.retry_first;
  while (!stopping_) {
    const Result<std::unique_ptr<PgLink>> link = PgLink::open(setting_.place, setting_.times);
    if (link && (*link)->script(std::string("LISTEN ") + pg_channel)) {
      retry = setting_.retry_first;
      tell_any();
      listen(**link);
    }
    if (stopping_) return;
    pause(retry);
    retry = std::min(2 * retry, setting_.retry_max);
  }
}

void PgListener::listen(PgLink& link) {
  auto last_heard = std::chrono::steady_clock::now();
  while (!stopping_ && link.wait_notices({.wake_fd = wake_fd_, .time = probe_after})) {
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::string> notices = link.take_notices();
    if (notices.empty() && now - last_heard >= probe_after) {
      if (!link.run({"sign_of_life", "SELECT 1::bigint"}, {})) return;
      notices = link.take_notices();
      last_heard = now;
    }
    if (notices.empty()) continue;
    last_heard = now;
    tell(notices);
  }
}

void PgListener::tell(const std::vector<std::string>& notices) {
  std::set<SessionId> changed;
  std::set<SessionId> redacted;
  bool is_any = false;
  bool is_other = false;
  for (const std::string& notice : notices) {
    const PgHint hint = parse_pg_hint(notice);
    if (hint.epoch == setting_.epoch) continue;
    is_other = true;
    is_any = is_any || hint.sessions.empty();
    (hint.is_redaction ? redacted : changed).insert(hint.sessions.begin(), hint.sessions.end());
  }
  if (!is_other) return;
  setting_.on_other();
  changed.insert(redacted.begin(), redacted.end());
  if (is_any || changed.size() > told_max) return tell_any();
  setting_.on_changed({changed.begin(), changed.end()});
  if (!redacted.empty() && setting_.on_redacted) {
    setting_.on_redacted({redacted.begin(), redacted.end()});
  }
}

void PgListener::tell_any() {
  setting_.on_changed({});
  if (setting_.on_redacted) setting_.on_redacted({});
}

}  // namespace perdure
