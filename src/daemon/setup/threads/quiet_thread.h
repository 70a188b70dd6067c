// A thread that receives no signals from its first instruction on, because the main thread handles
// them.
#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace perdure {

std::thread start_quiet_thread(auto&& body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::forward<decltype(body)>(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace perdure
