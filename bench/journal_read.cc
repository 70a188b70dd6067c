// Costs that must not grow: reading the last 200 records of a session with 1,000,000 records,
// compared with one of 1,000. Both are in one store and end, interleaved, in the same part of the
// log, but not at its end; the store is reopened for each read. Times of cold reads are as noisy as
// the disk, so the reads themselves are counted too. The raw baseline, in the same rounds, is the
// minimum: the same bytes are contiguous in a plain file at a known place, while the store's are
// spread among those of nine other sessions.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bench_tools.h"
#include "read_tools.h"

namespace perdure::bench {
namespace {

constexpr std::size_t record_bytes = 300;
constexpr std::size_t tail_records = 200;
// Records of other sessions in each commit of the measured session.
constexpr std::size_t others = 9;

char letter(std::uint64_t number) { return static_cast<char>('a' + number % 26); }

void commit_all(SqliteStore& store) {
  while (store.step()) {}
}

// Every commit has one record of the session and one each of several others, 100 commits per group:
// as many as arrive during an fsync under load.
void grow(SqliteStore& store, std::uint64_t number, std::size_t records, std::vector<Seq>& heads) {
  for (std::size_t i = 0; i < records; ++i) {
    const auto add = [&](std::uint64_t to) {
      Append batch{.session = session(to), .epoch = store.epoch(), .expected_head = heads[to]++};
      batch.records.emplace_back(record_bytes, letter(to));
      store.append(std::move(batch), must);
    };
    add(number);
    for (std::uint64_t other = 0; other < others; ++other) add(10 + (i * others + other) % 990);
    if (i % 100 == 99 || i + 1 == records) commit_all(store);
  }
}

// A session's records, contiguous in a file of their own.
struct Tail {
  std::uint64_t number = 0;
  Seq head = 0;
  std::string plain;
};

struct TailFigures {
  std::vector<double> open_seconds;
  std::vector<double> read_seconds;
  std::vector<double> plain_seconds;
  std::vector<double> read_calls;
  std::vector<double> disk_kib;
  std::vector<double> memory_kib;
};

// A cold read finds nothing in the cache from the open before it.
void read_tail(const SqliteOptions& options, const Tail& tail, Cache cache, TailFigures& out) {
  if (cache == Cache::cold) make_cold(options.path);
  const PeakMemory memory;
  const double start = seconds();
  const std::unique_ptr<SqliteStore> store = open_store(options);
  out.open_seconds.push_back(seconds() - start);
  if (cache == Cache::cold) make_cold(options.path);
  const ReadCount before = ReadCount::now();
  const double begun = seconds();
  const auto page =
      store->read(session(tail.number), {.after = tail.head - tail_records, .limit = tail_records});
  out.read_seconds.push_back(seconds() - begun);
  const ReadCount after = ReadCount::now();
  CHECK(page && page->records.size() == tail_records);
  CHECK(page->first == tail.head - tail_records + 1);
  out.read_calls.push_back(static_cast<double>(after.calls - before.calls));
  out.disk_kib.push_back(static_cast<double>(after.disk_bytes - before.disk_bytes) / 1024);
  out.memory_kib.push_back(memory.growth_kib());
}

void read_plain_tail(const Tail& tail, Cache cache, TailFigures& out) {
  if (cache == Cache::cold) make_cold(tail.plain);
  std::string bytes(tail_records * record_bytes, '\0');
  const double start = seconds();
  read_plain(tail.plain, (tail.head - tail_records) * record_bytes, bytes);
  out.plain_seconds.push_back(seconds() - start);
  CHECK(bytes == std::string(bytes.size(), letter(tail.number)));
}

// Each round reads both, in alternating order, so that neither always benefits from being second.
void read_tails(const SqliteOptions& options, Cache cache, int rounds,
                std::vector<std::pair<Tail, TailFigures*>> tails) {
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [tail, figures] : tails) {
      read_tail(options, tail, cache, *figures);
      read_plain_tail(tail, cache, *figures);
    }
    std::ranges::reverse(tails);
  }
}

void write_plain(const Tail& tail) {
  std::ofstream out(tail.plain, std::ios::binary);
  const std::string record(record_bytes, letter(tail.number));
  for (Seq i = 0; i < tail.head; ++i) out << record;
  CHECK(out.flush().good());
}

// Writes the last `few` records of both sessions interleaved, a hundred commits each, followed by
// others.
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

double ratio(const std::vector<double>& one, const std::vector<double>& other) {
  return median(one) / median(other);
}

void print_line(const std::string& name, const TailFigures& figures) {
  fmt::print("  {:<22} {:>8.2f} {:>8.2f} {:>7.0f} {:>7.0f} KiB {:>7.0f} KiB {:>9.3f} {:>9.1f}\n",
             name, 1e3 * median(figures.open_seconds), 1e3 * median(figures.read_seconds),
             median(figures.read_calls), median(figures.disk_kib), median(figures.memory_kib),
             1e3 * median(figures.plain_seconds),
             ratio(figures.read_seconds, figures.plain_seconds));
}

void print_ratios(const char* name, const TailFigures& large, const TailFigures& small) {
  fmt::print(
      "  {}: read {:.2f} (at most 1.5 wanted; at the fastest quarter {:.2f}), open {:.2f}, memory "
      "{:.2f}, plain file {:.2f}\n",
      name, ratio(large.read_seconds, small.read_seconds),
      quantile(large.read_seconds, 0.25) / quantile(small.read_seconds, 0.25),
      ratio(large.open_seconds, small.open_seconds), ratio(large.memory_kib, small.memory_kib),
      ratio(large.plain_seconds, small.plain_seconds));
}

void tails(const Arguments& arguments) {
  const Scratch scratch(arguments.dir);
  SqliteOptions options;
  options.path = scratch.file("journal.db");
  const Tail many{.number = 1,
                  .head = arguments.quick ? 100'000U : 1'000'000U,
                  .plain = scratch.file("many.plain")};
  const Tail few{.number = 2, .head = 1000, .plain = scratch.file("few.plain")};
  fill_tails(options, many.head, few.head);
  write_plain(many);
  write_plain(few);
  TailFigures of_many, of_few, cold_many, cold_few;
  const int rounds = arguments.quick ? 20 : 100;
  read_tails(options, Cache::warm, rounds, {{many, &of_many}, {few, &of_few}});
  read_tails(options, Cache::cold, rounds, {{many, &cold_many}, {few, &cold_few}});
  fmt::print(
      "\nlast {} records, store opened anew each time, file of {} MB; medians of {} rounds;\n"
      "beside it the same bytes by one pread from a plain file of that session alone\n"
      "  {:<22} {:>8} {:>8} {:>7} {:>11} {:>11} {:>9} {:>9}\n",
      tail_records, fs::file_size(options.path) / 1'000'000, rounds, "", "open ms", "read ms",
      "reads", "from disk", "memory", "plain ms", "of plain");
  print_line(fmt::format("{} records", few.head), of_few);
  print_line(fmt::format("{} records", many.head), of_many);
  print_line(fmt::format("{}, cold", few.head), cold_few);
  print_line(fmt::format("{}, cold", many.head), cold_many);
  print_ratios("large to small", of_many, of_few);
  print_ratios("large to small, cold", cold_many, cold_few);
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  using namespace perdure::bench;
  const Arguments arguments = Arguments::parse(argc, argv);
  tails(arguments);
  return 0;
}
