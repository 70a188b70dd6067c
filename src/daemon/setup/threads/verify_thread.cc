#include "daemon/setup/threads/verify_thread.h"

#include "daemon/setup/threads/quiet_thread.h"

namespace perdure {
namespace {

constexpr std::size_t list_page = 1000;

std::uint64_t count_sessions(StoreEngine& store) {
  std::uint64_t count = 0;
  SessionId after;
  while (true) {
    const auto page = store.list(after, list_page);
    if (!page || page->empty()) return count;
    count += page->size();
    after = page->back().session;
  }
}

}  // namespace

VerifyThread::VerifyThread(StoreEngine& store) : store_(store) {
  thread_ = start_quiet_thread([this] { run(); });
}

VerifyThread::~VerifyThread() {
  stopping_ = true;
  thread_.join();
}

ApiWorld::Verified VerifyThread::so_far() const {
  const std::scoped_lock lock(mutex_);
  return verified_;
}

void VerifyThread::note(const VerifyReport& report) {
  const std::scoped_lock lock(mutex_);
  verified_.sessions_done = report.session_count;
  verified_.records = report.record_count;
  for (std::size_t i = verified_.damaged.size(); i < report.damages.size(); ++i) {
    const Damage& damage = report.damages[i];
    verified_.damaged.push_back(
        {damage.session ? damage.session->text() : "", damage.good, damage.what});
  }
}

void VerifyThread::run() {
  const std::uint64_t sessions = count_sessions(store_);
  {
    const std::scoped_lock lock(mutex_);
    verified_.sessions = sessions;
  }
  const Result<VerifyReport> report = store_.verify([this](const VerifyReport& so_far) {
    note(so_far);
    return !stopping_;
  });
  if (report) note(*report);
  const std::scoped_lock lock(mutex_);
  if (!report) verified_.error = report.error().message();
  verified_.is_done = true;
}

}  // namespace perdure
