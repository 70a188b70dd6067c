#include "env/posix/process/spawn.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

constexpr std::size_t stack_bytes = 64UL << 10;
constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

enum class Step : std::uint8_t { none, session, stdio, terminal, cgroup, folder, parent, program };

// Written by the child; read by us after it has exec'd or ended.
struct Report {
  Step step = Step::none;
  int error = 0;
};

// Everything that the child uses: plain pointers to memory that is prepared before it begins.
struct ChildPlan {
  Report* report;
  SpawnStdio stdio;
  SpawnSetting setting;
  bool terminal;
  pid_t parent;
  const int* cgroups;
  std::size_t cgroup_count;
  const char* cwd;
  char* const* arguments;
  char* const* environment;
  const char* const* programs;  // paths to try, in the order of PATH, then null
};

// Code that runs in the child: only direct system calls, since the sanitizers' wrappers would write
// their records about the child into our memory.
#define IN_CHILD __attribute__((disable_sanitizer_instrumentation, noinline))

[[noreturn]] IN_CHILD void leave(const ChildPlan& plan, Step step) {
  plan.report->error = errno;
  plan.report->step = step;
  while (true) syscall(SYS_exit_group, 127);
}

IN_CHILD void reset_signals() {
  // The kernel's own struct sigaction: handler, flags, restorer, mask. Zeros: the default.
  const unsigned long defaults[4] = {};
  for (int number = 1; number <= 64; ++number) {
    syscall(SYS_rt_sigaction, number, defaults, nullptr, 8);
  }
}

IN_CHILD void lay_stdio(const ChildPlan& plan) {
  const int ends[] = {plan.stdio.input, plan.stdio.output, plan.stdio.error_output};
  for (int i = 0; i < 3; ++i) {
    if (syscall(SYS_dup3, ends[i], i, 0) < 0) leave(plan, Step::stdio);
  }
  if (plan.terminal && syscall(SYS_ioctl, 0, TIOCSCTTY, 0) != 0) leave(plan, Step::terminal);
}

IN_CHILD void close_others() {
  if (syscall(SYS_close_range, 3, ~0U, 0) == 0) return;
  // For an old kernel or a seccomp filter. Ours are all close-on-exec; others' may not be.
  for (int descriptor = 3; descriptor < 1024; ++descriptor) syscall(SYS_close, descriptor);
}

IN_CHILD void follow_parent(const ChildPlan& plan) {
  if (plan.setting.parent_death == ParentDeath::nothing) return;
  if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) leave(plan, Step::parent);
  // The parent may have died before the prctl.
  if (syscall(SYS_getppid) != plan.parent) leave(plan, Step::parent);
}

IN_CHILD void run_program(const ChildPlan& plan) {
  int best = ENOENT;
  for (const char* const* program = plan.programs; *program != nullptr; ++program) {
    syscall(SYS_execve, *program, plan.arguments, plan.environment);
    if (errno == EACCES) best = EACCES;
    const bool look_on = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (!look_on) leave(plan, Step::program);
  }
  errno = best;
  leave(plan, Step::program);
}

IN_CHILD int child_main(void* argument) {
  const ChildPlan& plan = *static_cast<const ChildPlan*>(argument);
  reset_signals();
  if (syscall(SYS_setsid) < 0) leave(plan, Step::session);
  lay_stdio(plan);
  for (std::size_t i = 0; i < plan.cgroup_count; ++i) {
    if (syscall(SYS_write, plan.cgroups[i], "0", 1) != 1) leave(plan, Step::cgroup);
  }
  close_others();
  syscall(SYS_umask, plan.setting.umask);
  if (syscall(SYS_chdir, plan.cwd) != 0) leave(plan, Step::folder);
  follow_parent(plan);
  const unsigned long no_signals = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, 8);
  run_program(plan);
  return 127;
}

// A stack for the child with the report at its lower end. Shared, so that the report also arrives
// if memory is not borrowed.
class ChildMemory {
 public:
  static Result<ChildMemory> create() {
    void* memory = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return system_failure("make a stack");
    return ChildMemory(memory);
  }
  ChildMemory(ChildMemory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  ChildMemory& operator=(ChildMemory&&) = delete;
  ~ChildMemory() {
    if (memory_ != nullptr) munmap(memory_, stack_bytes);
  }
  Report* report() const { return static_cast<Report*>(memory_); }
  void* stack_top() const { return static_cast<char*>(memory_) + stack_bytes; }

 private:
  explicit ChildMemory(void* memory) : memory_(memory) { new (memory) Report; }
  void* memory_;
};

// None of our handlers may run in the child while it shares our memory.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before_) == 0);
  }
  ~SignalsBlocked() { CHECK(pthread_sigmask(SIG_SETMASK, &before_, nullptr) == 0); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

Result<> check_spec(const SpawnSpec& spec) {
  if (spec.command.empty() || spec.command[0].empty()) {
    return fail(Code::invalid_argument, "no program is named");
  }
  if (!spec.cwd.starts_with('/')) {
    return fail(Code::invalid_argument, "not an absolute folder: '" + spec.cwd + "'");
  }
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  if (std::ranges::any_of(spec.command, has_nul) || has_nul(spec.cwd) ||
      std::ranges::any_of(spec.environment, has_nul)) {
    return fail(Code::invalid_argument, "a NUL in the command, its folder or its environment");
  }
  const auto has_name = [](const std::string& entry) { return entry.find('=') + 1 > 1; };
  if (!std::ranges::all_of(spec.environment, has_name)) {
    return fail(Code::invalid_argument, "an environment entry that is not NAME=value");
  }
  return {};
}

// Candidate paths, in order. As in a shell, an empty part of PATH is the child's folder.
std::vector<std::string> programs_of(const SpawnSpec& spec) {
  const std::string& name = spec.command[0];
  if (name.find('/') != name.npos) return {name};
  std::string_view path = default_path;
  for (const std::string& entry : spec.environment) {
    if (entry.starts_with("PATH=")) path = std::string_view(entry).substr(5);
  }
  std::vector<std::string> programs;
  while (true) {
    const std::size_t end = std::min(path.find(':'), path.size());
    std::string program(path.substr(0, end));
    program += program.empty() ? "./" : "/";
    programs.push_back(program + name);
    if (end == path.size()) return programs;
    path.remove_prefix(end + 1);
  }
}

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Error report_error(const Report& report, const SpawnSpec& spec) {
  const std::string run = "run " + spec.command[0];
  switch (report.step) {
    case Step::none: break;
    case Step::folder:
      if (report.error == ENOENT || report.error == ENOTDIR) {
        return Error(Code::invalid_argument, "no such folder: " + spec.cwd);
      }
      return system_error(report.error, "enter folder " + spec.cwd);
    case Step::session: return system_error(report.error, run + ": make a session");
    case Step::stdio: return system_error(report.error, run + ": connect its stdio");
    case Step::terminal: return system_error(report.error, run + ": take the terminal");
    case Step::cgroup: return system_error(report.error, run + ": enter its control group");
    case Step::parent: return system_error(report.error, run + ": bind it to this process");
    case Step::program: return system_error(report.error, run);
  }
  CHECK(false, "a child without a report");
}

#if __has_feature(thread_sanitizer)
constexpr int borrow_memory = 0;  // its interceptor of clone expects separate memory
#else
constexpr int borrow_memory = CLONE_VM;
#endif

}  // namespace

Result<SpawnedChild> spawn_child(const SpawnSpec& spec, const SpawnStdio& stdio,
                                 const SpawnSetting& setting) {
  TRY_VOID(check_spec(spec));
  const std::vector<std::string> programs = programs_of(spec);
  const std::vector<char*> program_pointers = pointers_to(programs);
  const std::vector<char*> arguments = pointers_to(spec.command);
  const std::vector<char*> environment = pointers_to(spec.environment);
  const ChildMemory memory = TRY(ChildMemory::create());
  ChildPlan plan{.report = memory.report(),
                 .stdio = stdio,
                 .setting = setting,
                 .terminal = spec.terminal.has_value(),
                 .parent = getpid(),
                 .cgroups = setting.cgroup_members.data(),
                 .cgroup_count = setting.cgroup_members.size(),
                 .cwd = spec.cwd.c_str(),
                 .arguments = arguments.data(),
                 .environment = environment.data(),
                 .programs = program_pointers.data()};
  int pidfd = -1;
  pid_t pid = 0;
  {
    const SignalsBlocked blocked;
    // Returns only after the child has exec'd or ended.
    const int flags = borrow_memory | CLONE_VFORK | CLONE_PIDFD | SIGCHLD;
    pid = clone(child_main, memory.stack_top(), flags, &plan, &pidfd);
    if (pid < 0) return system_failure("start a process");
  }
  SpawnedChild child{pid, Fd(pidfd)};
  if (memory.report()->step == Step::none) return child;
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED) != 0 && errno == EINTR) {}
  return std::unexpected(report_error(*memory.report(), spec));
}

}  // namespace perdure
