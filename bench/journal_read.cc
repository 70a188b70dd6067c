// Costs that must not grow. First, the last 200 records of a session with 1,000,000 records against
// those of one with 1,000, in one store where both end in the same stretch of the log, in turns,
// and neither at its end; the store is opened anew for each read. Times of cold reads are as noisy
// as the disk, so the reads themselves are counted too. Second, what a boot does (open,
// open_sessions, head, snapshot, last records) for 100 open sessions among 100,000 stored against
// among 1,000.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>

#include "bench_tools.h"

namespace perdure::bench {
namespace {

constexpr std::size_t record_bytes = 300;
constexpr std::size_t others =
    9;  // records of other sessions in each commit of the session measured

SessionId session(std::uint64_t number) { return SessionId(Ulid{1, number}); }

std::size_t resident_kib() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

void must(const Result<>& result) {
  if (!result) check_failed("append", 0, result.error().message().c_str());
}

void commit_all(SqliteStore& store) {
  while (store.step()) {}
}

// Every commit has one record of the session and one each of some others, 100 commits a group: as
// many as arrive during an fsync under load.
void grow(SqliteStore& store, std::uint64_t number, std::size_t records, std::vector<Seq>& heads) {
  for (std::size_t i = 0; i < records; ++i) {
    const auto add = [&](std::uint64_t to) {
      Append batch{.session = session(to), .epoch = store.epoch(), .expected_head = heads[to]++};
      batch.records.emplace_back(record_bytes, static_cast<char>('a' + to % 26));
      store.append(std::move(batch), must);
    };
    add(number);
    for (std::uint64_t other = 0; other < others; ++other) add(10 + (i * others + other) % 990);
    if (i % 100 == 99 || i + 1 == records) commit_all(store);
  }
}

// Drops the file from the page cache, as after a reboot.
void make_cold(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  CHECK(file >= 0 && ::fsync(file) == 0);
  CHECK(::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0);
  ::close(file);
}

// What this process has read so far.
struct ReadCount {
  std::uint64_t calls = 0;
  std::uint64_t disk_bytes = 0;  // with what the kernel read ahead

  static ReadCount now() {
    ReadCount out;
    std::ifstream file("/proc/self/io");
    std::string name;
    std::uint64_t value = 0;
    while (file >> name >> value) {
      if (name == "syscr:") out.calls = value;
      if (name == "read_bytes:") out.disk_bytes = value;
    }
    return out;
  }
};

struct TailFigures {
  std::vector<double> open_seconds;
  std::vector<double> read_seconds;
  std::vector<double> read_calls;
  std::vector<double> disk_kib;
  std::size_t growth_kib = 0;
};

struct Tail {
  std::uint64_t number = 0;
  Seq head = 0;
};
enum class Cache { warm, cold };

// A cold read finds nothing of what the opening before it has read.
void read_tail(const SqliteOptions& options, const Tail& tail, Cache cache, TailFigures& out) {
  if (cache == Cache::cold) make_cold(options.path);
  const double start = seconds();
  const std::unique_ptr<SqliteStore> store = open_store(options);
  const double opened = seconds();
  if (cache == Cache::cold) make_cold(options.path);
  const std::size_t before_kib = resident_kib();
  const ReadCount before = ReadCount::now();
  const double begun = seconds();
  const auto page = store->read(session(tail.number), {.after = tail.head - 200, .limit = 200});
  const double done = seconds();
  const ReadCount after = ReadCount::now();
  CHECK(page && page->records.size() == 200 && page->first == tail.head - 199);
  out.open_seconds.push_back(opened - start);
  out.read_seconds.push_back(done - begun);
  out.read_calls.push_back(static_cast<double>(after.calls - before.calls));
  out.disk_kib.push_back(static_cast<double>(after.disk_bytes - before.disk_bytes) / 1024);
  out.growth_kib = std::max(out.growth_kib, resident_kib() - std::min(before_kib, resident_kib()));
}

// Each round reads both, in an order that changes, so that neither gains from being second.
void read_tails(const SqliteOptions& options, Cache cache, int rounds,
                std::vector<std::pair<Tail, TailFigures*>> tails) {
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [tail, figures] : tails) read_tail(options, tail, cache, *figures);
    std::ranges::reverse(tails);
  }
}

// Both sessions' last `few` records are written in turns, a hundred commits each, and others
// follow.
void fill_tails(const SqliteOptions& options, std::size_t many, std::size_t few) {
  std::vector<Seq> heads(1001);
  const std::unique_ptr<SqliteStore> store = open_store(options);
  grow(*store, 1, many - few, heads);
  for (std::size_t done = 0; done < few; done += 100) {
    grow(*store, 1, 100, heads);
    grow(*store, 2, 100, heads);
  }
  grow(*store, 3, 1000, heads);
  must(store->shut_down());
}

void tails(const Arguments& arguments) {
  const Scratch scratch(arguments.dir);
  SqliteOptions options;
  options.path = scratch.file("journal.db");
  const std::size_t many = arguments.quick ? 100'000 : 1'000'000;
  constexpr std::size_t few = 1000;
  fill_tails(options, many, few);
  TailFigures of_many, of_few, cold_many, cold_few;
  const int rounds = arguments.quick ? 20 : 100;
  read_tails(options, Cache::warm, rounds, {{{1, many}, &of_many}, {{2, few}, &of_few}});
  read_tails(options, Cache::cold, rounds, {{{1, many}, &cold_many}, {{2, few}, &cold_few}});
  fmt::print(
      "\nlast 200 records, store opened anew each time, file of {} MB; medians of {} rounds\n"
      "  {:<24} {:>8}  {:>8}  {:>8}  {:>10}  {:>10}\n",
      fs::file_size(options.path) / 1'000'000, rounds, "", "open ms", "read ms", "reads",
      "from disk", "RSS growth");
  const auto line = [](const std::string& name, const TailFigures& figures) {
    fmt::print("  {:<24} {:>8.2f}  {:>8.2f}  {:>8.0f}  {:>6.0f} KiB  {:>6} KiB\n", name,
               1e3 * median(figures.open_seconds), 1e3 * median(figures.read_seconds),
               median(figures.read_calls), median(figures.disk_kib), figures.growth_kib);
  };
  line(fmt::format("{} records", few), of_few);
  line(fmt::format("{} records", many), of_many);
  line(fmt::format("{}, cold cache", few), cold_few);
  line(fmt::format("{}, cold cache", many), cold_many);
  const auto ratio = [](const std::vector<double>& large, const std::vector<double>& small) {
    return median(large) / median(small);
  };
  fmt::print(
      "  ratio of reads {:.2f}, cold {:.2f} (at most 1.5 wanted), cold at the fastest quarter "
      "{:.2f}, bytes from disk {:.2f}; resident {} MiB\n",
      ratio(of_many.read_seconds, of_few.read_seconds),
      ratio(cold_many.read_seconds, cold_few.read_seconds),
      quantile(cold_many.read_seconds, 0.25) / quantile(cold_few.read_seconds, 0.25),
      ratio(cold_many.disk_kib, cold_few.disk_kib), resident_kib() / 1024);
}

void fill(const SqliteOptions& options, std::size_t stored) {
  const std::unique_ptr<SqliteStore> store = open_store(options);
  const std::string summary(600, 's');
  const std::string snapshot(2000, 'z');
  for (std::uint64_t number = 1; number <= stored; ++number) {
    Append batch{.session = session(number), .epoch = store->epoch()};
    batch.records.assign(20, std::string(record_bytes, 'r'));
    batch.snapshot = snapshot;
    batch.listing = Listing{.open = number % (stored / 100) == 0, .summary = summary};
    store->append(std::move(batch), must);
    if (number % 1000 == 0) commit_all(*store);
  }
  must(store->shut_down());
}

double boot(const SqliteOptions& options) {
  const double start = seconds();
  const std::unique_ptr<SqliteStore> store = open_store(options);
  const auto open = store->open_sessions();
  CHECK(open && open->size() == 100);
  for (const SessionId& id : *open) {
    const auto head = store->head(id);
    CHECK(head && head->seq == 20 && store->snapshot(id)->has_value() && store->outbox(id));
    const auto page = store->read(id, {.after = head->seq - 10, .limit = 10});
    CHECK(page && page->records.size() == 10);
  }
  return seconds() - start;
}

void boots(const Arguments& arguments) {
  const Scratch scratch(arguments.dir);
  SqliteOptions small;
  small.path = scratch.file("small.db");
  SqliteOptions large;
  large.path = scratch.file("large.db");
  const std::size_t many = arguments.quick ? 20'000 : 100'000;
  fill(small, 1000);
  fill(large, many);
  std::vector<double> of_small, of_large;
  for (int round = 0; round < (arguments.quick ? 5 : 15); ++round) {
    of_small.push_back(boot(small));
    of_large.push_back(boot(large));
  }
  fmt::print(
      "\nboot with 100 open sessions: open, list them, head, snapshot, outbox, last 10 records\n"
      "  among {:>7} stored {:>9.2f} ms\n  among {:>7} stored {:>9.2f} ms\n"
      "  ratio {:.2f} (at most 2 wanted)\n",
      1000, 1e3 * median(of_small), many, 1e3 * median(of_large),
      median(of_large) / median(of_small));
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  using namespace perdure::bench;
  const Arguments arguments = Arguments::parse(argc, argv);
  tails(arguments);
  boots(arguments);
  return 0;
}
