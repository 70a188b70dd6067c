// Several nodes on one database, for tests. The test steps each store itself, so a store that it
// does not step is a daemon that was stopped during its work.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "testing/postgres/postgres_fixture.h"

namespace perdure::postgres_test {

class PostgresNodesTest : public PostgresTest {
 protected:
  // Opens a node, or its next life. The default `home` is the node's earlier one.
  PostgresStore& node(const std::string& name, const std::string& home = "") {
    PostgresOptions options = options_;
    options.node = name;
    options.home = home.empty() ? "home of " + name : home;
    options.on_fatal = [this](const Error&) { ++fatal_; };
    auto opened = PostgresStore::open(options);
    EXPECT_TRUE(opened) << opened.error().message();
    nodes_[name].push_back(*std::move(opened));
    return *nodes_[name].back();
  }
  void TearDown() override { nodes_.clear(); }

  struct Put {
    std::uint64_t number = 0;
    Seq head = 0;
    std::string record;
    std::uint64_t epoch = 0;  // 0: the store's own
  };
  static void queue_on(PostgresStore& store, const Put& put, std::optional<Result<>>& out) {
    store.append({.session = session(put.number),
                  .epoch = put.epoch == 0 ? store.epoch() : put.epoch,
                  .expected_head = put.head,
                  .records = {put.record},
                  .listing = Listing{.open = true}},
                 [&out](Result<> result) { out = std::move(result); });
  }
  static Result<> put_on(PostgresStore& store, const Put& put) {
    std::optional<Result<>> out;
    queue_on(store, put, out);
    store.step();
    return out ? *out : fail(Code::internal, "the Done did not run");
  }
  static std::uint64_t own(PostgresStore& store, std::uint64_t number) {
    const Result<Lease> lease = store.own(session(number));
    EXPECT_TRUE(lease) << lease.error().message();
    return lease ? lease->epoch : 0;
  }
  static std::vector<std::string> all_on(PostgresStore& store, std::uint64_t number) {
    auto page = store.read(session(number), {.after = 0, .limit = 10'000});
    return page ? page->records : std::vector<std::string>{page.error().message()};
  }
  // As if the node had been stopped an hour ago.
  void silence(const std::string& name) {
    sql("UPDATE perdure.nodes SET heartbeat = now() - interval '1 hour' WHERE name = '" + name +
        "'");
  }
  // How many backends wait for a lock in a statement with that text (of which 1 KiB is seen).
  std::int64_t waiting_count(const std::string& text) {
    return count(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND "
        "wait_event_type = 'Lock' AND query LIKE '%" +
        text + "%' AND pid <> pg_backend_pid()");
  }
  bool is_waiting(const std::string& text) { return waiting_count(text) > 0; }
  std::int64_t count(const std::string& query) {
    const auto link = PgLink::open(options_.place, {});
    if (!link) return -1;
    const auto rows = (*link)->run({"count", query.c_str()}, {});
    return rows ? rows->number({}) : -1;
  }

  std::map<std::string, std::vector<std::unique_ptr<PostgresStore>>> nodes_;
};

// Blocks changes of a table until it is destroyed or released.
class PostgresBarrier {
 public:
  struct Where {
    std::string place;
    std::string trigger;  // `BEFORE INSERT ON perdure.records`
  };
  explicit PostgresBarrier(const Where& where) {
    auto opened = PgLink::open(where.place, {.statement = std::chrono::milliseconds(60'000)});
    EXPECT_TRUE(opened) << opened.error().message();
    link_ = *std::move(opened);
    run("CREATE FUNCTION perdure.barrier() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_advisory_xact_lock_shared(77); "
        "IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END $$; "
        "CREATE TRIGGER barrier " +
        where.trigger + " FOR EACH ROW EXECUTE FUNCTION perdure.barrier()");
    run("SELECT pg_advisory_lock(77)");
  }
  ~PostgresBarrier() { let_go(); }
  void let_go() { link_.reset(); }

 private:
  void run(const std::string& sql) {
    const auto done = link_->script(sql);
    EXPECT_TRUE(done) << done.error().message;
  }
  std::unique_ptr<PgLink> link_;
};

}  // namespace perdure::postgres_test
