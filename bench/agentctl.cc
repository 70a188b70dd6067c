// The cost of an agentctl: latency from the agent's stdout to an attached reader, compared with a
// raw pipe relayed by one process; frames and bytes per second through the spool; memory when idle.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/limits.h"
#include "driver.h"

namespace perdure {
namespace {

long long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

double quantile_us(std::vector<long long> values, double part) {
  std::ranges::sort(values);
  return static_cast<double>(
             values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))]) /
         1000.0;
}

struct Place {
  std::string folder;
  Place() {
    std::string name = std::filesystem::temp_directory_path() / "perdure-bench-XXXXXX";
    CHECK(mkdtemp(name.data()) != nullptr);
    folder = name;
    prepare_folder(folder);
  }
  ~Place() { std::filesystem::remove_all(folder); }
};

DriverSetup bench_setup(const Place& place, const std::string& programs) {
  return {.folder = place.folder,
          .agentctl = programs + "/perdure-agentctl",
          .agent_command = {programs + "/bench/perdure-bench-agent"}};
}

std::vector<long long> agentctl_latency(const std::string& programs, int count) {
  Place place;
  Driver driver(bench_setup(place, programs));
  driver.start();
  CHECK(driver.open_session());
  std::vector<long long> seen;
  driver.on_each = [&](const Frame& frame) {
    if (const auto* message = get_if<MessageAgent>(&frame.body)) {
      seen.push_back(now_ns() - std::atoll(message->text.c_str()));
    }
  };
  CHECK(driver.run(std::to_string(count) + " 500"));
  driver.stop();
  CHECK(driver.until_gone());
  return seen;
}

// writer -> pipe -> relay process -> pipe -> us, with lines of about the same length.
std::vector<long long> raw_latency(int count) {
  int first[2];
  int second[2];
  CHECK(pipe(first) == 0 && pipe(second) == 0);
  const pid_t writer = fork();
  if (writer == 0) {
    for (int i = 0; i < count; ++i) {
      std::string line = std::to_string(now_ns());
      line.resize(190, 'x');
      line += '\n';
      if (write(first[1], line.data(), line.size()) < 0) _exit(1);
      usleep(500);
    }
    _exit(0);
  }
  const pid_t relay = fork();
  if (relay == 0) {
    close(first[1]);
    char buffer[65536];
    ssize_t got = 0;
    while ((got = read(first[0], buffer, sizeof buffer)) > 0) {
      if (write(second[1], buffer, static_cast<std::size_t>(got)) < 0) _exit(1);
    }
    _exit(0);
  }
  close(first[0]);
  close(first[1]);
  close(second[1]);
  std::vector<long long> seen;
  std::string text;
  char buffer[65536];
  ssize_t got = 0;
  while ((got = read(second[0], buffer, sizeof buffer)) > 0) {
    const long long now = now_ns();
    text.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
      seen.push_back(now - std::atoll(text.c_str()));
      text.erase(0, end + 1);
    }
  }
  close(second[0]);
  waitpid(writer, nullptr, 0);
  waitpid(relay, nullptr, 0);
  return seen;
}

void measure_latency(const std::string& programs) {
  std::printf("latency, agent's stdout to reader (one small message every 500 us)\n");
  std::vector<double> ratios;
  for (int round = 0; round < 5; ++round) {
    const auto raw = raw_latency(2'000);
    const auto ours = agentctl_latency(programs, 2'000);
    ratios.push_back(quantile_us(ours, 0.5) / quantile_us(raw, 0.5));
    std::printf(
        "  raw relay p50 %6.1f us p99 %7.1f us | agentctl p50 %6.1f us p99 %7.1f us | %.2f\n",
        quantile_us(raw, 0.5), quantile_us(raw, 0.99), quantile_us(ours, 0.5),
        quantile_us(ours, 0.99), ratios.back());
  }
  std::ranges::sort(ratios);
  std::printf("  median ratio of p50: %.2f\n", ratios[ratios.size() / 2]);
}

void measure_throughput(const std::string& programs) {
  std::printf("throughput, small frames through the spool to a reader that acks each\n");
  constexpr int count = 300'000;
  for (int round = 0; round < 3; ++round) {
    Place place;
    Driver driver(bench_setup(place, programs));
    driver.start();
    CHECK(driver.open_session());
    std::size_t bytes = 0;
    const long long began = now_ns();
    driver.prompt(std::to_string(count) + " 0");
    bool ended = false;
    driver.on_each = [&](const Frame& frame) {
      ended = ended || holds_alternative<FrameRunFinished>(frame.body);
      if (const auto* message = get_if<MessageAgent>(&frame.body)) {
        bytes += message->update.text.size();
      }
    };
    CHECK(driver.until([&] { return ended; }, 120'000));
    const double seconds = static_cast<double>(now_ns() - began) / 1e9;
    std::printf("  %.0f frames/s, %.1f MB/s of updates\n", count / seconds,
                static_cast<double>(bytes) / 1e6 / seconds);
    driver.stop();
    CHECK(driver.until_gone());
  }
}

long memory_kib(std::int64_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  std::string word;
  while (file >> word) {
    if (word == name + ":") {
      long value = 0;
      file >> value;
      return value;
    }
  }
  return -1;
}

void measure_memory(const std::string& programs, int count) {
  std::vector<std::unique_ptr<Place>> places;
  std::vector<std::unique_ptr<Driver>> drivers;
  long dirty = 0;
  long clean = 0;
  long pss = 0;
  long most = 0;
  for (int i = 0; i < count; ++i) {
    places.push_back(std::make_unique<Place>());
    DriverSetup setup = bench_setup(*places.back(), programs);
    setup.agent_command = {programs + "/perdure-testagent", "--home",
                           places.back()->folder + "/agent"};
    drivers.push_back(std::make_unique<Driver>(setup));
    drivers.back()->start();
    CHECK(drivers.back()->open_session());
    CHECK(drivers.back()->run("say 3"));
  }
  // Idle means unused for some seconds.
  std::this_thread::sleep_for(std::chrono::seconds(4));
  for (const auto& driver : drivers) {
    const std::int64_t pid = driver->attaches.back().pid;
    const long own = memory_kib(pid, "Private_Dirty") + memory_kib(pid, "Private_Clean");
    dirty += memory_kib(pid, "Private_Dirty");
    clean += memory_kib(pid, "Private_Clean");
    pss += memory_kib(pid, "Pss");
    most = std::max(most, own);
  }
  std::printf("memory of %d idle agentctl(s) with the test agent, after a turn\n", count);
  std::printf(
      "  private dirty %ld KiB, private clean %ld KiB, together Pss %ld KiB;"
      " most private of one %ld KiB\n",
      dirty, clean, pss, most);
  for (const auto& driver : drivers) driver->stop();
  for (const auto& driver : drivers) CHECK(driver->until_gone());
}

std::uintmax_t folder_bytes(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) bytes += file.file_size();
  return bytes;
}

// A GiB of agent text without an attached reader: the memory and disk it takes, and whether a later
// reader gets all of it.
void measure_flood(const std::string& programs) {
  Place place;
  DriverSetup setup = bench_setup(place, programs);
  setup.agent_command = {programs + "/perdure-testagent", "--home", place.folder + "/agent"};
  auto driver = std::make_unique<Driver>(setup);
  driver->start();
  CHECK(driver->open_session());
  const std::int64_t pid = driver->attaches.back().pid;
  const std::string spool = driver->bootstrap().spool_folder;
  const long before_kib = memory_kib(pid, "Rss");
  driver->prompt("flood 1073741824");
  CHECK(driver->until([&] { return driver->acted == 3; }));
  const FrameNo last = driver->frames.back().number;
  driver.reset();
  std::uintmax_t bytes = 0;
  for (int still = 0; still < 30;) {
    usleep(100'000);
    const std::uintmax_t now = folder_bytes(spool);
    still = now == bytes ? still + 1 : 0;
    bytes = now;
  }
  std::printf("a flood of 1 GiB, nobody attached\n");
  std::printf("  spool %.1f MiB (limit %.0f), resident %ld KiB, before %ld KiB\n",
              static_cast<double>(bytes) / 1048576.0,
              static_cast<double>(spool_bytes_max) / 1048576.0, memory_kib(pid, "Rss"), before_kib);
  Driver reader(setup);
  std::uint64_t chunks = 0;
  std::uint64_t text = 0;
  bool ended = false;
  reader.on_each = [&](const Frame& frame) {
    ended = ended || holds_alternative<FrameRunFinished>(frame.body);
    const auto* message = get_if<MessageAgent>(&frame.body);
    if (message && !message->text.starts_with("<p1:end=")) {
      CHECK(message->text.starts_with("<p1:" + std::to_string(++chunks) + ">"));
    }
    if (message) text += message->text.size();
    if (reader.frames.size() > 1) reader.frames.erase(reader.frames.begin());
  };
  reader.execution().attach(2, last);
  CHECK(reader.until([&] { return ended; }, 300'000));
  std::printf("  then read whole: %lu chunks in order, %lu bytes of text; resident %ld KiB\n",
              static_cast<unsigned long>(chunks), static_cast<unsigned long>(text),
              memory_kib(pid, "Rss"));
  reader.stop();
  CHECK(reader.until_gone());
}

}  // namespace
}  // namespace perdure

int main(int argc, char** argv) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string programs = std::filesystem::path(self).parent_path().parent_path();
  const std::string what = argc > 1 ? argv[1] : "all";
  if (what == "all" || what == "latency") perdure::measure_latency(programs);
  if (what == "all" || what == "throughput") perdure::measure_throughput(programs);
  if (what == "all" || what == "flood") perdure::measure_flood(programs);
  if (what == "all" || what == "memory") {
    perdure::measure_memory(programs, 1);
    perdure::measure_memory(programs, 50);
  }
}
