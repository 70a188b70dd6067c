// What opening a session costs, with real records: the last page of its transcript and the fold of
// its state from snapshot and tail, for a session of 1,000,000 records against one of 1,000. Beside
// it, as a raw baseline, the same number of bytes read from the end of a plain file.
#include <cstdio>
#include <fstream>

#include <fcntl.h>
#include <fmt/core.h>

#include "bench_tools.h"
#include "runtime/journal_reader.h"
#include "runtime/load.h"
#include "session/machine.h"
#include "wire/record.h"
#include "wire/snapshot.h"

namespace perdure::bench {
namespace {

SessionId session(std::uint64_t number) { return SessionId(Ulid{1, number}); }

void must(const Result<>& result) {
  if (!result) check_failed("append", 0, result.error().message().c_str());
}

// A session that talks: turns of a prompt, some chunks, a tool and an end, about 300 bytes a
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

Seq fill(SqliteStore& store, std::uint64_t number, Seq at_least, std::ofstream& flat) {
  Talker talker(session(number));
  Seq stored = 0;
  while (stored < at_least) {
    while (talker.head() - stored < 500) talker.turn();
    Append batch{.session = session(number), .epoch = store.epoch(), .expected_head = stored};
    batch.records = talker.take();
    for (const std::string& record : batch.records) flat << record << '\n';
    batch.snapshot = talker.snapshot();
    stored = talker.head();
    store.append(std::move(batch), must);
    while (store.step()) {}
  }
  return stored;
}

struct Figures {
  std::vector<double> page, load, raw;
};

void measure(const SqliteOptions& options, std::uint64_t number, const std::string& flat,
             Figures& out) {
  const std::unique_ptr<SqliteStore> store = open_store(options);
  double start = seconds();
  const auto slice = read_transcript(*store, session(number), {.limit = 50});
  out.page.push_back(seconds() - start);
  CHECK(slice && slice->messages.size() >= 50 && slice->has_older);
  start = seconds();
  const auto loaded = load_session(*store, session(number));
  out.load.push_back(seconds() - start);
  CHECK(loaded && loaded->state.head == slice->last_seq);
  start = seconds();
  std::string bytes(512 * 320, '\0');
  const int file = ::open(flat.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(file >= 0);
  const off_t end = ::lseek(file, 0, SEEK_END);
  const auto size = static_cast<off_t>(bytes.size());
  CHECK(::pread(file, bytes.data(), bytes.size(), end > size ? end - size : 0) > 0);
  ::close(file);
  out.raw.push_back(seconds() - start);
}

void run(const Arguments& arguments) {
  const Scratch scratch(arguments.dir);
  SqliteOptions options;
  options.path = scratch.file("journal.db");
  const std::string flat_many = scratch.file("many.jsonl");
  const std::string flat_few = scratch.file("few.jsonl");
  Seq many = 0;
  Seq few = 0;
  {
    const std::unique_ptr<SqliteStore> store = open_store(options);
    std::ofstream out_many(flat_many);
    std::ofstream out_few(flat_few);
    many = fill(*store, 1, arguments.quick ? 100'000 : 1'000'000, out_many);
    few = fill(*store, 2, 1'000, out_few);
    must(store->shut_down());
  }
  Figures of_many, of_few;
  for (int round = 0; round < (arguments.quick ? 9 : 25); ++round) {
    measure(options, 2, flat_few, of_few);
    measure(options, 1, flat_many, of_many);
  }
  fmt::print(
      "\nopening a session, store opened anew each time, medians in ms\n"
      "  {:<20} {:>16} {:>14} {:>20}\n",
      "", "transcript page", "state", "raw tail of a file");
  const auto line = [](Seq records, const Figures& figures) {
    fmt::print("  {:<20} {:>16.3f} {:>14.3f} {:>20.3f}\n", fmt::format("{} records", records),
               1e3 * median(figures.page), 1e3 * median(figures.load), 1e3 * median(figures.raw));
  };
  line(few, of_few);
  line(many, of_many);
  fmt::print("  ratio: page {:.2f}, state {:.2f} (at most 1.5 wanted)\n",
             median(of_many.page) / median(of_few.page),
             median(of_many.load) / median(of_few.load));
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  perdure::bench::run(perdure::bench::Arguments::parse(argc, argv));
  return 0;
}
