// Durable append of 300-byte records on each engine, compared with a plain file: K sessions, each
// waiting for its acknowledgement before its next record, so that a commit carries K records. The
// plain file gets the same K records in one write and one fdatasync, and the plain table the same K
// rows in one INSERT from arrays. The cost of a sync depends on whether a file grows or is
// overwritten. So the plain file and SQLite, whose WAL grows until its first checkpoint and is
// overwritten afterwards, are measured both ways. The database server is our own, with fsync on.
// Rounds alternate in one process; figures are medians over rounds, including everything that an
// engine does after a commit.
#include <functional>

#include <fmt/core.h>

#include "bench_tools.h"
#include "raw_log.h"
#include "store/files/files_store.h"
#include "store/files/posix_disk.h"
#include "store/postgres/postgres_store.h"
#include "testing/postgres/postgres_server.h"

namespace perdure::bench {
namespace {

// Like journal records: an object on one line.
const std::string& record() {
  static const std::string bytes = "{\"text\":\"" + std::string(289, 'r') + "\"}";
  return bytes;
}

struct Load {
  std::size_t sessions = 0;
  std::size_t batches = 0;
};

double raw_round(RawLog& log, const Load& load) {
  log.start_over();
  const double start = seconds();
  for (std::size_t i = 0; i < load.batches; ++i) {
    log.write(load.sessions, [](std::size_t) -> const std::string& { return record(); });
  }
  return static_cast<double>(load.batches * load.sessions) / (seconds() - start);
}

double engine_round(perdure::StoreEngine& store, const Load& load, std::vector<Seq>& heads) {
  std::size_t acked = 0;
  const double start = seconds();
  for (std::size_t i = 0; i < load.batches; ++i) {
    for (std::size_t k = 0; k < load.sessions; ++k) {
      Append batch{.session = SessionId(Ulid{1, k + 1}),
                   .epoch = store.epoch(),
                   .expected_head = heads[k]++};
      batch.records.push_back(record());
      store.append(std::move(batch), [&](const Result<>& done) {
        CHECK(done.has_value());
        ++acked;
      });
    }
    store.step();
  }
  const double took = seconds() - start;
  CHECK(acked == load.batches * load.sessions);
  return static_cast<double>(acked) / took;
}

// The minimum that a database must do for the same rows.
double table_round(PgLink& link, const Load& load, std::vector<Seq>& heads) {
  const PgStatement insert{"insert",
                           "INSERT INTO plain SELECT * FROM unnest($1::uuid[], $2::bigint[], "
                           "$3::bytea[])"};
  const double start = seconds();
  for (std::size_t i = 0; i < load.batches; ++i) {
    PgArray ids(PgType::uuid), seqs(PgType::int8), bytes(PgType::bytes);
    for (std::size_t k = 0; k < load.sessions; ++k) {
      ids.add(Ulid{1, k + 1});
      seqs.add(++heads[k]);
      bytes.add(record());
    }
    CHECK(link.run(insert, PgParams().array(ids).array(seqs).array(bytes)).has_value());
  }
  return static_cast<double>(load.batches * load.sessions) / (seconds() - start);
}

void compare_database(PostgresServer& server, const Load& load, std::size_t rounds) {
  const std::string place = server.new_database();
  const auto store =
      PostgresStore::open({.place = place, .node = "bench", .instance = "bench", .new_log_id = "b"})
          .value();
  const auto link = PgLink::open(place, {}).value();
  CHECK(link->script("CREATE TABLE plain(session uuid, seq bigint, bytes bytea, "
                     "PRIMARY KEY(session, seq))")
            .has_value());
  std::vector<double> of_table, of_store;
  std::vector<Seq> table_heads(load.sessions), heads(load.sessions);
  for (std::size_t round = 0; round <= rounds; ++round) {
    if (round == 1) of_table = of_store = {};  // the first one is a warm-up
    of_table.push_back(table_round(*link, load, table_heads));
    of_store.push_back(engine_round(*store, load, heads));
  }
  fmt::print("{:>6} sessions  plain table {:>8.0f}/s   postgres {:>9.0f}/s ({:.2f})\n",
             load.sessions, median(of_table), median(of_store),
             median(of_store) / median(of_table));
}

// One of the compared engines, with the rate of each round.
struct Side {
  const char* name;
  std::function<double()> round;
  std::vector<double> rates = {};
};

constexpr std::size_t sessions_max = 1000;

// Appends until the WAL has been checkpointed once: from then on it is overwritten.
void wear_in(SqliteStore& store, std::vector<Seq>& heads) {
  while (store.stats().checkpoints == 0) {
    engine_round(store, {.sessions = sessions_max, .batches = 10}, heads);
  }
  run_idle(store);
}

void compare(const Arguments& arguments, const Load& load, std::size_t rounds) {
  const Scratch scratch(arguments.dir);
  RawLog growing(scratch.file("growing"), 0);
  RawLog prewritten(scratch.file("prewritten"), load.batches * load.sessions * record().size() + 1);
  const std::unique_ptr<SqliteStore> worn = open_store({.path = scratch.file("worn.db")});
  const auto files =
      FilesStore::open({.disk = open_posix_disk(scratch.file("files"), JournalOpen::create).value(),
                        .new_log_id = "bench"})
          .value();
  std::vector<Seq> worn_heads(sessions_max), files_heads(load.sessions);
  wear_in(*worn, worn_heads);
  const auto new_sqlite = [&] {
    const Scratch fresh(arguments.dir);
    std::vector<Seq> heads(load.sessions);
    return engine_round(*open_store({.path = fresh.file("new.db")}), load, heads);
  };
  Side sides[] = {
      {"plain file, growing", [&] { return raw_round(growing, load); }},
      {"plain file, written before", [&] { return raw_round(prewritten, load); }},
      {"files", [&] { return engine_round(*files, load, files_heads); }},
      {"sqlite, new", new_sqlite},
      {"sqlite, behind its first checkpoint",
       [&] { return engine_round(*worn, load, worn_heads); }},
  };
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (Side& side : sides) {
      const double rate = side.round();
      if (round > 0) side.rates.push_back(rate);  // the first one is a warm-up
    }
  }
  fmt::print("\n{} session{}\n  {:<38} {:>10} {:>18} {:>18}\n", load.sessions,
             load.sessions == 1 ? "" : "s", "", "records/s", "of the growing", "of the written");
  for (const Side& side : sides) {
    const double rate = median(side.rates);
    fmt::print("  {:<38} {:>10.0f} {:>18.2f} {:>18.2f}\n", side.name, rate,
               rate / median(sides[0].rates), rate / median(sides[1].rates));
  }
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  using namespace perdure::bench;
  const Arguments arguments = Arguments::parse(argc, argv);
  const std::size_t rounds = arguments.quick ? 3 : 9;
  compare(arguments, {.sessions = 1, .batches = 500}, rounds);
  compare(arguments, {.sessions = 100, .batches = 100}, rounds);
  compare(arguments, {.sessions = sessions_max, .batches = 30}, rounds);
  const auto server = perdure::PostgresServer::start(perdure::PostgresServer::Sync::on);
  if (!server) {
    fmt::print("no PostgreSQL: {}\n", server.error().message());
    return 0;
  }
  compare_database(**server, {.sessions = 1, .batches = 500}, rounds);
  compare_database(**server, {.sessions = 100, .batches = 100}, rounds);
  compare_database(**server, {.sessions = 1000, .batches = 30}, rounds);
  return 0;
}
