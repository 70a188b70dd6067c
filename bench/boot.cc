// The cost of a daemon's boot: the real runtime on the real engine and its writer's thread, from
// opening the store until Runtime::boot() reports ready, with 100 open sessions among 1,000 stored
// ones and among 100,000. Each open session has an agent in the middle of a turn; a stand-in for
// its agentctl reports immediately that it is alive or gone. The other sessions are meaningless
// bytes: a boot must not look at them. The raw baseline, in the same rounds, is a plain table with
// as many sessions: open it, select the bytes of the open sessions, and write a row for each of
// them in one commit, since a boot must record its presence.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sqlite3.h>

#include "bench_tools.h"
#include "core/session/transitions/draft.h"
#include "daemon/runtime/runtime.h"
#include "env/posix/loop/shared_loop.h"
#include "env/posix/world.h"
#include "read_tools.h"

namespace perdure::bench {
namespace {

constexpr std::size_t open_count = 100;
constexpr std::size_t closed_records = 20;
constexpr std::size_t record_bytes = 300;

enum class Agents { alive, gone };

// Agentctls that note the calls to them. For those that an earlier life started they report the
// configured state; new ones start normally.
class NotingAgentctls final : public Agentctls {
 public:
  NotingAgentctls(Loop& loop, Agents agents) : loop_(loop), agents_(agents) {}
  void set_events(Runtime& runtime) { runtime_ = &runtime; }

  void start(const LaunchSpec& spec, std::uint64_t) override {
    const ExecKey key{spec.session, spec.exec, spec.gen};
    tell([this, key] {
      runtime_->on_attached(key);
      frame(key, FrameExecutorReady{{.url = "unix:x", .pid = 7}});
      frame(key, FrameAgentStarted{{.abilities = {.resume = true, .load = true}}});
    });
  }
  void attach(const LaunchSpec& spec, std::uint64_t, FrameNo) override {
    ++attached;
    const ExecKey key{spec.session, spec.exec, spec.gen};
    tell([this, key] {
      agents_ == Agents::alive ? runtime_->on_attached(key) : runtime_->on_gone(key, "bench");
    });
  }
  void send(const ExecKey& exec, const SendCommand& command) override {
    const auto* open = get_if<OpenSession>(&command.body);
    if (open == nullptr) return;
    tell([this, exec, method = open->method] {
      frame(exec, FrameSessionOpened{.method = method, .agent_session_id = "agent"});
    });
  }
  void ack(const ExecKey&, FrameNo) override {}
  void stop(const ExecKey&) override {}
  void let_go(const ExecKey&) override {}

  std::size_t attached = 0;

 private:
  void tell(Loop::Task task) { loop_.post(std::move(task)); }
  void frame(const ExecKey& exec, FrameBody body) {
    runtime_->on_frame(exec, {exec.exec, exec.gen, ++frames_[exec], {}, std::move(body)});
  }

  Loop& loop_;
  Agents agents_;
  Runtime* runtime_ = nullptr;
  std::map<ExecKey, FrameNo> frames_;
};

class NoNotifier final : public Notifier {
 public:
  void notify(SessionId, const Notify&) override {}
};

// A daemon's life, built like in main, without its external interfaces.
class Life {
 public:
  Life(const SqliteOptions& options, Agents agents)
      : store_(open_store(options)),
        opened_(seconds()),
        clock_(PosixClock::create().value()),
        epoll_(EpollLoop::create().value()),
        loop_(*epoll_),
        writer_(std::make_unique<WriterThread>(*store_)),
        agentctls_(loop_, agents) {
    runtime_ = std::make_unique<Runtime>(
        Runtime::World{*clock_, random_, loop_, files_, *store_, agentctls_, notifier_},
        RuntimeConfig{.boot = IdSource(clock_->now().wall, random_.next()).next<BootId>(),
                      .wait_key = "bench"});
    agentctls_.set_events(*runtime_);
  }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life() {
    runtime_.reset();
    writer_.reset();
    while (store_->step()) {}
    must(store_->shut_down());
  }

  double opened() const { return opened_; }
  Runtime& runtime() { return *runtime_; }
  SqliteStore& store() { return *store_; }
  std::size_t attached() const { return agentctls_.attached; }

  void boot() {
    bool ready = false;
    runtime_->boot([&] { ready = true; });
    run_until([&] { return ready; });
  }
  void run_until(const std::function<bool()>& is_done) {
    while (!is_done()) epoll_->pump_for_ms(10);
  }

 private:
  std::unique_ptr<SqliteStore> store_;
  double opened_;
  std::unique_ptr<PosixClock> clock_;
  PosixRandom random_;
  PosixFiles files_;
  NoNotifier notifier_;
  std::unique_ptr<EpollLoop> epoll_;
  SharedLoop loop_;
  std::unique_ptr<WriterThread> writer_;
  NotingAgentctls agentctls_;
  std::unique_ptr<Runtime> runtime_;
};

// A store with this many sessions. The open ones are spread among the others.
struct Stored {
  SqliteOptions options;
  std::string bare;
  std::size_t sessions = 0;

  SessionId open(std::size_t i) const { return session((i + 1) * (sessions / open_count)); }
  bool is_open(std::uint64_t number) const { return number % (sessions / open_count) == 0; }
};

void fill_closed(const Stored& stored) {
  const std::unique_ptr<SqliteStore> store = open_store(stored.options);
  for (std::uint64_t number = 1; number <= stored.sessions; ++number) {
    if (stored.is_open(number)) continue;
    Append batch{.session = session(number), .epoch = store->epoch()};
    batch.records.assign(closed_records, std::string(record_bytes, 'r'));
    batch.snapshot = std::string(2000, 'z');
    batch.listing = Listing{.open = false, .summary = std::string(600, 's')};
    store->append(std::move(batch), must);
    if (number % 1000 == 999) store->step();
  }
  while (store->step()) {}
  must(store->shut_down());
}

bool is_running(const Result<State>& state) { return state && state->run && agent_ready(*state); }

// Brings each open session into the middle of a turn: creates new ones; resumes and prompts those
// whose agent was lost.
void make_open(const Stored& stored) {
  Life life(stored.options, Agents::alive);
  life.boot();
  std::size_t answered = 0;
  const auto submit = [&](SessionId to, InputBody body) {
    life.runtime().submit(to, {.by = "bench", .body = std::move(body)}, [&](Result<Reply> reply) {
      if (!reply) check_failed("submit", 0, reply.error().message().c_str());
      ++answered;
    });
  };
  std::size_t asked = 0;
  for (std::size_t i = 0; i < open_count; ++i) {
    const SessionId id = stored.open(i);
    const Result<State> state = life.runtime().state(id);
    if (is_running(state)) continue;
    const Prompt prompt{.text = "go on"};
    if (!state) {
      submit(id, CreateSession{.what = {.session = id,
                                        .title = "open",
                                        .agent = {.name = "demo"},
                                        .workspace = {.cwd = "/"}},
                               .prompt = prompt});
    } else {
      submit(id, ResumeSession{});
      submit(id, SubmitPrompt{.prompt = prompt});
      ++asked;
    }
    ++asked;
  }
  life.run_until([&] {
    if (answered < asked) return false;
    for (std::size_t i = 0; i < open_count; ++i) {
      if (!is_running(life.runtime().state(stored.open(i)))) return false;
    }
    return true;
  });
}

std::size_t journal_bytes(const Stored& stored) {
  const std::unique_ptr<SqliteStore> store = open_store(stored.options);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < open_count; ++i) {
    const auto page = store->read(stored.open(i), {.after = 0, .limit = 100'000}).value();
    for (const std::string& record : page.records) bytes += record.size();
  }
  return bytes;
}

// The plain table. Everything uses one connection, which is closed with it.
class BareSessions {
 public:
  explicit BareSessions(const std::string& path) {
    CHECK(sqlite3_open(path.c_str(), &db_) == SQLITE_OK);
    exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
  }
  BareSessions(const BareSessions&) = delete;
  BareSessions& operator=(const BareSessions&) = delete;
  ~BareSessions() { sqlite3_close(db_); }

  void fill(const Stored& stored, std::size_t row_bytes) {
    exec(
        "PRAGMA wal_autocheckpoint = 1000; PRAGMA synchronous = OFF;"
        "CREATE TABLE sessions(number INTEGER PRIMARY KEY, open INTEGER, bytes BLOB);"
        "CREATE INDEX open_ones ON sessions(number) WHERE open = 1;"
        "CREATE TABLE log(pos INTEGER PRIMARY KEY, bytes BLOB)");
    exec(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
                    "INSERT INTO sessions SELECT i, i % {} = 0, zeroblob({}) FROM n",
                    stored.sessions, stored.sessions / open_count, row_bytes));
  }
  // Gives the rows of open sessions this many bytes, like those of the store.
  void keep(std::size_t row_bytes) {
    exec(fmt::format("UPDATE sessions SET bytes = zeroblob({}) WHERE open = 1", row_bytes));
  }
  // The minimum that a boot must do.
  void boot() {
    std::size_t rows = 0;
    const auto count = [](void* rows, int, char**, char**) {
      return ++*static_cast<std::size_t*>(rows), 0;
    };
    CHECK(sqlite3_exec(db_, "SELECT number, bytes FROM sessions WHERE open = 1", count, &rows,
                       nullptr) == SQLITE_OK);
    CHECK(rows == open_count);
    exec(
        fmt::format("BEGIN IMMEDIATE; INSERT INTO log(bytes) SELECT zeroblob({}) FROM sessions "
                    "WHERE open = 1; COMMIT",
                    record_bytes));
  }

 private:
  void exec(const std::string& sql) {
    CHECK(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  sqlite3* db_ = nullptr;
};

struct Figures {
  std::vector<double> open, boot, whole, bare, memory_kib;
};

void measure(const Stored& stored, Agents agents, Cache cache, Figures& out) {
  if (cache == Cache::cold) make_cold(stored.options.path);
  {
    const PeakMemory memory;
    const double start = seconds();
    Life life(stored.options, agents);
    life.boot();
    const double ready = seconds();
    out.open.push_back(life.opened() - start);
    out.boot.push_back(ready - life.opened());
    out.whole.push_back(ready - start);
    out.memory_kib.push_back(memory.growth_kib());
    CHECK(life.attached() == open_count && life.runtime().damaged().empty());
  }
  if (cache == Cache::cold) make_cold(stored.bare);
  const double start = seconds();
  BareSessions bare(stored.bare);
  bare.boot();
  out.bare.push_back(seconds() - start);
}

struct Way {
  const char* name;
  Agents agents;
  Cache cache;
  Figures small = {};
  Figures large = {};
};

void print(const Way& way, const Stored& small, const Stored& large) {
  fmt::print("\n{}\n  {:<22} {:>8} {:>14} {:>8} {:>11} {:>11} {:>9}\n", way.name, "", "open ms",
             "until ready ms", "both", "memory", "bare table", "of bare");
  const auto line = [](const Stored& stored, const Figures& figures) {
    fmt::print(
        "  among {:>7} stored   {:>8.2f} {:>14.2f} {:>8.2f} {:>7.0f} KiB {:>11.2f} {:>9.1f}\n",
        stored.sessions, 1e3 * median(figures.open), 1e3 * median(figures.boot),
        1e3 * median(figures.whole), median(figures.memory_kib), 1e3 * median(figures.bare),
        median(figures.whole) / median(figures.bare));
  };
  line(small, way.small);
  line(large, way.large);
  const auto ratio = [&](std::vector<double> Figures::* what) {
    return median(way.large.*what) / median(way.small.*what);
  };
  fmt::print(
      "  ratio {:.2f} (at most 2 wanted), of the boot alone {:.2f}, memory {:.2f}, bare {:.2f}\n",
      ratio(&Figures::whole), ratio(&Figures::boot), ratio(&Figures::memory_kib),
      ratio(&Figures::bare));
}

void run(const Arguments& arguments) {
  const Scratch scratch(arguments.dir);
  const auto made = [&](const std::string& name, std::size_t sessions) {
    Stored out{.bare = scratch.file(name + "-bare.db"), .sessions = sessions};
    out.options.path = scratch.file(name + ".db");
    fill_closed(out);
    make_open(out);
    BareSessions(out.bare).fill(out, journal_bytes(out) / open_count);
    return out;
  };
  const Stored small = made("small", 1000);
  const Stored large = made("large", arguments.quick ? 20'000 : 100'000);
  const std::size_t first_bytes = journal_bytes(small) / open_count;
  std::array ways{
      Way{"agents alive", Agents::alive, Cache::warm},
      Way{"agents alive, files dropped from the page cache", Agents::alive, Cache::cold},
      Way{"agents gone", Agents::gone, Cache::warm},  // last: it ends the sessions' agents
  };
  for (int round = 0; round < (arguments.quick ? 4 : 15); ++round) {
    for (Way& way : ways) {
      if (round % 2 == 0) measure(small, way.agents, way.cache, way.small);
      measure(large, way.agents, way.cache, way.large);
      if (round % 2 != 0) measure(small, way.agents, way.cache, way.small);
    }
    for (const Stored& stored : {small, large}) {
      make_open(stored);
      BareSessions(stored.bare).keep(journal_bytes(stored) / open_count);
    }
  }
  fmt::print(
      "boot with {} open sessions of {} bytes at first and {} in the end; files of {} and {} MB\n",
      open_count, first_bytes, journal_bytes(small) / open_count,
      fs::file_size(small.options.path) / 1'000'000, fs::file_size(large.options.path) / 1'000'000);
  for (const Way& way : ways) print(way, small, large);
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  perdure::bench::run(perdure::bench::Arguments::parse(argc, argv));
  return 0;
}
