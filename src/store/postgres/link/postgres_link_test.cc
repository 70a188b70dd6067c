// The network fails between the store and its server, at the commit and around it: no answer is
// wrong, nothing is stored twice, and the store recovers on its own.
#include <atomic>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "testing/postgres/pg_gate.h"
#include "testing/postgres/postgres_fixture.h"

namespace perdure {
namespace {

using Strike = PgGate::Strike;
using postgres_test::PostgresTest;
using postgres_test::session;

class PostgresLink : public PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    if (IsSkipped()) return;
    gate_ = std::make_unique<PgGate>(PostgresServer::shared().socket_path());
    direct_ = options_.place;
    options_.place = PostgresServer::through_port(direct_, gate_->port());
    open();
  }
  void TearDown() override {
    store_.reset();
    gate_.reset();
  }
  static Append laden(Seq head) {
    const std::string n = std::to_string(head);
    return {.session = session(1),
            .expected_head = head,
            .records = {"record " + n},
            .outbox_add = {{head + 1, "effect " + n}},
            .answers = {{.key = "key " + n, .answer = n}},
            .refs = {"ref " + n}};
  }
  // Everything of the first `count` batches is stored exactly once.
  void expect_batches(Seq count) {
    const auto page = store_->read(session(1), {.after = 0, .limit = 100});
    ASSERT_TRUE(page) << page.error().message();
    ASSERT_EQ(page->records.size(), count);
    EXPECT_EQ(store_->outbox(session(1))->size(), count);
    for (Seq i = 0; i < count; ++i) {
      EXPECT_EQ(page->records[i], "record " + std::to_string(i));
      EXPECT_TRUE(store_->answer("key " + std::to_string(i))->has_value());
    }
  }

  std::unique_ptr<PgGate> gate_;
  std::string direct_;
};

std::string strike_name(const testing::TestParamInfo<Strike>& of) {
  constexpr const char* names[] = {"none",    "before", "middle", "after",
                                   "silence", "freeze", "ghost"};
  return names[static_cast<int>(of.param)];
}

class PostgresCut : public PostgresLink, public testing::WithParamInterface<Strike> {
 protected:
  void SetUp() override {
    PostgresLink::SetUp();
    if (IsSkipped()) return;
    options_.patience = std::chrono::milliseconds(20'000);
    open();
  }
};
INSTANTIATE_TEST_SUITE_P(Strikes, PostgresCut,
                         testing::Values(Strike::before, Strike::middle, Strike::after,
                                         Strike::silence, Strike::freeze, Strike::ghost),
                         strike_name);

TEST_P(PostgresCut, J3_ACK1_a_commit_without_an_answer_is_there_once_and_then_acknowledged) {
  ASSERT_TRUE(commit(laden(0)));
  gate_->arm(GetParam());
  const Result<> done = commit(laden(1));
  EXPECT_TRUE(gate_->has_struck());
  ASSERT_TRUE(done) << done.error().message();
  expect_batches(2);
  ASSERT_TRUE(commit(laden(2)));
  expect_batches(3);
  EXPECT_EQ(store_->totals().commits, 3U);
}

TEST_F(PostgresLink, J1_a_statement_that_comes_late_over_an_old_connection_does_nothing) {
  ASSERT_TRUE(commit(laden(0)));
  gate_->arm(Strike::ghost);
  ASSERT_TRUE(commit(laden(1)));
  ASSERT_TRUE(commit(laden(2)));
  const std::string answer = gate_->release();
  EXPECT_TRUE(answer.contains("PD001")) << answer;
  expect_batches(3);
}

TEST_F(PostgresLink, a_server_that_is_away_is_waited_for_then_refused_and_found_again) {
  ASSERT_TRUE(commit(laden(0)));
  gate_->set(PgGate::Door::shut);
  const Result<> refused = commit(laden(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::unavailable) << refused.error().message();
  EXPECT_TRUE(store_->totals().unavailable);
  const auto read = store_->read(session(1), {.after = 0, .limit = 1});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::unavailable);
  gate_->set(PgGate::Door::open);
  ASSERT_TRUE(until([&] { return commit(laden(1)).has_value(); }));
  ASSERT_TRUE(until([&] { return store_->head(session(1)).has_value(); }));
  expect_batches(2);
  EXPECT_FALSE(store_->totals().unavailable);
}

// The outcome is unknown, so these appends are not answered; the others fail as unavailable.
class PostgresUnknown : public PostgresLink, public testing::WithParamInterface<Strike> {};
INSTANTIATE_TEST_SUITE_P(Strikes, PostgresUnknown, testing::Values(Strike::before, Strike::after),
                         strike_name);

TEST_P(PostgresUnknown, DISK1_a_group_whose_outcome_is_unknown_is_not_answered_until_it_is_known) {
  ASSERT_TRUE(commit(laden(0)));
  gate_->arm_and_shut(GetParam());
  std::optional<Result<>> first;
  std::optional<Result<>> other;
  queue(laden(1), first);
  EXPECT_FALSE(store_->step());
  EXPECT_FALSE(first.has_value());
  EXPECT_TRUE(gate_->has_struck());
  queue({.session = session(2), .records = {"x"}}, other);
  ASSERT_TRUE(until([&] {
    store_->step();
    return other.has_value();
  }));
  EXPECT_EQ(other->error().code(), Code::unavailable);
  EXPECT_FALSE(first.has_value());
  gate_->set(PgGate::Door::open);
  ASSERT_TRUE(until([&] {
    store_->step();
    return first.has_value();
  }));
  EXPECT_TRUE(*first) << first->error().message();
  ASSERT_TRUE(until([&] { return store_->head(session(1)).has_value(); }));
  expect_batches(2);
  EXPECT_EQ(store_->head(session(2)).error().code(), Code::not_found);
}

TEST_P(PostgresUnknown, C19_who_was_replaced_meanwhile_learns_what_became_of_its_last_group) {
  ASSERT_TRUE(commit(laden(0)));
  gate_->arm_and_shut(GetParam());
  std::optional<Result<>> first;
  queue(laden(1), first);
  EXPECT_FALSE(store_->step());
  PostgresOptions newer = options_;
  newer.place = direct_;
  auto next = PostgresStore::open(newer);
  ASSERT_TRUE(next) << next.error().message();
  EXPECT_GT((*next)->epoch(), store_->epoch());
  const bool is_kept = GetParam() == Strike::after;
  EXPECT_EQ((*next)->head(session(1))->seq, is_kept ? 2U : 1U);
  gate_->set(PgGate::Door::open);
  ASSERT_TRUE(until([&] {
    store_->step();
    return first.has_value();
  }));
  EXPECT_EQ(first->has_value(), is_kept);
  if (!is_kept) EXPECT_EQ(first->error().code(), Code::stale_owner);
  EXPECT_EQ(fatal_, 1) << "a daemon that was replaced has to end";
  EXPECT_EQ((*next)->head(session(1))->seq, is_kept ? 2U : 1U);
}

// Clients that remember what was acknowledged, a server that is killed, and a check of everything.
class PostgresKill : public PostgresTest {};

TEST_F(PostgresKill, J3_ACK1_a_killed_server_loses_nothing_acknowledged_and_doubles_nothing) {
  auto server = PostgresServer::start(PostgresServer::Sync::off);
  ASSERT_TRUE(server) << server.error().message();
  options_.place = (*server)->new_database();
  options_.patience = std::chrono::milliseconds(20'000);
  open();
  std::atomic<bool> stopping = false;
  std::map<std::uint64_t, Seq> acknowledged;
  std::thread writer([&] {
    for (Seq head = 0; !stopping; ++head) {
      std::vector<std::optional<Result<>>> answers(8);
      for (std::uint64_t n = 1; n <= 8; ++n) {
        queue({.session = session(n),
               .expected_head = acknowledged[n],
               .records = {std::to_string(acknowledged[n] + 1)},
               .answers = {{.key = std::to_string(n) + "/" + std::to_string(head)}}},
              answers[n - 1]);
      }
      while (store_->step()) {}
      for (std::uint64_t n = 1; n <= 8; ++n) {
        if (answers[n - 1] && *answers[n - 1]) ++acknowledged[n];
      }
    }
  });
  for (int kills = 0; kills < 4; ++kills) {
    const std::uint64_t before = store_->totals().commits;
    EXPECT_TRUE(until([&] { return store_->totals().commits > before + 20; }));
    (*server)->kill_hard();
    const Result<> again = (*server)->start_again();
    EXPECT_TRUE(again) << again.error().message();
  }
  stopping = true;
  writer.join();
  for (const auto& [number, count] : acknowledged) {
    const auto page = store_->read(session(number), {.after = 0, .limit = 100'000});
    ASSERT_TRUE(page) << page.error().message();
    EXPECT_EQ(page->records.size(), count);
    for (Seq i = 0; i < page->records.size(); ++i) {
      EXPECT_EQ(page->records[i], std::to_string(i + 1));
    }
  }
  EXPECT_GT(acknowledged[1], 80U);
  store_.reset();
}

}  // namespace
}  // namespace perdure
