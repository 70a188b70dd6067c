// The cost of an idle supervisor: a static program with a loop, one folder, one listener and one
// child, which prints its private memory.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "env/posix/files/fd.h"
#include "env/posix/files/folder.h"
#include "env/posix/loop/loop.h"
#include "env/posix/loop/unix_link.h"
#include "env/posix/process/processes.h"

namespace perdure {
namespace {

struct Nothing final : ProcessEvents {
  void on_output(std::string_view bytes) override { received += bytes.size(); }
  void on_error_output(std::string_view) override {}
  void on_output_end() override {}
  void on_exit(const ProcessExit&) override {}
  std::size_t received = 0;
};

// The sum of the lines of smaps_rollup that begin with this word, in KiB.
long memory_kib(std::string_view word) {
  const std::string text = read_small_file("/proc/self/smaps_rollup").value_or("");
  long sum = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    sum += std::atol(text.c_str() + text.find(':', at) + 1);
  }
  return sum;
}

int measure(const std::string& path) {
  const auto loop = EpollLoop::create().value();
  const auto folder = PosixFolder::create(path).value();
  const auto processes = PosixProcesses::create(*loop);
  const auto listener = UnixListener::listen(*loop, *folder, "idle.sock", [](auto) {}).value();
  Nothing events;
  const auto process = processes->spawn({.command = {"cat"}, .cwd = "/"}, events).value();
  // Work briefly, so that the buffers are in use.
  const std::string piece(16UL << 10, 'x');
  for (std::size_t sent = 0; sent < (1UL << 20); sent += piece.size()) {
    process->write(piece);
    while (events.received < sent + piece.size()) loop->pump_for_ms(1000);
  }
  std::printf("private: %ld KiB written, %ld KiB of the program's file; rss %ld KiB\n",
              memory_kib("Private_Dirty"), memory_kib("Private_Clean"), memory_kib("Rss"));
  return 0;
}

}  // namespace
}  // namespace perdure

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: perdure-bench-idle FOLDER\n");
    return 2;
  }
  return perdure::measure(arguments[1]);
}
