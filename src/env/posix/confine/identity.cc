#include "env/posix/confine/identity.h"

#include <cerrno>

#include <signal.h>
#include <unistd.h>

#include "env/posix/files/fd.h"
#include "env/posix/process/proc.h"

namespace perdure {

Result<std::uint64_t> process_started(std::int64_t pid) { return TRY(read_proc_stat(pid)).started; }

Result<std::string> host_boot() {
  std::string id = TRY(read_small_file("/proc/sys/kernel/random/boot_id"));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  if (id.empty()) return fail(Code::unavailable, "the kernel does not tell its boot id");
  return id;
}

Result<ProcessIdentity> identify_process(std::int64_t pid) {
  return ProcessIdentity{pid, TRY(process_started(pid)), TRY(host_boot())};
}

Result<ProcessIdentity> identify_self() { return identify_process(getpid()); }

ProcessLife process_life(const ProcessIdentity& identity) {
  if (identity.pid <= 0 || identity.host_boot.empty()) return ProcessLife::unknown;
  const auto boot = host_boot();
  if (!boot) return ProcessLife::unknown;
  if (*boot != identity.host_boot) return ProcessLife::dead;
  const auto process = read_proc_stat(identity.pid);
  if (process) {
    const bool same = process->started == identity.started;
    return same && !process->ended() ? ProcessLife::alive : ProcessLife::dead;
  }
  // A /proc that hides other users' processes returns "not found" for living ones, too: only ESRCH
  // from the kernel is proof.
  if (process.error().code() != Code::not_found) return ProcessLife::unknown;
  const bool nobody = kill(static_cast<pid_t>(identity.pid), 0) != 0 && errno == ESRCH;
  return nobody ? ProcessLife::dead : ProcessLife::unknown;
}

Result<> signal_process(const ProcessIdentity& identity, int number) {
  switch (process_life(identity)) {
    case ProcessLife::dead: return fail(Code::not_found, "the process is gone");
    case ProcessLife::unknown: return fail(Code::unavailable, "the process cannot be seen");
    case ProcessLife::alive: break;
  }
  return send_signal(TRY(open_pidfd(ProcStat{.pid = identity.pid, .started = identity.started})),
                     number);
}

}  // namespace perdure
