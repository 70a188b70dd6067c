// Durable append of 300-byte records on each engine beside a plain file: K sessions, each waiting
// for its acknowledgement before its next record, so that a commit carries K records. The plain
// file gets the same K records in one write and one fdatasync, and the plain table the same K rows
// in one INSERT from arrays. The database server is one of our own, with fsync on. Rounds alternate
// in one process; figures are medians over rounds, with everything that an engine does in the
// background inside.
#include <fcntl.h>
#include <fmt/core.h>

#include "bench_tools.h"
#include "store_files/files_store.h"
#include "store_files/posix_disk.h"
#include "store_postgres/postgres_store.h"
#include "testing/postgres_server.h"

namespace perdure::bench {
namespace {

// As journal records are: an object on one line.
const std::string& record() {
  static const std::string bytes = "{\"text\":\"" + std::string(289, 'r') + "\"}";
  return bytes;
}

struct Load {
  std::size_t sessions = 0;
  std::size_t batches = 0;
};

double raw_round(const std::string& path, const Load& load) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND, 0600);
  CHECK(file >= 0);
  const double start = seconds();
  std::string buffer;
  for (std::size_t i = 0; i < load.batches; ++i) {
    buffer.clear();
    for (std::size_t k = 0; k < load.sessions; ++k) buffer += record() + "\n";
    CHECK(::write(file, buffer.data(), buffer.size()) == static_cast<ssize_t>(buffer.size()));
    CHECK(::fdatasync(file) == 0);
  }
  const double took = seconds() - start;
  ::close(file);
  return static_cast<double>(load.batches * load.sessions) / took;
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

// The least that a database has to do for the same rows.
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
    if (round == 1) of_table = of_store = {};  // the first one warms up
    of_table.push_back(table_round(*link, load, table_heads));
    of_store.push_back(engine_round(*store, load, heads));
  }
  fmt::print("{:>6} sessions  plain table {:>8.0f}/s   postgres {:>9.0f}/s ({:.2f})\n",
             load.sessions, median(of_table), median(of_store),
             median(of_store) / median(of_table));
}

void compare(const Arguments& arguments, const Load& load, std::size_t rounds) {
  const Scratch scratch(arguments.dir);
  SqliteOptions options;
  options.path = scratch.file("journal.db");
  const std::unique_ptr<SqliteStore> sqlite = open_store(options);
  const auto files =
      FilesStore::open({.disk = open_posix_disk(scratch.file("files"), JournalOpen::create).value(),
                        .new_log_id = "bench"})
          .value();
  std::vector<double> raw, of_sqlite, of_files;
  std::vector<Seq> sqlite_heads(load.sessions), files_heads(load.sessions);
  for (std::size_t round = 0; round <= rounds; ++round) {
    if (round == 1) raw = of_sqlite = of_files = {};  // the first one warms up
    raw.push_back(raw_round(scratch.file("raw"), load));
    of_files.push_back(engine_round(*files, load, files_heads));
    of_sqlite.push_back(engine_round(*sqlite, load, sqlite_heads));
  }
  const double base = median(raw);
  fmt::print(
      "{:>6} sessions  plain file {:>9.0f}/s   files {:>9.0f}/s ({:.2f})   sqlite {:>9.0f}/s "
      "({:.2f})   files/sqlite {:.2f}\n",
      load.sessions, base, median(of_files), median(of_files) / base, median(of_sqlite),
      median(of_sqlite) / base, median(of_files) / median(of_sqlite));
}

}  // namespace
}  // namespace perdure::bench

int main(int argc, char** argv) {
  using namespace perdure::bench;
  const Arguments arguments = Arguments::parse(argc, argv);
  const std::size_t rounds = arguments.quick ? 3 : 9;
  compare(arguments, {.sessions = 1, .batches = 500}, rounds);
  compare(arguments, {.sessions = 100, .batches = 100}, rounds);
  compare(arguments, {.sessions = 1000, .batches = 30}, rounds);
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
