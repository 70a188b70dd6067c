#include "perdure/verbs/call/cli.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/limits.h"
#include "perdure/verbs/attach/attach.h"
#include "perdure/verbs/attach/terminal.h"
#include "perdure/verbs/call/world.h"

namespace perdure::cli {
namespace {

std::optional<std::string> variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

class RealConsole final : public Console {
 public:
  void out(std::string_view text) override { write_all(STDOUT_FILENO, text); }
  void err(std::string_view text) override { write_all(STDERR_FILENO, text); }
  bool is_interactive() override {
    return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
  }
  bool is_output_terminal() override { return ::isatty(STDOUT_FILENO) != 0; }
  Style style() override {
    const bool wants_none = variable("NO_COLOR") || variable("TERM").value_or("") == "dumb";
    return ::isatty(STDOUT_FILENO) != 0 && !wants_none ? Style::coloured() : Style();
  }
  // A pipe has no width, and another program may read the whole line.
  ScreenSize size() override {
    if (::isatty(STDOUT_FILENO) != 0) return terminal_size();
    return {.cells = 200, .rows = 24};
  }

  Result<std::string> read_input() override {
    std::string text;
    std::array<char, 65536> bytes;
    while (true) {
      const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        return fail(Code::internal, std::string("read the input: ") + std::strerror(errno));
      }
      if (got == 0) break;
      text.append(bytes.data(), static_cast<std::size_t>(got));
      if (text.size() > input_bytes_max) {
        return fail(Code::limit_reached, "the input is too long");
      }
    }
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  std::optional<std::string> ask(std::string_view question) override {
    if (::isatty(STDIN_FILENO) == 0) return std::nullopt;
    err(question);
    std::string typed;
    char c = 0;
    while (::read(STDIN_FILENO, &c, 1) == 1 && c != '\n') typed += c;
    return typed;
  }
  void forget_typed() override { ::tcflush(STDIN_FILENO, TCIFLUSH); }
};

std::string current_folder() {
  std::array<char, 4096> path;
  const char* found = ::getcwd(path.data(), path.size());
  const std::string real = found == nullptr ? "/" : found;
  // $PWD keeps the symbolic links that the user took, if it names the same folder.
  const std::string named = variable("PWD").value_or("");
  struct stat a{};
  struct stat b{};
  const bool is_same = named.starts_with('/') && ::stat(named.c_str(), &a) == 0 &&
                       ::stat(real.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
                       a.st_ino == b.st_ino;
  return is_same ? named : real;
}

Timestamp wall_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(now).count()};
}

}  // namespace

int cli_main(int argc, char** argv, LocalVerbs local) {
  // If the reader closes the pipe, only the output ends; the process must not die in the middle of
  // a change.
  std::signal(SIGPIPE, SIG_IGN);
  RealConsole console;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const bool is_completing = !words.empty() && words[0] == "__complete";
  CliWorld world{.console = console,
                 .environment = variable,
                 .cwd = current_folder(),
                 .now = wall_now,
                 .connect =
                     [is_completing](client::ClientSettings settings) {
                       if (is_completing) settings.probe_ms = completion_ms;
                       return client::connect_daemon(std::move(settings));
                     },
                 .attach =
                     [&console](client::DaemonApi& api, const AttachTo& to) {
                       return attach_terminal(api, to, console.style());
                     },
                 .local = std::move(local)};
  return run_cli(world, words);
}

}  // namespace perdure::cli
