// The cost of children: starting one from a small and from a large process, and a round trip of one
// line through its pipes. Prints a table; use the figures of the release preset.
#include "env/posix/process/processes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "env/posix/loop/loop.h"

namespace perdure {
namespace {

using SteadyClock = std::chrono::steady_clock;

double since_us(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::micro>(SteadyClock::now() - start).count();
}

struct Listener final : ProcessEvents {
  void on_output(std::string_view bytes) override { received += bytes.size(); }
  void on_error_output(std::string_view) override {}
  void on_output_end() override {}
  void on_exit(const ProcessExit&) override { ended = true; }
  std::size_t received = 0;
  bool ended = false;
};

void print(const char* what, std::vector<double> times_us) {
  std::ranges::sort(times_us);
  const auto at = [&](double share) {
    return times_us[static_cast<std::size_t>(share * static_cast<double>(times_us.size() - 1))];
  };
  std::printf("%-44s p50 %8.1f us   p99 %8.1f us\n", what, at(0.5), at(0.99));
}

SpawnSpec program(const char* name) { return {.command = {name}, .cwd = "/"}; }

void measure_spawn(EpollLoop& loop, Processes& processes, const char* what) {
  std::vector<double> call_us;
  std::vector<double> life_us;
  for (int i = 0; i < 500; ++i) {
    Listener listener;
    const auto start = SteadyClock::now();
    const auto process = processes.spawn(program("true"), listener).value();
    call_us.push_back(since_us(start));
    while (!listener.ended) loop.pump_for_ms(1000);
    life_us.push_back(since_us(start));
  }
  print((std::string("spawn, ") + what).c_str(), call_us);
  print((std::string("spawn to exit told, ") + what).c_str(), life_us);
}

void measure_echo(EpollLoop& loop, Processes& processes) {
  Listener listener;
  const auto process = processes.spawn(program("cat"), listener).value();
  const std::string line(200, 'x');
  std::vector<double> times_us;
  for (std::size_t i = 1; i <= 5000; ++i) {
    const auto start = SteadyClock::now();
    process->write(line);
    while (listener.received < i * line.size()) loop.pump_for_ms(1000);
    times_us.push_back(since_us(start));
  }
  print("200 bytes through cat and back", times_us);
}

int measure() {
  const auto loop = EpollLoop::create().value();
  const auto processes = PosixProcesses::create(*loop);
  measure_spawn(*loop, *processes, "small process");
  constexpr std::size_t large_bytes = 1UL << 30;
  const auto large = std::make_unique_for_overwrite<char[]>(large_bytes);
  std::memset(large.get(), 1, large_bytes);
  measure_spawn(*loop, *processes, "1 GiB in memory");
  measure_echo(*loop, *processes);
  return 0;
}

}  // namespace
}  // namespace perdure

int main() { return perdure::measure(); }
