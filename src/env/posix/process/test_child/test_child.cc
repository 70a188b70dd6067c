// The child of this folder's tests: its first argument selects its behaviour. Even if the test
// fails, it and its own children end after a minute.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/process/detach.h"

extern char** environ;

namespace {

using perdure::detach;
using perdure::DetachSetting;

constexpr unsigned life_s = 60;

void say(const std::string& text) {
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(90);
}

[[noreturn]] void rest() {
  while (true) pause();
}

int echo(int, char**) {
  char bytes[65536];
  ssize_t got = 0;
  while ((got = read(STDIN_FILENO, bytes, sizeof bytes)) > 0) {
    say({bytes, static_cast<std::size_t>(got)});
  }
  return 0;
}

int talk(int, char** arguments) {
  say(arguments[0]);
  if (write(STDERR_FILENO, arguments[1], std::strlen(arguments[1])) < 0) return 90;
  return std::atoi(arguments[2]);
}

int flood(int, char** arguments) {
  const std::string block(65536, 'x');
  for (long left = std::atol(arguments[0]); left > 0; left -= static_cast<long>(block.size())) {
    say(block.substr(0, std::min(block.size(), static_cast<std::size_t>(left))));
  }
  return 0;
}

int idle(int, char**) {
  say("ready\n");
  rest();
}

int stubborn(int, char**) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) signal(number, SIG_IGN);
  say("ready\n");
  rest();
}

// Everything that a child inherits, one fact per line.
int tell(int, char**) {
  for (char** entry = environ; *entry != nullptr; ++entry) say("env " + std::string(*entry) + "\n");
  char folder[4096];
  say("cwd " + std::string(getcwd(folder, sizeof folder)) + "\n");
  say("session " + std::to_string(getsid(0) == getpid()) + "\n");
  say("group " + std::to_string(getpgid(0) == getpid()) + "\n");
  const mode_t mask = umask(0);
  say("umask " + std::to_string(mask) + "\n");
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0) say("fd " + std::to_string(descriptor) + "\n");
  }
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  for (int number = 1; number < 32; ++number) {
    struct sigaction action{};
    if (sigismember(&blocked, number) == 1) say("blocked " + std::to_string(number) + "\n");
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      say("ignored " + std::to_string(number) + "\n");
    }
  }
  return 0;
}

// A grandchild in its own session; `stay`: the child waits, `leave`: it ends and orphans it.
int away(int, char** arguments) {
  if (fork() == 0) {
    setsid();
    alarm(life_s);
    say(std::to_string(getpid()) + "\n");
    rest();
  }
  if (std::string_view(arguments[0]) == "stay") rest();
  return 0;
}

// As above, but the grandchild's first thread exits: /proc shows a zombie although it still runs.
int headless(int, char**) {
  if (fork() == 0) {
    setsid();
    alarm(life_s);
    pthread_t thread;
    const auto body = [](void*) -> void* {
      say(std::to_string(getpid()) + "\n");
      rest();
    };
    if (pthread_create(&thread, nullptr, body, nullptr) != 0) _exit(91);
    pthread_exit(nullptr);
  }
  return 0;
}

// A grandchild that ends at SIGUSR1, after its parent has ended: an orphan to be reaped.
int orphan(int, char**) {
  const pid_t grandchild = fork();
  if (grandchild == 0) {
    alarm(life_s);
    rest();
  }
  say(std::to_string(grandchild) + "\n");
  return 0;
}

// A grandchild that keeps the pipes open; `quiet`, or writing endlessly.
int hold(int, char** arguments) {
  say("mine");
  if (fork() == 0) {
    alarm(life_s);
    while (std::string_view(arguments[0]) == "loud") say(std::string(4096, 'g'));
    rest();
  }
  return 3;
}

// For each letter on stdin, starts a sleeper and prints its pid: `b` below us, `a` in its own
// session, `l` the same, orphaned by its parent; `d` two levels deep, and prints the upper one's.
int nursery(int, char**) {
  signal(SIGCHLD, SIG_IGN);
  say("ready\n");
  for (char how = 0; read(STDIN_FILENO, &how, 1) == 1;) {
    if (fork() != 0) continue;
    if (how != 'b' && how != 'd') setsid();
    if (how == 'l' && fork() != 0) _exit(0);
    if (how == 'd' && fork() == 0) {
      signal(SIGTERM, SIG_IGN);
      say(std::to_string(getpid()) + "\n");
      alarm(life_s);
      rest();
    }
    alarm(life_s);
    if (how == 'l') {
      // Prints its pid only after it was reparented.
      while (getppid() == getpgrp()) usleep(1000);
    }
    say(std::to_string(getpid()) + "\n");
    rest();
  }
  return 0;
}

// When a byte arrives, allocates far more memory than a test's group has.
int eat(int, char**) {
  say("ready\n");
  char told = 0;
  if (read(STDIN_FILENO, &told, 1) != 1) return 90;
  constexpr std::size_t piece = 1UL << 20;
  for (int i = 0; i < 256; ++i) {
    auto* const taken = static_cast<volatile char*>(std::malloc(piece));
    if (taken == nullptr) return 97;
    for (std::size_t at = 0; at < piece; at += 4096) taken[at] = 1;
  }
  return 98;
}

int die(int, char** arguments) {
  raise(std::atoi(arguments[0]));
  return 92;
}

int terminal(int, char**) {
  // Blocked except during the wait, so that no resize is missed.
  sigset_t resized;
  sigset_t none;
  sigemptyset(&none);
  sigemptyset(&resized);
  sigaddset(&resized, SIGWINCH);
  sigprocmask(SIG_BLOCK, &resized, nullptr);
  signal(SIGWINCH, [](int) {});
  say("tty " + std::to_string(isatty(0) && isatty(1) && isatty(2)) + " foreground " +
      std::to_string(tcgetpgrp(0) == getpid()) + "\n");
  while (true) {
    winsize size{};
    ioctl(0, TIOCGWINSZ, &size);
    say("size " + std::to_string(size.ws_col) + "x" + std::to_string(size.ws_row) + "\n");
    pollfd input{.fd = 0, .events = POLLIN};
    while (ppoll(&input, 1, nullptr, &none) > 0) {
      char line[256];
      if (read(0, line, sizeof line) <= 0) return 0;  // the end of transmission was typed
    }
  }
}

// Detaches; then answers with its new properties, refuses, ends before that, or is late.
int go(int, char** arguments) {
  const std::string_view how = arguments[0];
  DetachSetting setting;
  if (how == "late") setting.answer_ms = 50;
  if (how == "refuse") setting.refusal_descriptor = STDERR_FILENO;
  auto detached = detach(setting);
  if (!detached) return 93;
  alarm(life_s);
  if (how == "die") return 0;
  if (how == "refuse") {
    detached->refuse("no\n");
    return 0;
  }
  if (how == "late") {
    // The starter ends first; our answer must then fail, which removing the file shows.
    while (access(arguments[1], F_OK) != 0) usleep(1000);
    const auto answered = detached->answer("too late");
    return !answered && unlink(arguments[1]) == 0 ? 0 : 94;
  }
  char folder[4096];
  char target[256] = {};
  if (readlink("/proc/self/fd/1", target, sizeof target - 1) < 0) return 95;
  int descriptors = 0;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    descriptors += fcntl(descriptor, F_GETFD) >= 0 ? 1 : 0;
  }
  const bool terminal_free = open("/dev/tty", O_RDWR | O_CLOEXEC) < 0;
  const mode_t mask = umask(077);
  const auto answered = detached->answer(
      std::to_string(getpid()) + " leader " + std::to_string(getsid(0) == getpid()) + " cwd " +
      getcwd(folder, sizeof folder) + " stdout " + target + " fds " + std::to_string(descriptors) +
      " umask " + std::to_string(mask) + " before " + std::to_string(detached->umask_before()) +
      " tty " + std::to_string(!terminal_free) + "\n");
  if (!answered) return 96;
  rest();
}

}  // namespace

int main(int count, char** arguments) {
  alarm(life_s);
  const std::map<std::string_view, int (*)(int, char**)> roles = {
      {"echo", echo}, {"talk", talk},         {"flood", flood}, {"idle", idle},
      {"tell", tell}, {"stubborn", stubborn}, {"away", away},   {"headless", headless},
      {"hold", hold}, {"orphan", orphan},     {"die", die},     {"terminal", terminal},
      {"detach", go}, {"nursery", nursery},   {"eat", eat}};
  const auto role = count > 1 ? roles.find(arguments[1]) : roles.end();
  if (role == roles.end()) return 99;
  return role->second(count - 2, arguments + 2);
}
