// One session in a running daemon: commits before answers, keys, readers, a full disk.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "daemon/runtime/fixture_for_test.h"

namespace perdure {
namespace {

TEST(Actor, ACK1_G1_no_answer_before_the_commit_is_durable) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  std::optional<Result<Reply>> answer;
  Reader reader;
  ASSERT_TRUE(
      daemon.runtime->subscribe(daemon.session, daemon.state().head, "", reader).has_value());
  daemon.run_now();
  daemon.runtime->submit(daemon.session, {.by = "uid:1", .body = RenameSession{"new"}},
                         [&](Result<Reply> result) { answer = std::move(result); });
  while (daemon.loop.run_posted()) {}
  EXPECT_FALSE(answer.has_value());
  EXPECT_TRUE(reader.seen.empty()) << "STREAM2: nothing is shown before it is committed";
  EXPECT_EQ(daemon.state().title, "t");
  daemon.run_now();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->has_value());
  EXPECT_EQ(reader.seen.size(), 1U);
}

TEST(Actor, ACK2_ACK3_N10_a_repeated_key_gets_the_first_answer_also_after_a_crash) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  const Result<Reply> first = daemon.ask(SubmitPrompt{{.text = "once"}}, "k1");
  ASSERT_TRUE(first.has_value());
  const Result<Reply> again = daemon.ask(SubmitPrompt{{.text = "once"}}, "k1");
  EXPECT_EQ(first, again);
  daemon.crash();
  daemon.settle(10);
  EXPECT_EQ(daemon.ask(SubmitPrompt{{.text = "once"}}, "k1"), first);
  EXPECT_EQ(daemon.count("queue.added"), 1U);
}

TEST(Actor, ACK2_a_key_with_another_body_is_refused) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  ASSERT_TRUE(daemon.ask(SubmitPrompt{{.text = "once"}}, "k1").has_value());
  EXPECT_EQ(daemon.ask(RenameSession{"x"}, "k1").error().code(), Code::key_reused);
  EXPECT_EQ(daemon.state().title, "t");
}

TEST(Actor, N10_creating_twice_with_one_key_makes_one_session) {
  Daemon daemon;
  const Result<Reply> first = daemon.create("go");
  ASSERT_TRUE(first.has_value());
  const SessionId made = daemon.session;
  daemon.loop.time_ms += 50;
  const Result<Reply> second = daemon.create("go");
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(daemon.session, made) << "the caller tried another id";
  EXPECT_EQ(second->session, made);
  EXPECT_EQ(daemon.runtime->state(daemon.session).error().code(), Code::not_found);
}

TEST(Actor, S5_X21_DISK2_a_full_disk_refuses_prompts_keeps_cancels_and_recovers_by_itself) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  const RunId run = daemon.state().run->id;
  daemon.store->inject(CommitFault::disk_full);
  daemon.frame(MessageAgent{.text = "cannot be written"}, run);
  const FrameNo unacked = daemon.frames;
  EXPECT_LT(daemon.agentctls.acked, unacked) << "the agent is not told that it is safe";
  daemon.store->inject(CommitFault::disk_full);
  EXPECT_EQ(daemon.ask(SubmitPrompt{{.text = "no room"}}).error().code(), Code::disk_full);
  daemon.store->inject(CommitFault::disk_full);
  ASSERT_TRUE(daemon.ask(CancelRun{}).has_value());
  EXPECT_EQ(daemon.count("run.cancelled"), 1U);
  daemon.settle(5000);
  EXPECT_EQ(daemon.agentctls.acked, unacked) << "nothing was dropped";
  const auto records = daemon.records();
  const auto late = std::ranges::find_if(
      records, [](const Record& record) { return event_kind(record.event) == "message.agent"; });
  ASSERT_NE(late, records.end());
  EXPECT_EQ(late->event.origin.after_run, run);
}

// A full disk is not a reason to drop an input: it would not be sent again.
TEST(Actor, PROC5_X21_a_frame_outlives_a_full_disk_and_a_key_that_another_session_took) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("", {}, "").has_value());
  const SessionId other = daemon.session;
  daemon.loop.time_ms += 5;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  daemon.store->inject(CommitFault::disk_full);
  daemon.frame(MessageAgent{.text = "to be kept"}, daemon.state().run->id);
  for (int refusals = 0; refusals < 5; ++refusals) {
    daemon.store->inject(CommitFault::disk_full);
    ASSERT_TRUE(daemon.loop.run_timer(daemon.loop.time_ms + 1000));
    daemon.run_now();
  }
  ASSERT_EQ(daemon.count("message.agent"), 0U);
  const auto rename = [&](SessionId session) {
    daemon.runtime->submit(session, {"uid:1", "one key", sha256("x"), RenameSession{"x"}},
                           [](const Result<Reply>&) {});
  };
  rename(other);
  ASSERT_TRUE(daemon.loop.run_timer(daemon.loop.time_ms + 1000));
  rename(daemon.session);
  daemon.settle();
  EXPECT_EQ(daemon.count("message.agent"), 1U);
  EXPECT_EQ(daemon.agentctls.acked, daemon.frames);
}

// An answering actor looks idle but must not be evicted: its caller may load other sessions.
TEST(Actor, G9_an_actor_that_is_answering_is_not_let_go_for_another) {
  Daemon daemon;
  for (std::size_t i = 0; i < actors_idle_max; ++i) {
    daemon.loop.time_ms += 1;
    ASSERT_TRUE(daemon.create("", {}, "").has_value());
  }
  IdSource ids(daemon.loop.now().wall, 99);
  const auto unknown = ids.next<SessionId>();
  bool is_there = false;
  daemon.runtime->submit(daemon.session, {.by = "uid:1", .body = RenameSession{"renamed"}},
                         [&](const Result<Reply>& renamed) {
                           ASSERT_TRUE(renamed.has_value());
                           EXPECT_FALSE(daemon.runtime->state(unknown));
                           is_there = daemon.runtime->state_in_memory(daemon.session) != nullptr;
                         });
  daemon.run_now();
  EXPECT_TRUE(is_there);
  EXPECT_EQ(daemon.state().title, "renamed");
}

// Without the limit, a large spool caused an append that no store accepts. The session was then
// unusable until a restart, which failed the same way.
TEST(Actor, G8_a_commit_has_a_limit_of_bytes_and_what_waits_goes_into_the_next) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  const RunId run = daemon.state().run->id;
  const ExecKey exec = daemon.exec();
  const std::string large(batch_bytes_max / 4, 'x');
  constexpr Seq frames = 20;
  const Seq before = daemon.state().head;
  for (Seq i = 0; i < frames; ++i) {
    daemon.runtime->on_frame(
        exec, Frame{exec.exec, exec.gen, ++daemon.frames, run, MessageAgent{.text = large}});
  }
  Seq head = before;
  while (head < before + frames) {
    while (daemon.loop.run_posted()) {}
    ASSERT_TRUE(daemon.store->step());
    const Seq now = daemon.store->head(daemon.session)->seq;
    EXPECT_LE(now - head, 4U);
    head = now;
  }
  daemon.settle();
  EXPECT_EQ(daemon.agentctls.acked, daemon.frames);
}

// Control characters take six bytes each in a record or a snapshot.
TEST(Actor, G8_J4_a_snapshot_that_is_too_long_is_left_out_and_the_session_goes_on) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  const std::string large(snapshot_bytes_max / 6 / 2, '\x01');
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(daemon.ask(SubmitPrompt{.prompt = {.text = large}, .when = PromptWhen::queue}));
  }
  const auto rename = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      ASSERT_TRUE(daemon.ask(RenameSession{"title " + std::to_string(i)}));
    }
  };
  rename(0, static_cast<int>(snapshot_every_records) + 1);
  EXPECT_FALSE(daemon.store->snapshot(daemon.session)->has_value());
  const State before = daemon.state();
  daemon.crash();
  daemon.settle();
  EXPECT_EQ(daemon.state().queue, before.queue);
  for (const QueuedPrompt& item : before.queue) {
    ASSERT_TRUE(daemon.ask(RemoveQueued{item.message}));
  }
  rename(0, static_cast<int>(snapshot_every_records) + 1);
  EXPECT_TRUE(daemon.store->snapshot(daemon.session)->has_value());
}

TEST(Actor, X21_a_store_that_was_away_refuses_commands_keeps_frames_and_serves_again) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  const RunId run = daemon.state().run->id;
  daemon.store->inject(CommitFault::unavailable);
  daemon.frame(MessageAgent{.text = "cannot be written"}, run);
  const FrameNo unacked = daemon.frames;
  EXPECT_LT(daemon.agentctls.acked, unacked);
  daemon.store->inject(CommitFault::unavailable);
  EXPECT_EQ(daemon.ask(RenameSession{"away"}).error().code(), Code::unavailable);
  daemon.settle(5000);
  EXPECT_EQ(daemon.agentctls.acked, unacked) << "nothing was dropped";
  EXPECT_EQ(daemon.count("message.agent"), 1U);
  EXPECT_TRUE(daemon.ask(RenameSession{"back"}).has_value());
}

TEST(Actor, S6_DISK1_an_fsync_error_answers_nobody) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  daemon.store->inject(CommitFault::eio_unknown);
  const Result<Reply> answer = daemon.ask(RenameSession{"lost or not"});
  EXPECT_EQ(answer.error().message(), "no answer");
  EXPECT_TRUE(daemon.fatal);
}

TEST(Actor, STREAM1_N1_replay_then_live_without_gap_or_repetition) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(daemon.ask(RenameSession{std::to_string(i)}).has_value());
  }
  Reader reader;
  ASSERT_TRUE(daemon.runtime->subscribe(daemon.session, 5, "", reader).has_value());
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(daemon.ask(RenameSession{"live " + std::to_string(i)}).has_value());
  }
  daemon.settle();
  ASSERT_EQ(reader.seen.size(), daemon.state().head - 5);
  for (std::size_t i = 0; i < reader.seen.size(); ++i) ASSERT_EQ(reader.seen[i], i + 6);
}

TEST(Actor, STREAM3_N2_impossible_cursors_are_refused_aloud) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  Reader reader;
  const Seq head = daemon.state().head;
  EXPECT_EQ(daemon.runtime->subscribe(daemon.session, head + 1, "", reader).error().code(),
            Code::cursor_invalid);
  EXPECT_EQ(daemon.runtime->subscribe(daemon.session, 0, "another log", reader).error().code(),
            Code::cursor_invalid);
  EXPECT_TRUE(daemon.runtime->subscribe(daemon.session, head, daemon.store->log_id(), reader));
}

TEST(Actor, STREAM4_X24_C16_a_slow_reader_is_cut_with_its_cursor_and_delays_nobody) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  Reader slow;
  Reader quick;
  const Seq head = daemon.state().head;
  ASSERT_TRUE(daemon.runtime->subscribe(daemon.session, head, "", slow).has_value());
  ASSERT_TRUE(daemon.runtime->subscribe(daemon.session, head, "", quick).has_value());
  daemon.run_now();
  slow.space = 3;
  for (std::size_t i = 0; i < subscriber_records_max + 10; ++i) {
    ASSERT_TRUE(daemon.ask(RenameSession{std::to_string(i)}).has_value());
  }
  EXPECT_EQ(slow.cut_at, head + 3);
  EXPECT_EQ(quick.seen.size(), subscriber_records_max + 10);
}

TEST(Actor, records_are_kept_in_memory_only_for_readers_that_are_behind) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  Reader slow;
  Reader quick;
  const Seq head = daemon.state().head;
  const auto id = daemon.runtime->subscribe(daemon.session, head, "", slow);
  ASSERT_TRUE(id && daemon.runtime->subscribe(daemon.session, head, "", quick));
  daemon.run_now();
  ASSERT_TRUE(daemon.ask(RenameSession{"a"}).has_value());
  EXPECT_TRUE(quick.last_given.expired());
  slow.space = 0;
  ASSERT_TRUE(daemon.ask(RenameSession{"b"}).has_value());
  EXPECT_FALSE(quick.last_given.expired());
  slow.space = 10;
  daemon.runtime->drained(*id);
  ASSERT_TRUE(daemon.ask(RenameSession{"c"}).has_value());
  EXPECT_TRUE(quick.last_given.expired());
  EXPECT_EQ(slow.seen, (std::vector<Seq>{head + 1, head + 2, head + 3}));
  EXPECT_EQ(quick.seen, slow.seen);
}

TEST(Actor, P7_a_huge_update_becomes_a_blob_and_can_be_read_back) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  const std::string huge = "{\"x\":\"" + std::string(blob_threshold_bytes, 'y') + "\"}";
  daemon.frame(AgentUpdate{{huge}}, daemon.state().run->id);
  const auto records = daemon.records();
  const auto& update = get<AgentUpdate>(records.back().event.body);
  EXPECT_LT(update.update.text.size(), 200U);
  EXPECT_EQ(daemon.store->blob(sha256(huge)), huge);
}

TEST(Actor, TOK1_O28_a_wait_token_is_consumed_once_and_its_secret_is_nowhere_stored) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  daemon.frame(
      FramePermission{.request = "q", .title = "rm", .options = {{"yes", "Yes", "allow_once"}}},
      daemon.state().run->id);
  const WaitTokenId token = daemon.state().waits.begin()->first;
  const std::string secret = daemon.runtime->wait_secret(token);
  const auto answer = [&](const std::string& given) {
    return daemon.ask(AnswerWait{.token = token, .secret_hash = sha256(given), .option_id = "yes"});
  };
  EXPECT_EQ(answer("guess").error().code(), Code::token_invalid);
  ASSERT_TRUE(answer(secret).has_value());
  EXPECT_EQ(answer(secret).error().code(), Code::token_consumed);
  EXPECT_EQ(daemon.count("token.consumed"), 1U);
  EXPECT_EQ(daemon.store->find_ref(token.text()), daemon.session);
  for (Seq seq = 1; seq <= daemon.state().head; ++seq) {
    EXPECT_FALSE(daemon.disk.peek(daemon.session, seq)->contains(secret)) << "TOK5";
  }
}

TEST(Actor, O16_C15_a_deadline_ends_the_wait_and_the_run_once) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go", {.wait_ms = 60'000}).has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  daemon.frame(
      FramePermission{.request = "q", .title = "rm", .options = {{"yes", "Yes", "allow_once"}}},
      daemon.state().run->id);
  daemon.settle(59'000);
  EXPECT_EQ(daemon.count("run.interrupted"), 0U);
  daemon.settle(2'000);
  EXPECT_EQ(daemon.count("run.interrupted"), 1U);
  EXPECT_EQ(daemon.count("token.expired"), 1U);
  EXPECT_EQ(daemon.state().status, "interrupted_waiting");
}

TEST(Actor, K4_K29_R5_history_is_injected_once_also_when_the_daemon_dies_in_between) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("first").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  const RunId run = daemon.state().run->id;
  daemon.frame(MessageAgent{.text = "I did the first thing"}, run);
  daemon.frame(FrameRunFinished{run, "end_turn"});
  daemon.runtime->on_gone(daemon.exec(), "pidfd");
  daemon.settle();
  ASSERT_TRUE(daemon.ask(ResumeSession{.how = ResumeHow::inject}).has_value());
  daemon.settle();
  daemon.agent_comes_up("agent-2");
  daemon.settle();
  EXPECT_TRUE(daemon.state().context.inject_armed);
  daemon.runtime->submit(daemon.session, {.by = "uid:1", .body = SubmitPrompt{{.text = "second"}}},
                         [](const Result<Reply>&) {});
  // The prompt is accepted; the daemon dies before the history is rendered.
  daemon.loop.run_posted();
  daemon.store->step();
  daemon.crash();
  daemon.runtime->on_attached(daemon.exec());
  daemon.settle();
  const auto prompts = daemon.agentctls.commands<SendPrompt>();
  ASSERT_EQ(prompts.size(), 1U);
  EXPECT_TRUE(prompts[0].context.contains("I did the first thing"));
  EXPECT_EQ(daemon.count("context.injected"), 1U);
}

TEST(Actor, C14_R11_X16_twenty_resumes_at_once_start_one_agentctl) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create().has_value());
  for (int i = 0; i < 20; ++i) {
    daemon.runtime->submit(daemon.session, {.by = "uid:1", .body = ResumeSession{}},
                           [](const Result<Reply>&) {});
  }
  daemon.settle();
  EXPECT_EQ(daemon.agentctls.started.size(), 1U);
  EXPECT_EQ(daemon.count("executor.starting"), 1U);
}

TEST(Actor, fork_copies_records_with_their_origin_and_nothing_open) {
  Daemon daemon;
  ASSERT_TRUE(daemon.create("go").has_value());
  daemon.settle();
  daemon.agent_comes_up();
  daemon.settle();
  const SessionId original = daemon.session;
  const Seq head = daemon.state().head;
  IdSource ids(daemon.loop.now().wall, 99);
  const auto copy = ids.next<SessionId>();
  std::optional<Result<Reply>> answer;
  daemon.runtime->fork(original, head, copy, "uid:1",
                       [&](Result<Reply> result) { answer = std::move(result); });
  daemon.settle();
  ASSERT_TRUE(answer && answer->has_value());
  daemon.session = copy;
  const State forked = daemon.state();
  EXPECT_EQ(forked.id, copy);
  EXPECT_FALSE(forked.run || forked.resume || !forked.queue.empty() || !forked.waits.empty());
  EXPECT_TRUE(forked.exec.gone);
  EXPECT_TRUE(forked.context.agent_session_id.empty())
      << "the agent's session stays the original's";
  EXPECT_EQ(daemon.records()[4].event.origin.copied_from, original.text() + "/5");
  EXPECT_EQ(daemon.runtime->state(original)->head, head) << "the original is untouched";
}

}  // namespace
}  // namespace perdure
