#include "main/store_thread.h"

#include <chrono>
#include <csignal>

#include <pthread.h>

namespace perdure {
namespace {

constexpr std::chrono::milliseconds idle_wait{50};
// Under steady load background work gets a turn after so many commits.
constexpr int commits_per_idle_step = 64;

}  // namespace

StoreThread::StoreThread(SqliteStore& store) : store_(store) {
  // Signals are for the other thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void StoreThread::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  store_.wake();
  thread_.join();
}

void StoreThread::run() {
  int commits = 0;
  while (!stopping_) {
    if (!store_.wait_for_work(idle_wait)) {
      store_.idle_step();
      continue;
    }
    store_.step();
    if (++commits % commits_per_idle_step == 0) store_.idle_step();
  }
  while (store_.step()) {}
}

}  // namespace perdure
