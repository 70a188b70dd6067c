#include "env/posix/loop/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {

Result<std::unique_ptr<SignalWatch>> SignalWatch::create(EpollLoop& loop,
                                                         const std::vector<int>& numbers,
                                                         OnSignal on_signal) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) CHECK(sigaddset(&set, number) == 0, "no such signal");
  CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  std::unique_ptr<SignalWatch> watch(new SignalWatch(std::move(on_signal)));
  watch->signals_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!watch->signals_) return system_failure("make a signalfd");
  SignalWatch* self = watch.get();
  watch->watch_ = loop.watch(watch->signals_, Interest::read, [self](Ready) { self->read_all(); });
  return watch;
}

void SignalWatch::read_all() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    on_signal_(static_cast<int>(signal.ssi_signo));
  }
}

}  // namespace perdure
