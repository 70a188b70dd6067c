// Concurrent operations of several nodes: taking a lease during its owner's commit, journals that
// all nodes write, and blobs that gain an owner while another is removed.
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "testing/postgres/postgres_nodes.h"

namespace perdure {
namespace {

using postgres_test::PostgresBarrier;
using postgres_test::PostgresNodesTest;
using postgres_test::session;

class PostgresFence : public PostgresNodesTest {
 protected:
  void SetUp() override {
    PostgresNodesTest::SetUp();
    options_.write_times.statement = std::chrono::milliseconds(30'000);
    options_.read_times.statement = std::chrono::milliseconds(30'000);
  }
  Result<> all_put(PostgresStore& store, const Put& put) {
    std::optional<Result<>> out;
    store.append({.session = session(put.number),
                  .epoch = store.epoch(),
                  .expected_head = put.head,
                  .records = {put.record},
                  .by_all = true},
                 [&](Result<> result) { out = std::move(result); });
    store.step();
    return out ? *out : fail(Code::internal, "the Done did not run");
  }
  static Append with_blob(PostgresStore& store, std::uint64_t number) {
    return {.session = session(number),
            .epoch = store.epoch(),
            .records = {"x"},
            .blobs = {{.hash = sha256("blob"), .bytes = "blob"}}};
  }
  static Append with_ref(PostgresStore& store, std::uint64_t number) {
    return {.session = session(number),
            .epoch = store.epoch(),
            .records = {"x"},
            .blob_refs = {sha256("blob")}};
  }
  // Creates a session of a node that is gone.
  void leave_orphan(std::uint64_t number) {
    PostgresStore& gone = node("gone");
    ASSERT_TRUE(put_on(gone, {.number = number, .record = "x"}));
    ASSERT_TRUE(gone.shut_down());
  }
  static Result<> commit_on(PostgresStore& store, Append batch) {
    std::optional<Result<>> out;
    store.append(std::move(batch), [&](Result<> result) { out = std::move(result); });
    store.step();
    return out ? *out : fail(Code::internal, "the Done did not run");
  }
};

TEST_F(PostgresFence, J1_who_takes_a_session_waits_for_the_commit_that_is_under_way_and_sees_it) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "a"}));
  PostgresBarrier barrier({.place = options_.place, .trigger = "BEFORE INSERT ON perdure.records"});
  std::jthread writing([&] {
    const Result<> done = put_on(a, {.number = 1, .head = 1, .record = "under way"});
    EXPECT_TRUE(done) << done.error().message();
  });
  ASSERT_TRUE(until([&] { return is_waiting("held AS MATERIALIZED"); }));
  // Neither its own node nor a node that only reads must wait for it.
  EXPECT_EQ(own(a, 1), a.epoch());
  EXPECT_EQ(b.own(session(1))->node, "a");
  EXPECT_GT(own(a, 2), 0U);
  silence("a");
  std::atomic<bool> has_taken = false;
  std::uint64_t epoch = 0;
  Seq head = 0;
  std::jthread taking([&] {
    epoch = own(b, 1);
    has_taken = true;
    head = b.head(session(1))->seq;
  });
  EXPECT_TRUE(until([&] { return has_taken || is_waiting("FOR KEY SHARE"); }));
  EXPECT_FALSE(has_taken);
  barrier.let_go();
  writing.join();
  taking.join();
  EXPECT_EQ(head, 2U) << "what was under way is durable before the session is another's";
  EXPECT_EQ(put_on(a, {.number = 1, .head = 2, .record = "late"}).error().code(),
            Code::stale_owner);
  EXPECT_TRUE(put_on(b, {.number = 1, .head = 2, .record = "b", .epoch = epoch}));
}

TEST_F(PostgresFence, C19_who_waited_while_another_took_the_session_finds_it_taken) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  leave_orphan(1);
  PostgresBarrier barrier({.place = options_.place, .trigger = "BEFORE UPDATE ON perdure.leases"});
  std::uint64_t taken = 0;
  std::jthread taking([&] { taken = own(a, 1); });
  ASSERT_TRUE(until([&] { return waiting_count("FOR KEY SHARE") == 1; }));
  std::optional<Lease> second;
  std::jthread waiting([&] { second = b.own(session(1)).value_or(Lease{}); });
  ASSERT_TRUE(until([&] { return waiting_count("FOR KEY SHARE") == 2; }));
  barrier.let_go();
  taking.join();
  waiting.join();
  EXPECT_GT(taken, 0U);
  EXPECT_EQ(*second, (Lease{.epoch = 0, .node = "a"}));
  EXPECT_TRUE(put_on(a, {.number = 1, .head = 1, .record = "a", .epoch = taken}));
}

TEST_F(PostgresFence, S8_a_next_life_of_the_node_has_a_higher_epoch_than_what_the_older_is_taking) {
  PostgresStore& older = node("a");
  leave_orphan(1);
  PostgresBarrier barrier({.place = options_.place, .trigger = "BEFORE UPDATE ON perdure.leases"});
  std::uint64_t taken = 0;
  std::jthread taking([&] { taken = own(older, 1); });
  ASSERT_TRUE(until([&] { return is_waiting("FOR KEY SHARE"); }));
  ASSERT_EQ(count("SELECT 1::bigint"), 1);
  older.idle_step();
  EXPECT_EQ(fatal_, 0) << "the heartbeat does not wait for it";
  std::jthread replacing([&] { node("a"); });
  EXPECT_TRUE(until([&] { return is_waiting("FOR UPDATE"); }));
  barrier.let_go();
  taking.join();
  replacing.join();
  PostgresStore& newer = *nodes_["a"].back();
  EXPECT_GT(taken, 0U);
  EXPECT_GT(newer.epoch(), taken);
  EXPECT_EQ(own(newer, 1), newer.epoch());
}

TEST_F(PostgresFence, a_journal_of_all_takes_each_append_once_from_two_who_write_at_once) {
  constexpr int appends = 200;
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  std::atomic<int> conflicts = 0;
  const auto write = [&](PostgresStore& store, const std::string& name) {
    for (int i = 0; i < appends;) {
      const Result<SessionHead> head = store.head(session(1));
      const Result<> done = all_put(
          store, {.number = 1, .head = head ? head->seq : 0, .record = name + std::to_string(i)});
      if (done) {
        ++i;
        continue;
      }
      ASSERT_EQ(done.error().code(), Code::conflict) << done.error().message();
      ++conflicts;
    }
  };
  std::jthread other([&] { write(b, "b"); });
  write(a, "a");
  other.join();
  EXPECT_GT(conflicts, 0);
  const std::vector<std::string> records = all_on(a, 1);
  EXPECT_EQ(records.size(), 2U * appends);
  std::map<char, int> next;
  for (const std::string& record : records) {
    EXPECT_EQ(record.substr(1), std::to_string(next[record[0]]++)) << "each once, in its order";
  }
  EXPECT_EQ(count("SELECT count(*) FROM perdure.leases"), 0);
}

TEST_F(PostgresFence, a_journal_of_all_refuses_what_comes_second_and_nothing_beside_it) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(all_put(a, {.number = 1, .record = "first"}));
  ASSERT_TRUE(all_put(b, {.number = 1, .head = 1, .record = "second"}));
  std::optional<Result<>> late;
  std::optional<Result<>> beside;
  a.append({.session = session(1),
            .epoch = a.epoch(),
            .expected_head = 1,
            .records = {"late"},
            .by_all = true},
           [&](Result<> result) { late = std::move(result); });
  queue_on(a, {.number = 2, .record = "x"}, beside);
  EXPECT_TRUE(a.step());
  EXPECT_EQ(late->error().code(), Code::conflict) << late->error().message();
  EXPECT_TRUE(*beside) << beside->error().message();
  EXPECT_TRUE(all_put(a, {.number = 1, .head = 2, .record = "third"}));
  ASSERT_TRUE(all_put(b, {.number = 1, .head = 3, .record = "fourth"}))
      << "what it knew of the head is read anew";
  EXPECT_EQ(all_on(b, 1), (std::vector<std::string>{"first", "second", "third", "fourth"}));
}

TEST_F(PostgresFence, a_blob_that_gets_another_owner_is_not_removed_with_the_first) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(commit_on(a, with_blob(a, 1)));
  // The server inserts the records last, when everything about the blob is done.
  PostgresBarrier barrier({.place = options_.place, .trigger = "BEFORE INSERT ON perdure.records"});
  std::jthread adding([&] { EXPECT_TRUE(commit_on(b, with_blob(b, 2))); });
  ASSERT_TRUE(until([&] { return is_waiting("held AS MATERIALIZED"); }));
  std::atomic<bool> is_removed = false;
  std::jthread removing([&] {
    const Result<> removed = a.remove(session(1));
    EXPECT_TRUE(removed) << removed.error().message();
    is_removed = true;
  });
  EXPECT_TRUE(until([&] { return is_removed || is_waiting("remove_session"); }));
  barrier.let_go();
  adding.join();
  removing.join();
  EXPECT_EQ(a.head(session(1)).error().code(), Code::not_found);
  EXPECT_EQ(a.blob(sha256("blob")).value_or("gone"), "blob");
  ASSERT_TRUE(b.remove(session(2)));
  EXPECT_EQ(a.blob(sha256("blob")).error().code(), Code::not_found);
}

TEST_F(PostgresFence, a_blob_that_comes_again_while_it_is_removed_is_there) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(commit_on(a, with_blob(a, 1)));
  PostgresBarrier barrier({.place = options_.place, .trigger = "AFTER DELETE ON perdure.blobs"});
  std::jthread removing([&] { EXPECT_TRUE(a.remove(session(1))); });
  ASSERT_TRUE(until([&] { return is_waiting("remove_session"); }));
  std::jthread adding([&] { EXPECT_TRUE(commit_on(b, with_blob(b, 2))); });
  EXPECT_TRUE(until([&] { return is_waiting("held AS MATERIALIZED"); }));
  barrier.let_go();
  adding.join();
  removing.join();
  EXPECT_EQ(b.blob(sha256("blob")).value_or("gone"), "blob");
}

TEST_F(PostgresFence, a_blob_that_is_referred_to_is_not_removed_with_the_first) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(commit_on(a, with_blob(a, 1)));
  // The server inserts the records last, when everything about the blob is done.
  PostgresBarrier barrier({.place = options_.place, .trigger = "BEFORE INSERT ON perdure.records"});
  std::jthread adding([&] { EXPECT_TRUE(commit_on(b, with_ref(b, 2))); });
  ASSERT_TRUE(until([&] { return is_waiting("held AS MATERIALIZED"); }));
  std::atomic<bool> is_removed = false;
  std::jthread removing([&] {
    EXPECT_TRUE(a.remove(session(1)));
    is_removed = true;
  });
  EXPECT_TRUE(until([&] { return is_removed || is_waiting("remove_session"); }));
  barrier.let_go();
  adding.join();
  removing.join();
  EXPECT_EQ(b.blob(sha256("blob")).value_or("gone"), "blob");
}

TEST_F(PostgresFence, J3_a_reference_to_a_blob_that_is_removed_meanwhile_is_refused) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(commit_on(a, with_blob(a, 1)));
  PostgresBarrier barrier({.place = options_.place, .trigger = "AFTER DELETE ON perdure.blobs"});
  std::jthread removing([&] { EXPECT_TRUE(a.remove(session(1))); });
  ASSERT_TRUE(until([&] { return is_waiting("remove_session"); }));
  Result<> done;
  std::jthread adding([&] { done = commit_on(b, with_ref(b, 2)); });
  EXPECT_TRUE(until([&] { return is_waiting("held AS MATERIALIZED"); }));
  barrier.let_go();
  adding.join();
  removing.join();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code(), Code::not_found);
  EXPECT_EQ(b.head(session(2)).error().code(), Code::not_found);
}

TEST_F(PostgresFence, a_redacted_blob_leaves_no_owner_who_came_meanwhile) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(commit_on(a, with_blob(a, 1)));
  // The server inserts the records last, when everything about the blob is done.
  PostgresBarrier barrier({.place = options_.place, .trigger = "BEFORE INSERT ON perdure.records"});
  std::jthread adding([&] { EXPECT_TRUE(commit_on(b, with_blob(b, 2))); });
  ASSERT_TRUE(until([&] { return is_waiting("held AS MATERIALIZED"); }));
  std::jthread redacting([&] {
    EXPECT_TRUE(a.redact(
        {.session = session(1), .seq = 1, .replacement = "gone", .blobs = {sha256("blob")}}));
  });
  EXPECT_TRUE(until([&] { return is_waiting("SET crc"); }));
  barrier.let_go();
  adding.join();
  redacting.join();
  EXPECT_EQ(a.blob(sha256("blob")).error().code(), Code::not_found);
  EXPECT_TRUE(b.belongings(session(2))->blobs.empty());
}

}  // namespace
}  // namespace perdure
