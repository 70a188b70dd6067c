// Several nodes on one database: ownership of sessions, how it changes, and that a previous owner
// can no longer write. The tests wait for no clock: a node is silent because its row says so.
#include "testing/postgres/postgres_nodes.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "testing/postgres/pg_gate.h"

namespace perdure {
namespace {

using postgres_test::PostgresNodesTest;
using postgres_test::session;

class PostgresNodes : public PostgresNodesTest {
 protected:
  static bool is_silent(PostgresStore& store, const std::string& name) {
    const auto nodes = store.nodes();
    return nodes && std::ranges::any_of(*nodes, [&](const StoreNode& one) {
             return one.name == name && one.is_silent;
           });
  }
  // Adds a record after which the session is not open.
  static Result<> commit_closed(PostgresStore& store, std::uint64_t number) {
    std::optional<Result<>> out;
    store.append({.session = session(number),
                  .epoch = own(store, number),
                  .expected_head = store.head(session(number))->seq,
                  .records = {"end"},
                  .listing = Listing{.open = false}},
                 [&](Result<> result) { out = std::move(result); });
    store.step();
    return *out;
  }
};

TEST_F(PostgresNodes, C19_a_session_is_the_node_s_that_asked_first_and_only_that_one_writes) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  EXPECT_TRUE(a.is_shared());
  const std::uint64_t epoch = own(a, 1);
  EXPECT_EQ(epoch, a.epoch());
  EXPECT_EQ(own(a, 1), epoch) << "asked again it is the same";
  EXPECT_EQ(*b.own(session(1)), (Lease{.epoch = 0, .node = "a"}));
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "a", .epoch = epoch}));
  EXPECT_EQ(put_on(b, {.number = 1, .head = 1, .record = "b"}).error().code(), Code::stale_owner);
  EXPECT_EQ(put_on(b, {.number = 1, .head = 1, .record = "b", .epoch = epoch}).error().code(),
            Code::stale_owner)
      << "the epoch of another is no lease";
  EXPECT_EQ(b.remove(session(1)).error().code(), Code::stale_owner);
  EXPECT_EQ(
      b.redact({.session = session(1), .seq = 1, .replacement = "x", .blobs = {}}).error().code(),
      Code::stale_owner);
  EXPECT_EQ(all_on(b, 1), std::vector<std::string>{"a"});
  ASSERT_TRUE(put_on(a, {.number = 1, .head = 1, .record = "more", .epoch = epoch}));
  EXPECT_EQ(put_on(a, {.number = 1, .head = 2, .record = "x", .epoch = epoch + 9}).error().code(),
            Code::stale_owner)
      << "nor is one that nobody gave";
  EXPECT_EQ(b.orphans(10)->size(), 0U);
}

TEST_F(PostgresNodes, C19_J1_what_a_stopped_node_had_queued_is_refused_after_another_has_taken_it) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  const std::uint64_t before = own(a, 1);
  for (std::uint64_t n = 1; n <= 100; ++n) ASSERT_TRUE(put_on(a, {.number = n, .record = "a"}));
  std::vector<std::optional<Result<>>> late(100);
  for (std::uint64_t n = 1; n <= 100; ++n) {
    queue_on(a, {.number = n, .head = 1, .record = "late"}, late[n - 1]);
  }
  silence("a");
  EXPECT_EQ(b.orphans(1000)->size(), 100U);
  const std::uint64_t taken = own(b, 50);
  EXPECT_GT(taken, before);
  EXPECT_GT(taken, b.epoch());
  ASSERT_TRUE(put_on(b, {.number = 50, .head = 1, .record = "b", .epoch = taken}));
  EXPECT_TRUE(a.step());
  for (std::uint64_t n = 1; n <= 100; ++n) {
    ASSERT_TRUE(late[n - 1].has_value()) << n;
    if (n == 50) {
      EXPECT_EQ(late[n - 1]->error().code(), Code::stale_owner);
    } else {
      EXPECT_TRUE(*late[n - 1]) << n << late[n - 1]->error().message();
    }
  }
  EXPECT_EQ(all_on(b, 50), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all_on(b, 51), (std::vector<std::string>{"a", "late"}));
  EXPECT_EQ(fatal_, 0) << "the node lives on with the others";
  EXPECT_EQ(*a.own(session(50)), (Lease{.epoch = 0, .node = "b"}));
}

TEST_F(PostgresNodes, J3_nothing_of_a_late_append_is_there_though_its_head_would_fit) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "a"}));
  const std::string blob = "bytes";
  std::optional<Result<>> late;
  a.append({.session = session(1),
            .epoch = a.epoch(),
            .expected_head = 1,
            .records = {"late"},
            .outbox_add = {{1, "effect"}},
            .answers = {{.key = "key"}},
            .refs = {"ref"},
            .blobs = {{.hash = sha256(blob), .bytes = blob}},
            .snapshot = "snapshot"},
           [&](Result<> result) { late = std::move(result); });
  silence("a");
  EXPECT_GT(own(b, 1), 0U);
  EXPECT_TRUE(a.step());
  EXPECT_EQ(late->error().code(), Code::stale_owner);
  EXPECT_EQ(b.head(session(1))->seq, 1U);
  EXPECT_TRUE(b.outbox(session(1))->empty());
  EXPECT_FALSE(b.answer("key")->has_value());
  EXPECT_FALSE(b.find_ref("ref")->has_value());
  EXPECT_FALSE(b.snapshot(session(1))->has_value());
  EXPECT_EQ(b.blob(sha256(blob)).error().code(), Code::not_found);
}

TEST_F(PostgresNodes, C19_an_append_of_before_is_refused_though_the_session_has_come_back) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "a"}));
  std::optional<Result<>> late;
  queue_on(a, {.number = 1, .head = 1, .record = "late"}, late);
  silence("a");
  own(b, 1);
  silence("b");
  const std::uint64_t again = own(a, 1);
  EXPECT_TRUE(a.step());
  EXPECT_EQ(late->error().code(), Code::stale_owner) << "what it knew may be of before b's time";
  EXPECT_TRUE(put_on(a, {.number = 1, .head = 1, .record = "now", .epoch = again}));
  EXPECT_EQ(all_on(b, 1), (std::vector<std::string>{"a", "now"}));
}

TEST_F(PostgresNodes, S8_the_epochs_of_a_session_grow_whoever_takes_it) {
  node("a");
  node("b");
  std::uint64_t last = own(*nodes_["a"].back(), 1);
  Seq head = 0;
  for (int round = 0; round < 12; ++round) {
    const std::string name = round % 2 == 0 ? "b" : "a";
    silence(round % 2 == 0 ? "a" : "b");
    if (round % 5 == 4) node(name);
    PostgresStore& store = *nodes_[name].back();
    const std::uint64_t taken = own(store, 1);
    EXPECT_GT(taken, last) << round;
    EXPECT_EQ(own(store, 1), taken);
    EXPECT_EQ(
        put_on(store, {.number = 1, .head = head, .record = "x", .epoch = last}).error().code(),
        Code::stale_owner);
    ASSERT_TRUE(put_on(store, {.number = 1, .head = head, .record = "x", .epoch = taken}));
    ++head;
    last = taken;
    if (round % 3 == 2) {
      PostgresStore& next = node(name);
      const std::uint64_t again = own(next, 1);
      EXPECT_GT(again, last) << "the next life of the owner";
      EXPECT_EQ(again, next.epoch());
      ASSERT_TRUE(put_on(next, {.number = 1, .head = head, .record = "x", .epoch = again}));
      ++head;
      last = again;
    }
  }
}

TEST_F(PostgresNodes, a_session_that_two_take_at_once_has_one_owner) {
  PostgresStore& gone = node("gone");
  for (std::uint64_t n = 1; n <= 60; ++n) ASSERT_TRUE(put_on(gone, {.number = n, .record = "x"}));
  ASSERT_TRUE(gone.shut_down());
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  std::map<std::string, std::set<std::uint64_t>> got;
  const auto take = [&](PostgresStore& store, std::set<std::uint64_t>& mine) {
    for (std::uint64_t n = 1; n <= 90; ++n) {  // those above 60 have no owner yet
      const Result<Lease> lease = store.own(session(n));
      EXPECT_TRUE(lease) << lease.error().message();
      if (lease && lease->epoch > 0) mine.insert(n);
    }
  };
  std::set<std::uint64_t>& of_b = got["b"];
  std::jthread other([&] { take(b, of_b); });
  take(a, got["a"]);
  other.join();
  EXPECT_EQ(got["a"].size() + got["b"].size(), 90U);
  for (const std::uint64_t n : got["a"]) EXPECT_FALSE(got["b"].contains(n)) << n;
  EXPECT_EQ(count("SELECT count(*) FROM perdure.leases WHERE node = 'a'"),
            static_cast<std::int64_t>(got["a"].size()));
}

TEST_F(PostgresNodes, a_lease_that_is_offered_to_a_home_is_taken_there_and_nowhere_else) {
  PostgresStore& a = node("a", "h1");
  PostgresStore& b = node("b", "h2");
  PostgresStore& c = node("c", "h3");
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "a"}));
  const OwnedSession owned{.session = session(1), .epoch = own(a, 1)};
  EXPECT_TRUE(a.offer({.session = session(1), .epoch = owned.epoch + 1}, "h2"));
  EXPECT_TRUE(c.offer(owned, "h2"));
  EXPECT_EQ(own(b, 1), 0U) << "only its owner offers it";
  ASSERT_TRUE(a.offer(owned, "h2"));
  EXPECT_EQ(own(a, 1), owned.epoch) << "it stays the owner's until then";
  ASSERT_TRUE(put_on(a, {.number = 1, .head = 1, .record = "more", .epoch = owned.epoch}));
  EXPECT_TRUE(c.orphans(9)->empty());
  EXPECT_TRUE(c.open_sessions()->empty());
  EXPECT_EQ(own(c, 1), 0U);
  EXPECT_EQ(*b.orphans(9), std::vector{session(1)});
  EXPECT_EQ(*b.open_sessions(), std::vector{session(1)});
  EXPECT_EQ(a.lost({&owned, 1})->size(), 0U);
  const std::uint64_t taken = own(b, 1);
  EXPECT_GT(taken, owned.epoch);
  EXPECT_EQ(*a.lost({&owned, 1}), std::vector{session(1)});
  EXPECT_TRUE(a.open_sessions()->empty());
  EXPECT_EQ(own(node("d", "h2"), 1), 0U) << "the offer is used up";
  EXPECT_TRUE(a.offer(owned, "h3"));
  EXPECT_EQ(own(c, 1), 0U) << "it is not the first one's to offer any more";
  EXPECT_EQ(put_on(a, {.number = 1, .head = 2, .record = "x", .epoch = owned.epoch}).error().code(),
            Code::stale_owner);
  ASSERT_TRUE(put_on(b, {.number = 1, .head = 2, .record = "b", .epoch = taken}));
}

TEST_F(PostgresNodes, open_sessions_are_nobody_s_this_node_s_and_those_of_who_is_silent) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  PostgresStore& gone = node("gone");
  for (std::uint64_t n = 1; n <= 2; ++n) {
    ASSERT_TRUE(put_on(a, {.number = n, .record = "x"}));
    ASSERT_TRUE(put_on(b, {.number = 10 + n, .record = "x"}));
    ASSERT_TRUE(put_on(gone, {.number = 20 + n, .record = "x"}));
  }
  ASSERT_TRUE(put_on(a, {.number = 30, .record = "x"}));
  sql("DELETE FROM perdure.leases WHERE session = (SELECT max(id::text)::uuid FROM "
      "perdure.sessions)");
  using Ids = std::vector<SessionId>;
  EXPECT_EQ(*a.open_sessions(), (Ids{session(1), session(2), session(30)}));
  EXPECT_EQ(*b.orphans(9), Ids{session(30)});
  ASSERT_TRUE(gone.shut_down());
  EXPECT_EQ(*a.open_sessions(),
            (Ids{session(1), session(2), session(21), session(22), session(30)}))
      << "who said farewell is not waited for";
  EXPECT_EQ(*b.orphans(9), (Ids{session(21), session(22), session(30)}));
  EXPECT_EQ(*b.orphans(2), (Ids{session(21), session(22)}));
  silence("a");
  EXPECT_EQ(b.open_sessions()->size(), 7U);
  ASSERT_TRUE(commit_closed(b, 11));
  EXPECT_EQ(b.open_sessions()->size(), 6U);
}

TEST_F(PostgresNodes, whose_sessions_are_is_one_question_that_takes_none) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  PostgresStore& gone = node("gone");
  own(a, 1);
  own(b, 2);
  own(gone, 3);
  const std::vector all = {session(1), session(2), session(3), session(4)};
  using Owners = std::map<SessionId, std::string>;
  EXPECT_EQ(*a.owners(all), (Owners{{session(2), "b"}, {session(3), "gone"}}));
  EXPECT_EQ(*b.owners(all), (Owners{{session(1), "a"}, {session(3), "gone"}}));
  EXPECT_EQ(*a.owners(std::vector{session(3)}), (Owners{{session(3), "gone"}}));
  EXPECT_EQ(*a.owners({}), Owners{});
  ASSERT_TRUE(gone.shut_down());
  silence("b");
  EXPECT_EQ(*a.owners(all), Owners{}) << "who is silent has none that could not be taken";
  EXPECT_EQ(*b.own(session(1)), (Lease{.epoch = 0, .node = "a"}));
  EXPECT_NE(own(a, 4), 0U) << "nobody has taken it";
}

TEST_F(PostgresNodes, what_was_lost_is_known_by_its_epoch) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  std::vector<OwnedSession> owned;
  for (std::uint64_t n = 1; n <= 5; ++n) {
    ASSERT_TRUE(put_on(a, {.number = n, .record = "x"}));
    owned.push_back({.session = session(n), .epoch = own(a, n)});
  }
  EXPECT_TRUE(a.lost(owned)->empty());
  EXPECT_TRUE(a.lost({})->empty());
  silence("a");
  own(b, 2);
  own(b, 4);
  silence("b");
  EXPECT_GT(own(a, 4), owned[3].epoch);
  EXPECT_EQ(*a.lost(owned), (std::vector{session(2), session(4)}));
  node("a");
  own(*nodes_["a"].back(), 1);
  EXPECT_EQ(a.lost(owned)->size(), 3U) << "a next life of the node has it";
}

TEST_F(PostgresNodes, C19_a_lease_of_a_session_that_was_never_made_goes_when_a_daemon_starts) {
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  PostgresStore& gone = node("gone");
  std::uint64_t number = 0;
  for (PostgresStore* const store : {&a, &b, &gone}) {
    own(*store, ++number);
    ASSERT_TRUE(put_on(*store, {.number = 10 + number, .record = "x"}));
  }
  silence("gone");
  node("b");
  EXPECT_EQ(count("SELECT count(*) FROM perdure.leases WHERE node = 'a'"), 2) << "it makes it now";
  EXPECT_EQ(count("SELECT count(*) FROM perdure.leases WHERE node = 'b'"), 1);
  EXPECT_EQ(count("SELECT count(*) FROM perdure.leases WHERE node = 'gone'"), 1);
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "made"}));
  ASSERT_TRUE(put_on(gone, {.number = 3, .record = "made"})) << "who wakes up makes it after all";
  EXPECT_EQ(all_on(a, 3), std::vector<std::string>{"made"});
}

TEST_F(PostgresNodes, C19_a_life_that_was_replaced_takes_nothing_and_learns_it_when_idle) {
  PostgresStore& older = node("a");
  ASSERT_TRUE(put_on(older, {.number = 1, .record = "x"}));
  PostgresStore& newer = node("a");
  EXPECT_EQ(older.own(session(1)).error().code(), Code::stale_owner);
  EXPECT_EQ(older.own(session(2)).error().code(), Code::stale_owner);
  EXPECT_EQ(count("SELECT count(*) FROM perdure.leases"), 1) << "and nothing was taken";
  EXPECT_EQ(older.announce("there").error().code(), Code::stale_owner);
  EXPECT_EQ(fatal_, 0);
  ASSERT_TRUE(until([&] {
    older.idle_step();
    return fatal_ > 0;
  })) << "a daemon with nothing to write has to end too";
  older.idle_step();
  EXPECT_EQ(fatal_, 1);
  EXPECT_EQ(own(newer, 1), newer.epoch());
  EXPECT_EQ(own(newer, 2), newer.epoch());
}

TEST_F(PostgresNodes, C19_a_life_that_was_replaced_ends_also_when_its_upkeep_finds_it_out) {
  PostgresStore& older = node("a");
  node("a");
  EXPECT_EQ(older.forget_answers({1}).error().code(), Code::stale_owner);
  older.idle_step();
  EXPECT_EQ(fatal_, 1);
  older.idle_step();
  EXPECT_EQ(fatal_, 1);
}

TEST_F(PostgresNodes, a_node_that_writes_without_a_pause_is_heard_of) {
  options_.lease = std::chrono::milliseconds(1'000);
  PostgresStore& a = node("a");
  PostgresStore& b = node("b");
  silence("a");
  EXPECT_TRUE(is_silent(b, "a"));
  Seq head = 0;
  ASSERT_TRUE(until([&] {
    EXPECT_TRUE(put_on(a, {.number = 1, .head = head++, .record = "x"}));
    return !is_silent(b, "a");
  }));
  ASSERT_TRUE(until([&] { return is_silent(b, "a"); })) << "and without any step it is not";
  EXPECT_GT(own(b, 1), b.epoch());
}

TEST_F(PostgresNodes, nodes_know_each_other_and_have_one_key) {
  options_.new_shared_key = "first";
  PostgresStore& a = node("a", "h1");
  options_.new_shared_key = "second";
  PostgresStore& b = node("b", "h2");
  EXPECT_EQ(*a.shared_key(), "first");
  EXPECT_EQ(*b.shared_key(), "first");
  ASSERT_TRUE(b.announce("http://b.example:1"));
  PostgresStore& gone = node("gone", "h3");
  ASSERT_TRUE(gone.shut_down());
  gone.idle_step();  // its first heartbeat would be due
  std::map<std::string, StoreNode> known;
  for (const StoreNode& one : *a.nodes()) known[one.name] = one;
  ASSERT_EQ(known.size(), 3U);
  EXPECT_TRUE(known["a"].is_self && !known["b"].is_self);
  EXPECT_EQ(known["b"].home, "h2");
  EXPECT_EQ(known["b"].address, "http://b.example:1");
  EXPECT_EQ(known["a"].address, "");
  EXPECT_FALSE(known["b"].is_silent);
  EXPECT_GE(known["b"].heard_ms, 0);
  EXPECT_TRUE(known["gone"].is_silent);
  EXPECT_EQ(known["gone"].heard_ms, -1);
  node("b", "h2");
  for (const StoreNode& one : *a.nodes()) {
    if (one.name == "b") EXPECT_EQ(one.address, "") << "a next life is elsewhere";
  }
}

TEST_F(PostgresNodes, a_question_whose_answer_was_cut_off_is_asked_again) {
  PgGate gate(PostgresServer::shared().socket_path());
  PostgresStore& b = node("b");
  options_.place = PostgresServer::through_port(options_.place, gate.port());
  PostgresStore& a = node("a");
  const std::uint64_t epoch = own(a, 1);
  gate.set(PgGate::Door::shut);
  gate.set(PgGate::Door::open);
  EXPECT_EQ(own(a, 1), epoch);
  EXPECT_EQ(own(b, 1), 0U);
  nodes_["a"].clear();
}

}  // namespace
}  // namespace perdure
