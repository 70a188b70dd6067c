// Two daemons on one store: ownership of sessions, the view of the other daemon, and what happens
// when an owner falls silent.
#include <gtest/gtest.h>

#include "daemon/runtime/care/redaction.h"
#include "daemon/runtime/care/removal.h"
#include "daemon/runtime/fixture_for_test.h"
#include "daemon/runtime/reads/past.h"
#include "daemon/runtime/reads/session_list.h"

namespace perdure {
namespace {

constexpr std::int64_t lease_ms = 3'000;

class Pair;

// Forwards to the other daemon on the next turn of the loop, unless that one is stopped.
class PairPeers final : public Peers {
 public:
  explicit PairPeers(Pair& pair) : pair_(pair) {}
  void submit(const std::string& node, SessionId session, Request request, ReplyFn reply) override;
  int calls = 0;

 private:
  Pair& pair_;
};

struct One {
  std::string name;
  std::string home = "here";
  std::unique_ptr<MemoryStore> store = nullptr;
  NotedAgentctls agentctls = {};
  std::unique_ptr<PairPeers> peers = nullptr;
  std::unique_ptr<Runtime> runtime = nullptr;
  bool is_stopped = false;  // no sign of life, no commits, no answers
};

class Pair {
 public:
  explicit Pair(const std::string& home_of_b = "here") : b{.name = "b", .home = home_of_b} {
    for (One* const one : {&a, &b}) start(*one);
    settle(10);
  }
  ~Pair() {
    a.runtime.reset();
    b.runtime.reset();
  }

  void start(One& one, MemoryStore::Away away = MemoryStore::Away::no) {
    one.runtime.reset();
    one.store = MemoryStore::open(
        disk, {.node = one.name, .home = one.home, .lease_ms = lease_ms, .now_ms = [this] {
                 return loop.time_ms;
               }});
    one.peers = std::make_unique<PairPeers>(*this);
    IdSource ids(loop.now().wall, ++boots);
    one.runtime = std::make_unique<Runtime>(
        Runtime::World{loop, loop, loop, loop, *one.store, one.agentctls, loop, one.peers.get()},
        RuntimeConfig{.boot = ids.next<BootId>(), .wait_key = "key", .home = one.home});
    one.store->set_away(away);
    one.runtime->boot([] {});
  }
  // Time passes; both show signs of life unless stopped.
  void settle(std::int64_t for_ms) {
    const std::int64_t until = loop.time_ms + for_ms;
    while (loop.time_ms < until) {
      for (One* const one : {&a, &b}) {
        if (!one->is_stopped) one->store->beat();
      }
      const std::int64_t next = std::min(until, loop.time_ms + 500);
      while (loop.run_posted() || step() || loop.run_timer(next)) {}
      loop.time_ms = next;
    }
  }
  bool step() {
    const bool did_a = !a.is_stopped && a.store->step();
    const bool did_b = !b.is_stopped && b.store->step();
    return did_a || did_b;
  }

  Result<Reply> ask(One& one, InputBody body, const std::string& key = "") {
    std::optional<Result<Reply>> answer;
    one.runtime->submit(session, {"uid:1", key, sha256(key), std::move(body)},
                        [&](Result<Reply> result) { answer = std::move(result); });
    settle(100);
    if (!answer) return fail(Code::internal, "no answer");
    return *answer;
  }
  void create(One& one, const std::string& prompt = "", Policy policy = {}) {
    IdSource ids(loop.now().wall, 4242);
    session = ids.next<SessionId>();
    const SessionCreated what{.session = session,
                              .title = "t",
                              .agent = {.name = "demo"},
                              .workspace = {.cwd = "/w"},
                              .policy = policy};
    std::optional<Prompt> first;
    if (!prompt.empty()) first = Prompt{.text = prompt};
    ASSERT_TRUE(ask(one, CreateSession{what, first, "create"}, "create"));
  }
  // Its execution, with an agent that is ready for prompts.
  ExecKey agent_comes_up(One& one) {
    const State state = *one.runtime->state(session);
    const ExecKey exec{session, state.exec.id, state.exec.gen};
    one.runtime->on_attached(exec);
    settle(10);
    std::vector<FrameBody> frames = frames_of_a_start();
    frames.emplace_back(FrameSessionOpened{.agent_session_id = "agent-1"});
    FrameNo number = 0;
    for (FrameBody& body : frames) {
      one.runtime->on_frame(exec, Frame{exec.exec, exec.gen, ++number, {}, std::move(body)});
      settle(10);
    }
    return exec;
  }
  Seq head(One& one) { return one.runtime->state(session)->head; }

  TestLoop loop;
  MemoryDisk disk;
  One a{.name = "a"};
  One b;
  SessionId session;
  std::uint64_t boots = 0;
};

void PairPeers::submit(const std::string& node, SessionId session, Request request, ReplyFn reply) {
  ++calls;
  One& to = node == "a" ? pair_.a : pair_.b;
  if (to.is_stopped) return;  // it accepts the command but does not answer
  pair_.loop.post([&to, session, request = std::move(request), reply = std::move(reply)] mutable {
    to.runtime->submit_here(session, std::move(request), std::move(reply));
  });
}

TEST(Sharing, C7_another_daemons_session_is_read_along_by_readers_and_lists) {
  Pair pair;
  pair.create(pair.a);
  EXPECT_EQ(*pair.b.runtime->owner(pair.session), "a");
  EXPECT_EQ(*pair.a.runtime->owner(pair.session), "");
  Reader reader;
  ASSERT_TRUE(pair.b.runtime->subscribe(pair.session, 0, "", reader));
  ASSERT_TRUE(pair.ask(pair.a, RenameSession{"another"}));
  pair.settle(1'500);  // without a hint, the next look finds it
  EXPECT_EQ(reader.seen.back(), pair.head(pair.a));
  EXPECT_EQ(pair.b.runtime->view(pair.session)->title, "another");
  ASSERT_TRUE(pair.ask(pair.a, RenameSession{"once more"}));
  pair.b.runtime->hint(std::vector{pair.session});
  pair.loop.run_posted();
  EXPECT_EQ(reader.seen.back(), pair.head(pair.a));
}

TEST(Sharing, C7_a_command_reaches_the_owner_and_is_answered_once_for_its_key) {
  Pair pair;
  pair.create(pair.a);
  const Result<Reply> first = pair.ask(pair.b, RenameSession{"by way of b"}, "key-1");
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(pair.b.peers->calls, 1);
  const Result<Reply> again = pair.ask(pair.a, RenameSession{"by way of b"}, "key-1");
  ASSERT_TRUE(again);
  EXPECT_EQ(*first, *again);
  EXPECT_EQ(pair.b.runtime->view(pair.session)->title, "by way of b");
}

TEST(Sharing, ACK1_a_session_that_another_daemon_began_to_make_is_made_there) {
  Pair pair;
  pair.a.store->inject(CommitFault::disk_full);
  IdSource ids(pair.loop.now().wall, 4242);
  pair.session = ids.next<SessionId>();
  const CreateSession create{{.session = pair.session,
                              .title = "t",
                              .agent = {.name = "demo"},
                              .workspace = {.cwd = "/w"}}};
  EXPECT_EQ(pair.ask(pair.a, create, "create").error().code(), Code::disk_full);
  const Result<Reply> made = pair.ask(pair.b, create, "create");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(*pair.b.runtime->owner(pair.session), "a");
}

TEST(Sharing, C19_a_silent_daemons_session_is_taken_and_the_old_owner_is_fenced) {
  Pair pair;
  pair.create(pair.a, "go");
  ASSERT_EQ(pair.a.agentctls.started.size(), 1U);
  Reader reader;
  ASSERT_TRUE(pair.b.runtime->subscribe(pair.session, 0, "", reader));
  pair.settle(100);
  pair.a.is_stopped = true;
  // Its late decision is rejected, and the command goes to the session's new owner.
  pair.a.runtime->submit(pair.session, {"uid:1", "", {}, RenameSession{"late"}},
                         [](const Result<Reply>&) {});
  pair.settle(2 * lease_ms);
  EXPECT_EQ(*pair.b.runtime->owner(pair.session), "");
  // A start not known to have succeeded is repeated for the same execution.
  ASSERT_EQ(pair.b.agentctls.started.size(), 1U);
  EXPECT_EQ(pair.b.agentctls.started[0].exec, pair.a.agentctls.started[0].exec);
  ASSERT_TRUE(pair.ask(pair.b, RenameSession{"by b"}));
  pair.a.is_stopped = false;
  pair.settle(2'500);
  EXPECT_EQ(pair.a.agentctls.let_go_of.size(), 1U);
  EXPECT_EQ(*pair.a.runtime->owner(pair.session), "b");
  EXPECT_EQ(pair.a.runtime->view(pair.session)->title, "late");
  EXPECT_EQ(reader.seen.size(), pair.head(pair.b));  // kept when the owner changes
  EXPECT_EQ(reader.seen.back(), pair.head(pair.b));
}

TEST(Sharing, C1_what_could_not_be_asked_for_at_boot_is_taken_when_the_store_is_back) {
  using enum MemoryStore::Away;
  for (const MemoryStore::Away away : {when_listed, when_owned, when_read}) {
    Pair pair;
    pair.create(pair.a, "go");
    pair.a.agentctls.started.clear();
    pair.start(pair.a, away);
    pair.settle(2'500);
    EXPECT_TRUE(pair.a.agentctls.started.empty());
    EXPECT_TRUE(pair.a.runtime->damaged().empty());
    pair.a.store->set_away(no);
    pair.settle(1'500);
    EXPECT_EQ(pair.a.agentctls.started.size(), 1U);  // without any access to it
    EXPECT_EQ(*pair.a.runtime->owner(pair.session), "");
  }
}

TEST(Sharing, C19_what_could_not_be_read_when_it_was_taken_is_no_damage_and_read_later) {
  Pair pair;
  pair.create(pair.a, "go");
  pair.b.store->set_away(MemoryStore::Away::when_read);
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  EXPECT_TRUE(pair.b.agentctls.started.empty());
  EXPECT_EQ(pair.b.runtime->state(pair.session).error().code(), Code::unavailable);
  pair.b.store->set_away(MemoryStore::Away::no);
  pair.settle(1'500);
  EXPECT_TRUE(pair.b.runtime->damaged().empty());
  EXPECT_EQ(pair.b.agentctls.started.size(), 1U);
}

// Seed 70195. For the session a takeover is a boot: anything over before it stays as it is.
TEST(Sharing, C1_a_takeover_resumes_by_policy_what_was_open_and_nothing_else) {
  for (const bool was_open : {true, false}) {
    Pair pair;
    pair.create(pair.a, "go", {.resume = ResumePolicy::on_boot});
    const ExecKey exec = pair.agent_comes_up(pair.a);
    ASSERT_TRUE(pair.a.runtime->state(pair.session)->run);
    if (!was_open) pair.a.runtime->on_gone(exec, "process");
    pair.settle(100);
    pair.a.is_stopped = true;
    pair.settle(2 * lease_ms);
    ASSERT_TRUE(pair.ask(pair.b, RenameSession{"taken"}));  // accessing it takes it, at the latest
    pair.b.runtime->on_gone(exec, "process");
    pair.settle(100);
    EXPECT_TRUE(pair.b.runtime->state(pair.session)->last_run->interrupted);
    EXPECT_EQ(pair.b.agentctls.started.size(), was_open ? 1U : 0U);
  }
}

// Seed 59497. Two commands of one batch: an answer to one must not depend on the other's commit.
TEST(Sharing, ACK3_a_key_that_could_not_be_looked_up_is_answered_by_that_whatever_the_commit_says) {
  Pair pair;
  pair.create(pair.a);
  std::optional<Result<Reply>> renamed;
  std::optional<Result<Reply>> cancelled;
  pair.a.store->set_away(MemoryStore::Away::when_asked_for_a_key);
  pair.a.store->inject(CommitFault::disk_full);
  pair.a.runtime->submit(pair.session, {"uid:1", "", {}, RenameSession{"no room"}},
                         [&](Result<Reply> result) { renamed = std::move(result); });
  pair.a.runtime->submit(pair.session, {"uid:1", "key-2", {}, CancelRun{}},
                         [&](Result<Reply> result) { cancelled = std::move(result); });
  pair.settle(100);
  ASSERT_TRUE(renamed && !*renamed && cancelled && !*cancelled);
  EXPECT_EQ(renamed->error().code(), Code::disk_full);
  EXPECT_EQ(cancelled->error().code(), Code::unavailable);
}

TEST(Sharing, C19_a_command_to_a_stopped_daemon_is_asked_again_of_who_has_the_session_then) {
  Pair pair;
  pair.create(pair.a);
  EXPECT_EQ(*pair.b.runtime->owner(pair.session), "a");
  pair.a.is_stopped = true;
  std::optional<Result<Reply>> answer;
  pair.b.runtime->submit(pair.session, {"uid:1", "", {}, RenameSession{"waits"}},
                         [&](Result<Reply> result) { answer = std::move(result); });
  pair.settle(1'000);
  EXPECT_FALSE(answer);
  pair.settle(2 * lease_ms);
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ(pair.b.runtime->view(pair.session)->title, "waits");
}

TEST(Sharing, C19_a_stale_owner_refuses_nobody_by_what_it_knew) {
  Pair pair;
  pair.create(pair.a);
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  ASSERT_TRUE(pair.ask(pair.b, ArchiveSession{}));
  pair.a.is_stopped = false;
  // According to `a` the session is not archived: on its own it would have nothing to do.
  const Result<Reply> answer = pair.ask(pair.a, UnarchiveSession{});
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_FALSE(answer->nothing_to_do);
  EXPECT_FALSE(pair.b.runtime->state(pair.session)->archived);
}

TEST(Sharing, C19_an_execution_at_another_home_waits_for_a_daemon_there) {
  Pair pair("far");
  pair.create(pair.a, "go");
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  ASSERT_EQ(*pair.b.runtime->owner(pair.session), "");
  EXPECT_TRUE(pair.b.agentctls.started.empty());
  EXPECT_TRUE(pair.b.agentctls.attached.empty());
  EXPECT_EQ(pair.b.runtime->liveness(pair.session), Liveness::unknown);
  ASSERT_TRUE(pair.ask(pair.b, SubmitPrompt{{.text = "held"}}));
  pair.start(pair.a);  // a daemon at the agent's home, although b is healthy
  pair.a.is_stopped = false;
  pair.settle(3'000);
  EXPECT_EQ(*pair.a.runtime->owner(pair.session), "");
  EXPECT_EQ(*pair.b.runtime->owner(pair.session), "a");
}

TEST(Sharing, C19_what_could_not_be_offered_while_the_store_was_away_is_offered_later) {
  Pair pair("far");
  pair.create(pair.a, "go");
  pair.b.store->set_away(MemoryStore::Away::when_offered);
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  ASSERT_EQ(*pair.b.runtime->owner(pair.session), "");
  pair.start(pair.a);
  pair.a.is_stopped = false;
  pair.settle(3'000);
  ASSERT_EQ(*pair.b.runtime->owner(pair.session), "");
  pair.b.store->set_away(MemoryStore::Away::no);
  pair.settle(3'000);
  EXPECT_EQ(*pair.b.runtime->owner(pair.session), "a");
}

TEST(Sharing, C19_a_person_may_declare_it_dead_where_nobody_can_reach_it) {
  Pair pair("far");
  pair.create(pair.a, "go");
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  ASSERT_TRUE(pair.ask(pair.b, DeclareDead{}));
  EXPECT_TRUE(pair.b.runtime->state(pair.session)->exec.gone);
  EXPECT_EQ(pair.b.runtime->liveness(pair.session), Liveness::dead);
}

TEST(Sharing, U11_a_session_that_another_daemon_deleted_is_gone_here_too) {
  Pair pair;
  pair.create(pair.a);
  Reader reader;
  ASSERT_TRUE(pair.b.runtime->subscribe(pair.session, 0, "", reader));
  const Result<> not_here = pair.b.runtime->erase(pair.session);
  ASSERT_FALSE(not_here);
  EXPECT_EQ(not_here.error().code(), Code::stale_owner);
  ASSERT_TRUE(pair.a.runtime->erase(pair.session));
  pair.settle(1'500);
  EXPECT_TRUE(reader.cut_at.has_value());
  EXPECT_FALSE(pair.b.runtime->state(pair.session));
}

TEST(Sharing, U11_a_deletion_is_finished_at_boot_by_whose_session_it_is) {
  Pair pair;
  pair.create(pair.a);
  const RecordPage last =
      pair.a.store->read(pair.session, {.after = pair.head(pair.a) - 1, .limit = 1}).value();
  NodeState node;
  node.tombstones[pair.session] =
      Tombstone{.session = pair.session, .last_hash = record_hash(last.records.front())};
  EXPECT_EQ(finish_removals(*pair.b.store, node).value(), 0U);
  ASSERT_TRUE(pair.a.store->head(pair.session).has_value());
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  EXPECT_EQ(finish_removals(*pair.b.store, node).value(), 1U);
}

TEST(Sharing, J3_half_a_fork_is_dropped_by_who_takes_it_over_and_not_by_a_look_at_it) {
  Pair pair;
  IdSource ids(pair.loop.now().wall, 77);
  pair.session = ids.next<SessionId>();
  const Lease lease = *pair.a.store->own(pair.session);
  pair.a.store->append({.session = pair.session,
                        .epoch = lease.epoch,
                        .records = {"half"},
                        .outbox_add = {{1, R"({"do":"fork.copying"})"}},
                        .listing = Listing{.open = true}},
                       [](const Result<>&) {});
  pair.settle(100);
  EXPECT_EQ(pair.a.runtime->state(pair.session).error().code(), Code::not_found);
  EXPECT_TRUE(pair.a.store->head(pair.session));
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  EXPECT_EQ(pair.b.store->head(pair.session).error().code(), Code::not_found);
}

TEST(Sharing, X21_text_that_another_daemon_took_back_is_forgotten_here_too) {
  Pair pair;
  pair.create(pair.a);
  ASSERT_TRUE(pair.ask(pair.a, RenameSession{"a secret"}));
  Reader reader;
  ASSERT_TRUE(pair.b.runtime->subscribe(pair.session, pair.head(pair.a), "", reader));
  ASSERT_EQ(pair.b.runtime->state(pair.session)->title, "a secret");
  std::optional<Result<RedactionReport>> done;
  redact_records(*pair.a.runtime,
                 {.session = pair.session, .seqs = {pair.head(pair.a)}, .by = "uid:1"},
                 [&](Result<RedactionReport> report) { done = std::move(report); });
  pair.settle(100);
  ASSERT_TRUE(done && done->has_value());
  const SessionId told[] = {pair.session};
  for (const auto& sessions : {std::span<const SessionId>(told), std::span<const SessionId>()}) {
    pair.b.runtime->forget_text(sessions);
    pair.settle(100);
    EXPECT_EQ(pair.b.runtime->state(pair.session)->title, "[redacted]");
  }
  EXPECT_FALSE(reader.cut_at) << "it reads on where it was";
  ASSERT_TRUE(pair.ask(pair.a, RenameSession{"later"}));
  pair.settle(1'500);
  EXPECT_EQ(pair.b.runtime->state(pair.session)->title, "later");
}

// Another daemon may redact a record without notifying this one.
TEST(Sharing, C7_nothing_of_the_past_is_kept_where_others_may_change_it) {
  Pair pair;
  pair.create(pair.a);
  KeptPast past(*pair.b.runtime);
  std::vector<std::shared_ptr<const Timeline>> given;
  for (int i = 0; i < 2; ++i) {
    past.timeline(pair.session, pair.head(pair.b), [&](auto made) { given.push_back(*made); });
    pair.settle(100);
  }
  ASSERT_EQ(given.size(), 2U);
  EXPECT_NE(given[0], given[1]);
}

TEST(Sharing, STREAM3_a_daemon_that_is_behind_does_not_call_a_good_cursor_wrong) {
  Pair pair;
  pair.create(pair.a);
  pair.a.is_stopped = true;
  pair.settle(2 * lease_ms);
  ASSERT_TRUE(pair.ask(pair.b, RenameSession{"further"}));
  pair.a.is_stopped = false;
  Reader reader;
  const Result<SubscriptionId> behind =
      pair.a.runtime->subscribe(pair.session, pair.head(pair.b), "", reader);
  EXPECT_TRUE(behind || behind.error().code() == Code::unavailable);
  const Result<SubscriptionId> beyond =
      pair.b.runtime->subscribe(pair.session, pair.head(pair.b) + 1, "", reader);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code(), Code::cursor_invalid);
}

// Found by the simulator when daemons were cut off from their disk (seed 469): the session had no
// owner until it was next accessed.
TEST(Sharing, C19_a_store_that_cannot_say_whose_a_session_is_does_not_take_it_away) {
  Pair pair;
  pair.create(pair.a, "go");
  ASSERT_TRUE(pair.ask(pair.a, RenameSession{"once"}));
  pair.a.store->set_away(MemoryStore::Away::when_owned);
  const Result<Reply> answer = pair.ask(pair.a, RenameSession{"once"});  // nothing to write
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::unavailable);
  EXPECT_TRUE(pair.a.agentctls.let_go_of.empty());
  EXPECT_TRUE(pair.a.runtime->is_ours(pair.session));
  pair.a.store->set_away(MemoryStore::Away::no);
  pair.settle(1'500);
  EXPECT_TRUE(pair.ask(pair.a, RenameSession{"once"}));
  EXPECT_EQ(pair.a.agentctls.started.size(), 1U);
}

TEST(Sharing, Q2_a_start_that_the_stores_absence_held_up_is_made_when_it_is_back) {
  Pair pair;
  pair.create(pair.a);
  pair.a.store->set_away(MemoryStore::Away::when_owned);
  ASSERT_TRUE(pair.ask(pair.a, SubmitPrompt{.prompt = {.text = "go"}}));
  EXPECT_TRUE(pair.a.agentctls.started.empty());
  pair.a.store->set_away(MemoryStore::Away::no);
  pair.settle(1'500);
  EXPECT_EQ(pair.a.agentctls.started.size(), 1U);
}

// Found by the simulator when daemons were cut off from their disk (seeds 451, 469, 475).
TEST(Sharing, STREAM3_a_store_that_is_away_does_not_make_a_good_cursor_wrong) {
  Pair pair;
  pair.create(pair.a);
  ASSERT_TRUE(pair.b.runtime->state(pair.session));
  pair.b.store->set_away(MemoryStore::Away::when_read);
  ASSERT_TRUE(pair.ask(pair.a, RenameSession{"further"}));
  Reader reader;
  const Result<SubscriptionId> behind =
      pair.b.runtime->subscribe(pair.session, pair.head(pair.a), "", reader);
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code(), Code::unavailable);
  pair.b.store->set_away(MemoryStore::Away::no);
  EXPECT_TRUE(pair.b.runtime->subscribe(pair.session, pair.head(pair.a), "", reader));
}

}  // namespace
}  // namespace perdure
