// Notifications between nodes about commits: they arrive, not at their sender, a lone node sends
// none, and a listener that was disconnected reports "any".
#include <algorithm>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "store/postgres/pg_hints.h"
#include "store/postgres/pg_schema.h"
#include "testing/postgres/pg_gate.h"
#include "testing/postgres/postgres_nodes.h"

namespace perdure {
namespace {

using postgres_test::PostgresNodesTest;
using postgres_test::session;

// The notifications that a node received, in order.
struct Heard {
  std::mutex mutex;
  std::vector<std::vector<SessionId>> calls;

  void add(std::vector<SessionId> sessions) {
    const std::scoped_lock lock(mutex);
    calls.push_back(std::move(sessions));
  }
  std::size_t any_count() {
    const std::scoped_lock lock(mutex);
    return static_cast<std::size_t>(
        std::ranges::count_if(calls, [](const auto& call) { return call.empty(); }));
  }
  std::set<SessionId> sessions() {
    const std::scoped_lock lock(mutex);
    std::set<SessionId> out;
    for (const auto& call : calls) out.insert(call.begin(), call.end());
    return out;
  }
};

class PostgresHints : public PostgresNodesTest {
 protected:
  PostgresStore& hearing(const std::string& name, Heard& heard) {
    options_.on_changed = [&heard](std::vector<SessionId> sessions) {
      heard.add(std::move(sessions));
    };
    PostgresStore& store = node(name);
    options_.on_changed = nullptr;
    EXPECT_TRUE(until([&] { return heard.any_count() > 0; })) << "after connecting: anything";
    return store;
  }

  // Must outlive the nodes, which call them: TearDown() ends the nodes.
  Heard of_a_;
  Heard of_b_;
};

TEST_F(PostgresHints, what_others_commit_is_told_and_one_s_own_is_not) {
  PostgresStore& a = hearing("a", of_a_);
  PostgresStore& b = hearing("b", of_b_);
  ASSERT_TRUE(until([&] { return of_a_.any_count() > 1; })) << "another one has come";
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "x"}));
  ASSERT_TRUE(put_on(b, {.number = 2, .record = "x"}));
  EXPECT_TRUE(until([&] { return of_a_.sessions().contains(session(2)); }));
  EXPECT_TRUE(until([&] { return of_b_.sessions().contains(session(1)); }));
  ASSERT_TRUE(put_on(b, {.number = 3, .record = "x"}));
  ASSERT_TRUE(b.remove(session(3)));
  ASSERT_TRUE(put_on(a, {.number = 4, .record = "x"}));
  EXPECT_TRUE(until([&] { return of_b_.sessions().contains(session(4)); }));
  EXPECT_TRUE(until([&] { return of_a_.sessions().contains(session(3)); }));
  EXPECT_EQ(of_a_.sessions(), (std::set{session(2), session(3)}));
  EXPECT_EQ(of_b_.sessions(), (std::set{session(1), session(4)}));
  const std::scoped_lock lock(of_a_.mutex);
  EXPECT_EQ(std::ranges::count(of_a_.calls, std::vector{session(3)}), 2) << "removed, too";
}

TEST_F(PostgresHints, X21_text_that_others_take_back_is_told_as_such) {
  Heard taken_back;
  options_.on_redacted = [&](std::vector<SessionId> sessions) { taken_back.add(sessions); };
  hearing("a", of_a_);
  options_.on_redacted = nullptr;
  EXPECT_TRUE(until([&] { return taken_back.any_count() > 0; })) << "after connecting: anything";
  PostgresStore& b = hearing("b", of_b_);
  ASSERT_TRUE(put_on(b, {.number = 1, .record = "x"}));
  EXPECT_TRUE(until([&] { return of_a_.sessions().contains(session(1)); }));
  EXPECT_EQ(taken_back.sessions(), std::set<SessionId>());
  ASSERT_TRUE(put_on(b, {.number = 2, .record = "x"}));
  ASSERT_TRUE(b.redact({.session = session(2), .seq = 1, .replacement = "y", .blobs = {}}));
  EXPECT_TRUE(until([&] { return taken_back.sessions() == std::set{session(2)}; }));
  nodes_.clear();
}

TEST_F(PostgresHints, more_sessions_than_a_message_holds_are_told_as_any) {
  Heard& heard = of_a_;
  PostgresStore& a = hearing("a", heard);
  PostgresStore& b = node("b");
  ASSERT_TRUE(until([&] { return heard.any_count() > 1; }));
  ASSERT_FALSE(b.idle_step());  // it knows now that another node exists
  const std::size_t before = heard.any_count();
  std::vector<std::optional<Result<>>> done(400);
  for (std::uint64_t n = 0; n < done.size(); ++n) {
    queue_on(b, {.number = n + 1, .record = "x"}, done[n]);
  }
  EXPECT_TRUE(b.step());
  for (const auto& one : done) EXPECT_TRUE(one.has_value() && one->has_value());
  EXPECT_TRUE(until([&] { return heard.any_count() > before; }));
  EXPECT_TRUE(heard.sessions().empty());
  EXPECT_EQ(all_on(a, 400).size(), 1U);
}

TEST_F(PostgresHints, a_node_that_is_alone_notifies_nobody) {
  PostgresStore& a = node("a");
  const auto ear = PgLink::open(options_.place, {});
  ASSERT_TRUE(ear) << ear.error().message();
  ASSERT_TRUE((*ear)->script(std::string("LISTEN ") + pg_channel));
  ASSERT_FALSE(a.idle_step());
  ASSERT_TRUE(put_on(a, {.number = 1, .record = "x"}));
  ASSERT_TRUE(put_on(a, {.number = 1, .head = 1, .record = "x"}));
  ASSERT_TRUE(a.remove(session(1)));
  sql("NOTIFY perdure, 'mark'");
  std::vector<std::string> heard;
  ASSERT_TRUE(until([&] {
    (void)(*ear)->looks_alive();
    for (std::string& text : (*ear)->take_notices()) heard.push_back(std::move(text));
    return !heard.empty() && heard.back() == "mark";
  }));
  EXPECT_EQ(heard, std::vector<std::string>{"mark"});
}

TEST_F(PostgresHints, a_listener_that_was_cut_off_comes_back_and_says_anything) {
  PgGate gate(PostgresServer::shared().socket_path());
  const std::string direct = options_.place;
  Heard& heard = of_a_;
  options_.place = PostgresServer::through_port(direct, gate.port());
  PostgresStore& a = hearing("a", heard);
  options_.place = direct;
  PostgresStore& b = node("b");
  ASSERT_TRUE(until([&] { return heard.any_count() > 1; }));
  ASSERT_FALSE(b.idle_step());
  gate.set(PgGate::Door::shut);
  ASSERT_TRUE(put_on(b, {.number = 1, .record = "not heard"}));
  const std::size_t before = heard.any_count();
  gate.set(PgGate::Door::open);
  EXPECT_TRUE(until([&] { return heard.any_count() > before; }));
  EXPECT_FALSE(heard.sessions().contains(session(1)));
  ASSERT_TRUE(put_on(b, {.number = 2, .record = "heard"}));
  EXPECT_TRUE(until([&] { return heard.sessions().contains(session(2)); }));
  EXPECT_TRUE(until([&] { return all_on(a, 1) == std::vector<std::string>{"not heard"}; }));
  nodes_.clear();
}

TEST(PostgresHint, a_hint_is_read_as_it_was_written_and_anything_else_means_any) {
  const std::vector<SessionId> two{session(1), session(2)};
  const PgHint hint = parse_pg_hint(pg_hint(7, two));
  EXPECT_EQ(hint.epoch, 7U);
  EXPECT_EQ(hint.sessions, two);
  EXPECT_FALSE(hint.is_redaction);
  EXPECT_EQ(pg_hint(7, {}), "7:");
  const PgHint taken_back = parse_pg_hint(pg_redaction_hint(7, session(1)));
  EXPECT_EQ(taken_back.epoch, 7U);
  EXPECT_EQ(taken_back.sessions, std::vector{session(1)});
  EXPECT_TRUE(taken_back.is_redaction);
  const std::vector<SessionId> many(300, session(1));
  EXPECT_EQ(pg_hint(7, many), "7:");
  const std::vector<SessionId> fitting(290, session(1));
  EXPECT_LT(pg_hint(~0ULL, fitting).size(), 8'000U);
  EXPECT_EQ(parse_pg_hint(pg_hint(~0ULL, fitting)).sessions.size(), 290U);
  for (const std::string_view odd : {"", "7", ":", "x:", "-1:", "7:x", "7:,", "7 :", "mark"}) {
    EXPECT_TRUE(parse_pg_hint(odd).sessions.empty()) << odd;
  }
  EXPECT_EQ(parse_pg_hint("7:x").epoch, 7U);
}

}  // namespace
}  // namespace perdure
