// The cost of opening a session, with real records: the last page of its transcript and the fold of
// its state from snapshot and tail, for a session of 1,000,000 records and one of 1,000, warm and
// cold, with the memory that it takes. The raw baseline, in the same rounds, reads as many bytes as
// the page's records have from the end of a plain file of that session.
#include <cstdio>
#include <fstream>
#include <utility>

#include <fmt/core.h>

#include "bench_tools.h"
#include "core/session/machine.h"
#include "core/wire/journal/record.h"
#include "core/wire/journal/snapshot.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/reads/journal_reader.h"
#include "read_tools.h"

namespace perdure::bench {
namespace {

// A session that talks: turns of a prompt, several chunks, a tool and an end, about 300 bytes per
// record.
class Talker {
 public:
  explicit Talker(SessionId id) : id_(id) {
    add(SessionCreated{
        .session = id, .title = "bench", .agent = {.name = "demo"}, .workspace = {.cwd = "/w"}});
  }

  Seq head() const { return state_.head; }
  std::string snapshot() const { return encode_snapshot(state_); }

  void turn() {
    const RunId run(Ulid{2, ++runs_});
    const Origin origin{.run = run};
    add(RunStarted{.message = MessageId(Ulid{3, runs_}), .trigger = "prompt"}, origin);
    add(MessageUser{.message = MessageId(Ulid{3, runs_}), .prompt = {.text = "please go on"}},
        origin);
    for (int i = 0; i < 16; ++i) {
      add(MessageAgent{.text = "Some words of an answer. ", .update = {R"({"sessionUpdate":"x"})"}},
          origin);
    }
    add(ToolCall{.tool_call_id = "t" + std::to_string(runs_), .title = "sh", .status = "pending"},
        origin);
    add(
        ToolUpdate{
            .tool_call_id = "t" + std::to_string(runs_), .status = "completed", .text = "ok"},
        origin);
    add(RunCompleted{"end_turn"}, origin);
  }

  std::vector<std::string> take() { return std::exchange(records_, {}); }

 private:
  void add(EventBody body, Origin origin = {}) {
    const Event event{
        .at = {1'700'000'000'000}, .origin = std::move(origin), .body = std::move(body)};
    records_.push_back(encode_record(state_.head + 1, hash_, event));
    hash_ = record_hash(records_.back());
    state_ = evolve(std::move(state_), event);
  }

  SessionId id_;
  State state_;
  Hash hash_;
  std::uint64_t runs_ = 0;
  std::vector<std::string> records_;
};

// A session that is being filled, in the store and in its own plain file.
class Filling {
 public:
  Filling(std::uint64_t number, const std::string& plain)
      : number_(number), talker_(session(number)), plain_(plain, std::ios::binary) {}

  Seq stored() const { return stored_; }

  void reach(SqliteStore& store, Seq at_least) {
    while (stored_ < at_least) {
      while (talker_.head() - stored_ < batch_records) talker_.turn();
      Append batch{.session = session(number_), .epoch = store.epoch(), .expected_head = stored_};
      batch.records = talker_.take();
      for (const std::string& record : batch.records) plain_ << record << '\n';
      batch.snapshot = talker_.snapshot();
      stored_ = talker_.head();
      store.append(std::move(batch), must);
      while (store.step()) {}
    }
    CHECK(plain_.flush().good());
  }

 private:
  static constexpr Seq batch_records = 500;

  std::uint64_t number_;
  Talker talker_;
  Seq stored_ = 0;
  std::ofstream plain_;
};

struct Subject {
  std::uint64_t number = 0;
  Seq records = 0;
  std::string plain;
};

struct Figures {
  std::vector<double> open, page, load, plain, memory_kib;
};

// Opens the store and reads the parts that a person sees first; cold: nothing of the files is in
// the cache before each of the steps.
void measure(const SqliteOptions& options, const Subject& of, Cache cache, Figures& out) {
  const auto drop = [&](const std::string& path) {
    if (cache == Cache::cold) make_cold(path);
  };
  drop(options.path);
  const PeakMemory memory;
  double start = seconds();
  const std::unique_ptr<SqliteStore> store = open_store(options);
  out.open.push_back(seconds() - start);
  drop(options.path);
  std::size_t read_records = 0;
  start = seconds();
  const auto slice = read_transcript(*store, session(of.number), {.limit = 50},
                                     {.on_record = [&](const Record&) { ++read_records; }});
  out.page.push_back(seconds() - start);
  out.memory_kib.push_back(memory.growth_kib());
  CHECK(slice && slice->messages.size() >= 50 && slice->has_older);
  drop(options.path);
  start = seconds();
  const auto loaded = load_session(*store, session(of.number));
  out.load.push_back(seconds() - start);
  CHECK(loaded && loaded->state.head == slice->last_seq);
  const std::uint64_t size = fs::file_size(of.plain);
  std::string bytes(read_records * size / of.records, '\0');
  drop(of.plain);
  start = seconds();
  read_plain(of.plain, size - bytes.size(), bytes);
  out.plain.push_back(seconds() - start);
}

// Both end, interleaved, in the same part of the log, but not at its end.
std::pair<Subject, Subject> fill(const SqliteOptions& options, const Scratch& scratch,
                                 Seq many_records) {
  constexpr Seq few_records = 1000;
  Subject few{.number = 2, .plain = scratch.file("few.jsonl")};
  Subject many{.number = 1, .plain = scratch.file("many.jsonl")};
  const std::unique_ptr<SqliteStore> store = open_store(options);
  Filling filling_many(many.number, many.plain);
  Filling filling_few(few.number, few.plain);
  filling_many.reach(*store, many_records - few_records);
  filling_few.reach(*store, few_records / 2);
  filling_many.reach(*store, many_records - few_records / 2);
  filling_few.reach(*store, few_records);
  filling_many.reach(*store, many_records);
  Filling(3, scratch.file("other.jsonl")).reach(*store, few_records);
  must(store->shut_down());
  few.records = filling_few.stored();
  many.records = filling_many.stored();
  return {few, many};
}

void compare(const SqliteOptions& options, Cache cache, int rounds,
             const std::pair<Subject, Subject>& subjects) {
  const auto& [few, many] = subjects;
  Figures of_few, of_many;
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) measure(options, few, cache, of_few);
    measure(options, many, cache, of_many);
    if (round % 2 != 0) measure(options, few, cache, of_few);
  }
  fmt::print("\n{}; medians of {} rounds in ms\n  {:<18} {:>8} {:>16} {:>8} {:>12} {:>14} {:>9}\n",
             cache == Cache::cold ? "files dropped from the page cache before each step"
                                  : "files in the page cache",
             rounds, "", "open", "transcript page", "state", "memory", "plain file", "of plain");
  const auto line = [](const Subject& subject, const Figures& figures) {
    fmt::print("  {:<18} {:>8.2f} {:>16.3f} {:>8.3f} {:>8.0f} KiB {:>14.3f} {:>9.1f}\n",
               fmt::format("{} records", subject.records), 1e3 * median(figures.open),
               1e3 * median(figures.page), 1e3 * median(figures.load), median(figures.memory_kib),
               1e3 * median(figures.plain), median(figures.page) / median(figures.plain));
  };
  line(few, of_few);
  line(many, of_many);
  const auto ratio = [&](std::vector<double> Figures::* what) {
    return median(of_many.*what) / median(of_few.*what);
  };
  fmt::print(
      "  ratio: page {:.2f} (at most 1.5 wanted), open {:.2f}, state {:.2f}, memory {:.2f}, plain "
      "{:.2f}\n",
      ratio(&Figures::page), ratio(&Figures::open), ratio(&Figures::load),
      ratio(&Figures::memory_kib), ratio(&Figures::plain));
}

void run(const Arguments& arguments) {
  const Scratch scratch(arguments.dir);
  SqliteOptions options;
  options.path = scratch.file("journal.db");
  const auto subjects = fill(options, scratch, arguments.quick ? 100'000 : 1'000'000);
  fmt::print("opening a session, store opened anew each time, file of {} MB\n",
             fs::file_size(options.path) / 1'000'000);
  const int rounds = arguments.quick ? 10 : 50;
  compare(options, Cache::warm, rounds, subjects);
  compare(options, Cache::cold, rounds, subjects);
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  perdure::bench::run(perdure::bench::Arguments::parse(argc, argv));
  return 0;
}
