#include "daemon/launch/ssh.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/posix/files/fd.h"

extern char** environ;

namespace perdure {
namespace {

constexpr int exit_of_ssh = 255;
constexpr std::size_t output_bytes_max = 1UL << 20;

struct Spoken {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

// Takes the available bytes; false at the end.
bool drain(const Fd& from, std::string& into) {
  std::array<char, 4096> bytes;
  const ssize_t got = read(from.get(), bytes.data(), bytes.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  const std::size_t room = output_bytes_max - std::min(into.size(), output_bytes_max);
  into.append(bytes.data(), std::min(room, static_cast<std::size_t>(got)));
  return true;
}

// Writes and reads concurrently, so that neither side waits for the other.
Spoken talk(Pipe in, Pipe out, Pipe errors, std::string_view input) {
  Spoken said;
  in.read.reset();
  out.write.reset();
  errors.write.reset();
  (void)set_nonblocking(in.write);
  if (input.empty()) in.write.reset();
  bool has_output = true;
  bool has_errors = true;
  while (has_output || has_errors) {
    std::array<pollfd, 3> waits{pollfd{has_output ? out.read.get() : -1, POLLIN, 0},
                                pollfd{has_errors ? errors.read.get() : -1, POLLIN, 0},
                                pollfd{in.write ? in.write.get() : -1, POLLOUT, 0}};
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    if (waits[0].revents != 0) has_output = drain(out.read, said.output);
    if (waits[1].revents != 0) {
      const std::size_t before = said.errors.size();
      has_errors = drain(errors.read, said.errors);
      const std::string_view fresh = std::string_view(said.errors).substr(before);
      (void)!write(STDERR_FILENO, fresh.data(), fresh.size());
    }
    if (!in.write || waits[2].revents == 0) continue;
    const ssize_t sent = write(in.write.get(), input.data(), input.size());
    if (sent > 0) input.remove_prefix(static_cast<std::size_t>(sent));
    if (input.empty() || (sent < 0 && errno != EAGAIN && errno != EINTR)) in.write.reset();
  }
  return said;
}

Result<Spoken> run(const std::vector<std::string>& words, std::string_view input) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  Pipe in = TRY(make_pipe());
  Pipe out = TRY(make_pipe());
  Pipe errors = TRY(make_pipe());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, errors.write.get(), 2);
  pid_t child = 0;
  std::signal(SIGPIPE, SIG_IGN);
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return fail(Code::unavailable, "ssh cannot be started here (" +
                                       std::string(std::strerror(failed)) +
                                       "): install an ssh client");
  }
  Spoken said = talk(std::move(in), std::move(out), std::move(errors), input);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

std::string last_line(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::string advice(const std::string& errors) {
  if (errors.contains("Host key verification failed")) {
    return ". The host's key is not known here: connect once with ssh and confirm it, then try "
           "again";
  }
  if (errors.contains("Permission denied (")) {
    return ". The login is refused: does `ssh TARGET true` work?";
  }
  return "";
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

Result<std::string> run_ssh(const SshCommand& what) {
  std::vector<std::string> words{"ssh", "-T"};
  words.insert(words.end(), what.options.begin(), what.options.end());
  words.insert(words.end(), {"--", what.target, what.command});
  Spoken said = TRY(run(words, what.input));
  if (said.exit_code == 0) return std::move(said.output);
  const std::string why = last_line(said.errors);
  if (said.exit_code == exit_of_ssh) {
    return fail(Code::unavailable,
                "ssh does not get to " + what.target + ": " + why + advice(said.errors));
  }
  return fail(Code::internal, "on " + what.target + " a command ended with code " +
                                  std::to_string(said.exit_code) + ": " + why);
}

Result<std::string> ssh_host(const SshCommand& what) {
  std::vector<std::string> words{"ssh", "-G"};
  words.insert(words.end(), what.options.begin(), what.options.end());
  words.insert(words.end(), {"--", what.target});
  const Spoken said = TRY(run(words, {}));
  const std::string text = "\n" + said.output;
  constexpr std::string_view key = "\nhostname ";
  const std::size_t at = text.find(key);
  if (said.exit_code != 0 || at == std::string::npos) {
    return fail(Code::invalid_argument, "ssh does not know what " + what.target + " is");
  }
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace perdure
