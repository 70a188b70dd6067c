// Durable append of 300-byte records: K sessions, each waiting for its acknowledgement before its
// next append, compared with
//   (a)  a raw log: the same K records gathered into one buffer, one write, one fdatasync; the file
//        grows, like a plain log
//   (a') the same into a file that was written in full before, so that no write changes its size:
//        the best that a raw log can do
//   (b)  a plain SQLite table (rowid, blob; WAL, synchronous=FULL), one row per record, one commit
//        per batch
// First without a hand-over between threads: an acknowledgement appends the session's next record
// in place, and the baselines are a loop. Then with two threads, a driver that feeds and a writer
// that commits, for the store and the baselines alike: every figure then includes waking threads.
// Rounds alternate; figures are medians over rounds. In the first tables no round includes a
// checkpoint or an index flush, and the WALs are overwritten from round to round, like those of a
// store after its first checkpoint. The last tables include everything, even the growth of a new
// WAL.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/core.h>
#include <sqlite3.h>

#include "bench_tools.h"
#include "raw_log.h"

namespace perdure::bench {
namespace {

constexpr std::size_t record_bytes = 300;

struct Figures {
  std::vector<double> rates;      // records per second, one per round
  std::vector<double> latencies;  // of acknowledgements, in seconds
};

struct Load {
  std::size_t sessions = 0;
  std::size_t batches = 0;
};

const std::string& record() {
  static const std::string bytes(record_bytes, 'r');
  return bytes;
}

// A round of a baseline without threads: each batch starts when the previous one is durable.
template <class Log>
void run_baseline(Log& log, const Load& load, Figures& out) {
  const double start = seconds();
  double before = start;
  for (std::size_t i = 0; i < load.batches; ++i) {
    log.write(load.sessions, [](std::size_t) -> const std::string& { return record(); });
    const double now = seconds();
    out.latencies.push_back(now - before);
    before = now;
  }
  out.rates.push_back(static_cast<double>(load.batches * load.sessions) / (before - start));
}

class BareTable {
 public:
  BareTable(const std::string& path, int autocheckpoint) {
    CHECK(sqlite3_open(path.c_str(), &db_) == SQLITE_OK);
    exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = " +
         std::to_string(autocheckpoint) + "; CREATE TABLE log(pos INTEGER PRIMARY KEY, data BLOB)");
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
    insert_ = prepare("INSERT INTO log(data) VALUES(?)");
  }
  BareTable(const BareTable&) = delete;
  BareTable& operator=(const BareTable&) = delete;
  ~BareTable() {
    for (sqlite3_stmt* statement : {begin_, commit_, insert_}) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }

  template <class Get>
  void write(std::size_t count, Get&& get) {
    step(begin_);
    for (std::size_t i = 0; i < count; ++i) {
      sqlite3_bind_blob(insert_, 1, get(i).data(), record_bytes, SQLITE_STATIC);
      step(insert_);
    }
    step(commit_);
  }
  void checkpoint() { exec("PRAGMA wal_checkpoint(PASSIVE)"); }

 private:
  void exec(const std::string& sql) {
    CHECK(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* out = nullptr;
    CHECK(sqlite3_prepare_v2(db_, sql, -1, &out, nullptr) == SQLITE_OK);
    return out;
  }
  static void step(sqlite3_stmt* statement) {
    CHECK(sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_reset(statement);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

class Loop;

// A session in a closed loop. Small and at a fixed address: an acknowledgement is a pointer.
struct Ticket {
  Loop* loop = nullptr;
  std::size_t session = 0;
  double started = 0;
};

class Loop {
 public:
  virtual ~Loop() = default;
  virtual void acknowledged(Ticket& ticket) = 0;
};

// Driven by a closed loop: each step makes a batch of appends durable.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void append(Ticket& ticket) = 0;
  virtual bool wait() = 0;
  virtual void step() = 0;
  virtual void wake() = 0;
};

class StoreEngine final : public Engine {
 public:
  StoreEngine(SqliteStore& store, std::size_t sessions) : store_(store), heads_(sessions) {}

  void append(Ticket& ticket) override {
    Append batch{.session = SessionId(Ulid{1, ticket.session + 1}),
                 .epoch = store_.epoch(),
                 .expected_head = heads_[ticket.session]++};
    batch.records.push_back(record());
    store_.append(std::move(batch), [at = &ticket](const Result<>& result) {
      CHECK(result.has_value());
      at->loop->acknowledged(*at);
    });
  }
  bool wait() override { return store_.wait_for_work(std::chrono::milliseconds(200)); }
  void step() override { store_.step(); }
  void wake() override { store_.wake(); }

 private:
  SqliteStore& store_;
  std::vector<Seq> heads_;
};

// A baseline with the same kind of queue in front: records and callbacks, all taken at once.
template <class Log>
class QueuedLog final : public Engine {
 public:
  explicit QueuedLog(Log& log) : log_(log) {}

  void append(Ticket& ticket) override {
    bool first = false;
    {
      const std::scoped_lock lock(mutex_);
      first = queue_.empty();
      queue_.emplace_back(record(), &ticket);
    }
    if (first) queued_.notify_one();
  }
  bool wait() override {
    std::unique_lock lock(mutex_);
    return queued_.wait_for(lock, std::chrono::milliseconds(200), [&] { return !queue_.empty(); });
  }
  void step() override {
    {
      const std::scoped_lock lock(mutex_);
      group_.swap(queue_);
    }
    if (group_.empty()) return;
    log_.write(group_.size(), [&](std::size_t i) -> const std::string& { return group_[i].first; });
    for (auto& [bytes, ticket] : group_) ticket->loop->acknowledged(*ticket);
    group_.clear();
  }
  void wake() override { queued_.notify_one(); }

 private:
  Log& log_;
  std::mutex mutex_;
  std::condition_variable queued_;
  std::vector<std::pair<std::string, Ticket*>> queue_;
  std::vector<std::pair<std::string, Ticket*>> group_;
};

// K sessions, one thread: an acknowledgement appends the session's next record, a step commits.
class InPlace final : public Loop {
 public:
  InPlace(Engine& engine, const Load& load, Figures& out)
      : engine_(engine), total_(load.sessions * load.batches), out_(out), tickets_(load.sessions) {}

  void run() {
    out_.latencies.reserve(out_.latencies.size() + total_);
    const double start = seconds();
    for (std::size_t session = 0; session < tickets_.size(); ++session) {
      tickets_[session] = {.loop = this, .session = session, .started = start};
      send(tickets_[session]);
    }
    while (acked_ < total_) engine_.step();
    out_.rates.push_back(static_cast<double>(total_) / (seconds() - start));
  }

  void acknowledged(Ticket& ticket) override {
    ++acked_;
    const double now = seconds();
    out_.latencies.push_back(now - ticket.started);
    ticket.started = now;
    if (sent_ < total_) send(ticket);
  }

 private:
  void send(Ticket& ticket) {
    ++sent_;
    engine_.append(ticket);
  }

  Engine& engine_;
  const std::size_t total_;
  Figures& out_;
  std::vector<Ticket> tickets_;
  std::size_t sent_ = 0;
  std::size_t acked_ = 0;
};

// K sessions, two threads. Acknowledgements arrive on the writer's thread, which puts their session
// into a ring; the driver takes it out and appends the session's next record.
class HandOver final : public Loop {
 public:
  HandOver(Engine& engine, const Load& load, Figures& out)
      : engine_(engine),
        total_(load.sessions * load.batches),
        out_(out),
        tickets_(load.sessions),
        ring_(load.sessions) {}

  void run() {
    std::jthread writer([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (engine_.wait()) engine_.step();
      }
    });
    out_.latencies.reserve(out_.latencies.size() + total_);
    const double start = seconds();
    for (; sent_ < tickets_.size(); ++sent_) {
      tickets_[sent_] = {.loop = this, .session = sent_, .started = start};
      engine_.append(tickets_[sent_]);
    }
    for (std::size_t taken = 0; taken < total_;) {
      const std::size_t ready = wait_beyond(taken);
      for (; taken < ready; ++taken) take(*ring_[taken % ring_.size()]);
    }
    out_.rates.push_back(static_cast<double>(total_) / (seconds() - start));
    writer.request_stop();
    engine_.wake();
  }

  void acknowledged(Ticket& ticket) override {
    const std::size_t at = acked_.load(std::memory_order_relaxed);
    ring_[at % ring_.size()] = &ticket;
    acked_.store(at + 1, std::memory_order_release);
    acked_.notify_one();
  }

 private:
  std::size_t wait_beyond(std::size_t taken) {
    std::size_t ready = acked_.load(std::memory_order_acquire);
    while (ready == taken) {
      acked_.wait(ready, std::memory_order_acquire);
      ready = acked_.load(std::memory_order_acquire);
    }
    return ready;
  }
  void take(Ticket& ticket) {
    const double now = seconds();
    out_.latencies.push_back(now - ticket.started);
    ticket.started = now;
    if (sent_ == total_) return;
    ++sent_;
    engine_.append(ticket);
  }

  Engine& engine_;
  const std::size_t total_;
  Figures& out_;
  std::vector<Ticket> tickets_;
  std::vector<Ticket*> ring_;
  std::size_t sent_ = 0;
  std::atomic<std::size_t> acked_ = 0;
};

struct Line {
  const char* name;
  const Figures* figures;
  const Figures* raw;  // its baselines (a) and (b)
  const Figures* bare;
};

void print(const std::string& title, const std::vector<Line>& lines) {
  fmt::print("\n{}\n  {:<44} {:>10}  {:>6}  {:>6}  {:>8}  {:>8}\n", title, "", "records/s", "/(a)",
             "/(b)", "p50 ms", "p99 ms");
  for (const Line& line : lines) {
    const double rate = median(line.figures->rates);
    fmt::print("  {:<44} {:>10.0f}  {:>6.2f}  {:>6.2f}  {:>8.3f}  {:>8.3f}\n", line.name, rate,
               rate / median(line.raw->rates), rate / median(line.bare->rates),
               1e3 * quantile(line.figures->latencies, 0.5),
               1e3 * quantile(line.figures->latencies, 0.99));
  }
}

void compare(const Arguments& arguments, const Load& load, std::size_t rounds) {
  const Scratch scratch(arguments.dir);
  SqliteOptions options;
  options.path = scratch.file("journal.db");
  options.flush_bytes_min = options.flush_bytes_max = 1UL << 40;  // not within a round
  options.checkpoint_bytes = 1UL << 40;
  options.flush_idle_bytes = options.checkpoint_idle_bytes = 0;
  const std::unique_ptr<SqliteStore> store = open_store(options);
  StoreEngine engine(*store, load.sessions);
  RawLog raw(scratch.file("raw"), 0);
  RawLog prewritten(scratch.file("prewritten"), load.sessions * load.batches * record_bytes + 1);
  BareTable bare(scratch.file("bare.db"), 0);
  QueuedLog<RawLog> queued_raw(raw);
  QueuedLog<BareTable> queued_bare(bare);
  Figures raw_tight, prewritten_tight, bare_tight, store_tight, raw_two, bare_two, store_two;
  for (std::size_t round = 0; round <= rounds; ++round) {
    if (round == 1) {  // the first one is a warm-up
      raw_tight = prewritten_tight = bare_tight = store_tight = raw_two = bare_two = store_two = {};
    }
    run_baseline(raw, load, raw_tight);
    InPlace(engine, load, store_tight).run();
    run_idle(*store);
    run_baseline(bare, load, bare_tight);
    bare.checkpoint();
    prewritten.start_over();
    run_baseline(prewritten, load, prewritten_tight);
    HandOver(queued_raw, load, raw_two).run();
    HandOver(engine, load, store_two).run();
    run_idle(*store);
    HandOver(queued_bare, load, bare_two).run();
    bare.checkpoint();
  }
  print(fmt::format("{} session{}, {} batches a round, {} rounds", load.sessions,
                    load.sessions == 1 ? "" : "s", load.batches, rounds),
        {{"(a) raw log, growing", &raw_tight, &raw_tight, &bare_tight},
         {"(a') raw log, prewritten", &prewritten_tight, &raw_tight, &bare_tight},
         {"(b) bare SQLite table", &bare_tight, &raw_tight, &bare_tight},
         {"Perdure", &store_tight, &raw_tight, &bare_tight},
         {"two threads: (a) raw log, growing", &raw_two, &raw_two, &bare_two},
         {"two threads: (b) bare SQLite table", &bare_two, &raw_two, &bare_two},
         {"two threads: Perdure", &store_two, &raw_two, &bare_two}});
}

void sustained(const Arguments& arguments, const Load& load, std::size_t rounds) {
  const Scratch scratch(arguments.dir);
  SqliteOptions options;
  options.path = scratch.file("journal.db");
  const std::unique_ptr<SqliteStore> store = open_store(options);
  StoreEngine engine(*store, load.sessions);
  RawLog raw(scratch.file("raw"), 0);
  BareTable bare(scratch.file("bare.db"), 1000);
  Figures of_raw, of_bare, of_store;
  const SqliteStats before = store->stats();
  for (std::size_t round = 0; round < rounds; ++round) {
    run_baseline(raw, load, of_raw);
    run_baseline(bare, load, of_bare);
    InPlace(engine, load, of_store).run();
  }
  const SqliteStats after = store->stats();
  print(
      fmt::format("sustained, {} sessions, {} MB of records in all: flushes and checkpoints inside",
                  load.sessions, rounds * load.batches * load.sessions * record_bytes / 1'000'000),
      {{"(a) raw log, growing", &of_raw, &of_raw, &of_bare},
       {"(b) bare SQLite table, autocheckpoint", &of_bare, &of_raw, &of_bare},
       {"Perdure", &of_store, &of_raw, &of_bare}});
  fmt::print("  {} appends in {} commits, {} index flushes, {} checkpoints\n",
             after.appends - before.appends, after.commits - before.commits,
             after.flushes - before.flushes, after.checkpoints - before.checkpoints);
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  using namespace perdure::bench;
  const Arguments arguments = Arguments::parse(argc, argv);
  const std::size_t rounds = arguments.quick ? 3 : 9;
  fmt::print("durable append of {}-byte records in {}, SQLite {}\n", record_bytes,
             arguments.dir.string(), sqlite3_libversion());
  compare(arguments, {.sessions = 1, .batches = arguments.quick ? 500UL : 1500UL}, rounds);
  compare(arguments, {.sessions = 10, .batches = arguments.quick ? 300UL : 600UL}, rounds);
  compare(arguments, {.sessions = 100, .batches = arguments.quick ? 200UL : 400UL}, rounds);
  compare(arguments, {.sessions = 1000, .batches = arguments.quick ? 50UL : 100UL}, rounds);
  sustained(arguments, {.sessions = 1000, .batches = 200}, arguments.quick ? 2 : 7);
  sustained(arguments, {.sessions = 100, .batches = 1000}, arguments.quick ? 1 : 5);
  return 0;
}
