// The node journal: why a command is rejected, what is durable when it is answered, and that a
// replay gives the live state. The store is the memory one, with crashes and failing commits.
#include "daemon/registry/node.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/limits.h"
#include "core/wire/journal/node_record.h"
#include "daemon/registry/node_events.h"
#include "daemon/registry/node_load.h"
#include "daemon/runtime/fixture_for_test.h"
#include "daemon/runtime/load.h"

namespace perdure {
namespace {

class NodeBench {
 public:
  NodeBench() { open(); }

  void open() {
    store = MemoryStore::open(disk, {.on_fatal = [this](const Error&) { fatal = true; }});
    Result<std::unique_ptr<Node>> opened = Node::open({loop, loop, loop, *store});
    ASSERT_TRUE(opened) << opened.error().message();
    node = std::move(*opened);
  }
  void crash(CrashChoice choice) {
    node.reset();
    loop.forget_everything();
    disk.crash(choice);
    open();
  }
  void run() {
    while (loop.run_posted() || store->step()) {}
  }

  Node::OnDone into(std::optional<Result<>>& out) {
    return [&out](Result<> result) { out = std::move(result); };
  }
  // The answer, or nothing if there was none.
  std::optional<Result<Task>> create(const std::string& title, const std::string& key = "") {
    std::optional<Result<Task>> out;
    node->create_task({"uid:1", key, sha256(title)}, title, "do it",
                      [&](Result<Task> task) { out = std::move(task); });
    run();
    return out;
  }
  std::optional<Result<>> add_token(const TokenRow& row, const std::string& key = "") {
    std::optional<Result<>> out;
    node->add_token({"uid:1", key, sha256(row.name)}, row, into(out));
    run();
    return out;
  }
  std::optional<Result<>> revoke_token(const std::string& id) {
    std::optional<Result<>> out;
    node->revoke_token({"uid:1", "", {}}, id, into(out));
    run();
    return out;
  }
  std::vector<std::string> records() {
    return store->read(Node::journal_id(), {.after = 0, .limit = 100'000})->records;
  }

  TestLoop loop;
  MemoryDisk disk;
  std::unique_ptr<MemoryStore> store;
  std::unique_ptr<Node> node;
  bool fatal = false;
};

TokenRow token(const std::string& id) {
  return {.id = id, .name = "ci", .scope = Scope::operate, .text_hash = sha256(id)};
}

TEST(Node, a_task_is_made_changed_and_deleted_and_survives_a_crash) {
  NodeBench bench;
  const Task task = **bench.create("fix it");
  EXPECT_EQ(task.title, "fix it");
  EXPECT_EQ(task.by, "uid:1");
  std::optional<Result<Task>> changed;
  bench.node->change_task({"uid:2", "", {}}, task.id, {.title = "fix all", .description = {}},
                          [&](Result<Task> result) { changed = std::move(result); });
  bench.run();
  EXPECT_EQ((*changed)->title, "fix all");
  EXPECT_EQ((*changed)->description, "do it");
  bench.crash(CrashChoice::lose_tail);
  ASSERT_TRUE(bench.node->state().tasks.contains(task.id));
  EXPECT_EQ(bench.node->state().tasks.at(task.id).title, "fix all");
  std::optional<Result<>> deleted;
  bench.node->delete_task({"uid:1", "", {}}, task.id, bench.into(deleted));
  bench.run();
  EXPECT_TRUE(deleted->has_value());
  EXPECT_TRUE(bench.node->state().tasks.empty());
  std::optional<Result<>> again;
  bench.node->delete_task({"uid:1", "", {}}, task.id, bench.into(again));
  bench.run();
  EXPECT_EQ(again->error().code(), Code::not_found);
}

TEST(Node, ACK3_a_repeat_gets_the_first_answer_and_another_body_is_refused) {
  NodeBench bench;
  const Task first = **bench.create("a", "k");
  EXPECT_EQ(**bench.create("a", "k"), first);
  EXPECT_EQ(bench.create("b", "k")->error().code(), Code::key_reused);
  EXPECT_EQ(bench.node->state().tasks.size(), 1U);
  bench.crash(CrashChoice::keep_tail);
  EXPECT_EQ(**bench.create("a", "k"), first);
  const auto stored = *bench.store->answer("k");
  ASSERT_TRUE(stored && stored->expires);
  EXPECT_EQ(stored->expires->ms, first.created.ms + 7LL * 24 * 3600 * 1000);
}

TEST(Node, ACK2_two_repeats_in_one_batch_make_one_task) {
  NodeBench bench;
  std::vector<Task> made;
  for (int i = 0; i < 2; ++i) {
    bench.node->create_task({"uid:1", "k", sha256("a")}, "a", "",
                            [&](Result<Task> task) { made.push_back(*task); });
  }
  bench.run();
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(bench.node->state().tasks.size(), 1U);
}

TEST(Node, ACK3_TOK5_an_answer_with_a_secret_is_not_stored_and_a_repeat_is_told_the_id) {
  NodeBench bench;
  EXPECT_TRUE(bench.add_token(token("tok_1"), "k")->has_value());
  const auto repeat = bench.add_token(token("tok_2"), "k");
  EXPECT_EQ(repeat->error().code(), Code::secret_already_shown);
  EXPECT_EQ(*bench.node->shown_id("k"), "tok_1");
  EXPECT_EQ(bench.node->shown_id("other").error().code(), Code::not_found);
  EXPECT_EQ(bench.node->state().tokens.size(), 1U);
  TokenRow other = token("tok_3");
  other.name = "other";
  EXPECT_EQ(bench.add_token(other, "k")->error().code(), Code::key_reused);
}

TEST(Node, TOK2_a_revocation_is_durable_before_it_is_answered) {
  NodeBench bench;
  bench.add_token(token("tok_1"));
  bench.store->inject(CommitFault::slow_sync);
  std::optional<Result<>> revoked;
  bench.node->revoke_token({"uid:1", "", {}}, "tok_1", bench.into(revoked));
  while (bench.loop.run_posted()) {}
  bench.store->step();
  while (bench.loop.run_posted()) {}
  EXPECT_FALSE(revoked) << "its sync is still under way";
  EXPECT_TRUE(bench.node->state().tokens.contains("tok_1"));
  bench.run();
  EXPECT_TRUE(revoked->has_value());
  EXPECT_FALSE(bench.node->state().tokens.contains("tok_1"));
  bench.crash(CrashChoice::lose_tail);
  EXPECT_FALSE(bench.node->state().tokens.contains("tok_1"));
}

TEST(Node, DISK1_after_a_failed_sync_nobody_is_answered_and_a_repeat_tells) {
  for (const CrashChoice choice : {CrashChoice::keep_tail, CrashChoice::lose_tail}) {
    NodeBench bench;
    bench.store->inject(CommitFault::eio_unknown);
    EXPECT_FALSE(bench.create("a", "k"));
    EXPECT_TRUE(bench.fatal);
    EXPECT_TRUE(bench.node->state().tasks.empty()) << "nothing is shown that is not durable";
    bench.crash(choice);
    EXPECT_EQ(bench.node->state().tasks.size(), choice == CrashChoice::keep_tail ? 1U : 0U);
    EXPECT_TRUE(bench.create("a", "k")->has_value());
    EXPECT_EQ(bench.node->state().tasks.size(), 1U);
  }
}

TEST(Node, DISK2_a_full_disk_refuses_new_rights_and_still_takes_some_away) {
  NodeBench bench;
  bench.add_token(token("tok_1"));
  bench.store->inject(CommitFault::disk_full);
  EXPECT_EQ(bench.create("a")->error().code(), Code::disk_full);
  bench.store->inject(CommitFault::disk_full);
  EXPECT_TRUE(bench.revoke_token("tok_1")->has_value());
  EXPECT_TRUE(bench.create("a")->has_value()) << "it goes on by itself";
}

TEST(Node, what_may_use_the_reserve_takes_nothing_else_along) {
  NodeBench bench;
  bench.add_token(token("tok_1"));
  bench.store->inject(CommitFault::disk_full);
  std::optional<Result<>> revoked;
  std::optional<Result<Task>> made;
  bench.node->create_task({"uid:1", "", {}}, "a", "", [&](Result<Task> t) { made = std::move(t); });
  bench.node->revoke_token({"uid:1", "", {}}, "tok_1", bench.into(revoked));
  bench.run();
  EXPECT_EQ(made->error().code(), Code::disk_full);
  EXPECT_TRUE(revoked->has_value());
}

TEST(Node, S8_a_newer_owner_ends_this_one) {
  NodeBench bench;
  const auto newer = MemoryStore::open(bench.disk);
  EXPECT_EQ(bench.create("a")->error().code(), Code::stale_owner);
  EXPECT_EQ(bench.create("b")->error().code(), Code::stale_owner);
}

TEST(Node, a_key_that_a_session_took_meanwhile_is_found_by_another_try) {
  NodeBench bench;
  // Queued before the node's commit, in the same group.
  bench.store->append({.session = SessionId(Ulid{9, 9}),
                       .epoch = bench.store->epoch(),
                       .answers = {{.key = "k", .body = sha256("other"), .answer = "{}"}}},
                      [](Result<>) {});
  EXPECT_EQ(bench.create("a", "k")->error().code(), Code::key_reused);
}

TEST(Node, S7_a_damaged_journal_is_not_opened_and_a_damaged_snapshot_costs_time_only) {
  NodeBench bench;
  for (std::size_t i = 0; i < snapshot_every_records + 3; ++i) {
    bench.create("t" + std::to_string(i));
  }
  const NodeState before = bench.node->state();
  ASSERT_TRUE(*bench.store->snapshot(Node::journal_id()));
  ASSERT_TRUE(bench.disk.flip_snapshot_bit(Node::journal_id()));
  bench.crash(CrashChoice::keep_tail);
  EXPECT_EQ(bench.node->state(), before);
  ASSERT_TRUE(bench.disk.flip_bit(Node::journal_id(), 2));
  const auto opened = Node::open({bench.loop, bench.loop, bench.loop, *bench.store});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::damaged);
}

TEST(Node, J4_a_snapshot_and_the_records_behind_it_give_the_same_as_all_records) {
  NodeBench bench;
  for (std::size_t i = 0; i < snapshot_every_records + 7; ++i) bench.create("t");
  const auto loaded = load_node(*bench.store);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->snapshot, snapshot_every_records);
  EXPECT_EQ(loaded->state, bench.node->state());
  NodeChain chain;
  NodeState folded;
  for (const std::string& bytes : bench.records()) {
    const auto record = chain.add(bytes);
    ASSERT_TRUE(record);
    evolve(folded, *decode_node_event(record->kind, record->fields));
  }
  EXPECT_EQ(folded, loaded->state);
  EXPECT_EQ(chain.hash(), loaded->head_hash);
}

TEST(Node, J6_a_later_kind_is_passed_over_and_a_later_format_refused) {
  for (const std::int64_t version : {1, 3}) {
    NodeBench bench;
    bench.create("a");
    NodeRecord record{.seq = 2, .kind = "sun.rose", .prev = sha256(bench.records().front())};
    record.fields.text = R"({"x":[1]})";
    std::string bytes = encode_node_record(record);
    if (version == 3) bytes.replace(bytes.find("\"v\":1"), 5, "\"v\":3");
    bench.store->append({.session = Node::journal_id(),
                         .epoch = bench.store->epoch(),
                         .expected_head = 1,
                         .records = {bytes}},
                        [](Result<>) {});
    bench.run();
    const auto opened = Node::open({bench.loop, bench.loop, bench.loop, *bench.store});
    if (version == 1) {
      ASSERT_TRUE(opened);
      EXPECT_EQ((*opened)->state().head, 2U);
      EXPECT_EQ((*opened)->state().tasks.size(), 1U);
    } else {
      EXPECT_EQ(opened.error().code(), Code::format_too_new);
    }
  }
}

TEST(Node, it_is_no_session_for_the_runtime) {
  Daemon daemon;
  auto node = *Node::open({daemon.loop, daemon.loop, daemon.loop, *daemon.store});
  node->create_task({"uid:1", "", {}}, "a", "", [](Result<Task>) {});
  daemon.run_now();
  EXPECT_EQ(node->state().head, 1U);
  const Result<LoadedSession> loaded = load_session(*daemon.store, Node::journal_id());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), Code::not_found);
  EXPECT_TRUE(daemon.store->open_sessions()->empty());
}

TEST(Node, watchers_hear_of_commits_and_may_leave_meanwhile) {
  NodeBench bench;
  int heard = 0;
  std::uint64_t second = 0;
  const std::uint64_t first = bench.node->watch([&] {
    ++heard;
    bench.node->unwatch(second);
  });
  second = bench.node->watch([&] { heard += 100; });
  bench.create("a");
  EXPECT_EQ(heard, 1);
  bench.create("", "");
  bench.node->unwatch(first);
  bench.create("c");
  EXPECT_EQ(heard, 2) << "a title from the description made another one";
}

TEST(Node, X21_a_redaction_reaches_every_daemon_of_the_store) {
  NodeBench bench;
  const Task task = **bench.create("hunter2");
  const auto other = *Node::open({bench.loop, bench.loop, bench.loop, *bench.store});
  std::optional<Result<>> redacted;
  bench.node->redact({"uid:1", "", {}}, {task.id.text()}, bench.into(redacted));
  bench.run();
  ASSERT_TRUE(redacted && *redacted);
  ASSERT_TRUE(*other->catch_up());
  for (const Node* const node : {bench.node.get(), other.get()}) {
    EXPECT_EQ(node->state().tasks.at(task.id).title, "[redacted]");
    EXPECT_EQ(node->state().tasks.at(task.id).description, "[redacted]");
  }
}

TEST(Node, X21_the_answer_that_is_kept_for_a_repeat_holds_no_text) {
  NodeBench bench;
  const Task task = **bench.create("hunter2", "key");
  const auto kept = *bench.store->answer("key");
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->answer.contains("hunter2")) << kept->answer;
  EXPECT_EQ(**bench.create("hunter2", "key"), task);
}

TEST(NodeDecide, refuses_what_it_cannot_keep) {
  NodeState state;
  const auto code = [&](NodeCommand command) {
    const auto decision = decide(state, {.now = {1000}, .by = "uid:1", .command = command});
    return decision ? std::optional<Code>() : decision.error().code();
  };
  EXPECT_EQ(code(CreateTask{}), Code::invalid_argument);
  EXPECT_EQ(code(CreateTask{"t", std::string(task_description_bytes_max + 1, 'x')}),
            Code::limit_reached);
  EXPECT_EQ(code(ChangeTask{TaskId(Ulid{1, 1}), {}}), Code::not_found);
  EXPECT_EQ(code(RevokeToken{"tok_1"}), Code::not_found);
  EXPECT_EQ(code(RevokeBrowser{"br_1"}), Code::not_found);
  EXPECT_EQ(code(RemoveRule{"rule_1"}), Code::not_found);
  EXPECT_EQ(code(AddToken{{.id = ""}}), Code::conflict);
  EXPECT_EQ(code(AddToken{{.id = "t", .expires = Timestamp{1000}}}), Code::invalid_argument);
  EXPECT_EQ(code(AddToken{{.id = "t", .name = std::string(node_name_bytes_max + 1, 'n')}}),
            Code::invalid_argument);
  EXPECT_EQ(code(AddTombstone{}), Code::invalid_argument);
}

TEST(NodeDecide, GHSA_943q_mwmv_hhvh_a_rule_names_its_question_exactly) {
  const NodeState state;
  const auto accepts = [&](const PermissionRule& rule) {
    return decide(state, {.command = AddRule{rule}}).has_value();
  };
  EXPECT_TRUE(accepts({.id = "r", .title = "ls", .option_kind = "allow_once"}));
  EXPECT_FALSE(accepts({.id = "r", .title = "", .option_kind = "allow_once"}));
  EXPECT_FALSE(accepts({.id = "r", .title = "ls", .option_kind = "allow"}));
  EXPECT_FALSE(accepts({.id = "r", .title = "ls", .option_kind = ""}));
}

TEST(NodeDecide, G7_a_rule_names_no_question_that_may_be_cut) {
  const auto add = [](std::size_t title_bytes) {
    return decide(NodeState{}, {.command = AddRule{{.id = "r",
                                                    .title = std::string(title_bytes, 't'),
                                                    .option_kind = "allow_once"}}});
  };
  EXPECT_TRUE(add(title_bytes_max - 4));
  for (const std::size_t bytes : {title_bytes_max - 3, title_bytes_max, title_bytes_max + 1}) {
    const auto refused = add(bytes);
    ASSERT_FALSE(refused) << bytes;
    EXPECT_EQ(refused.error().code(), Code::invalid_argument);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("a person does"));
  }
}

TEST(NodeDecide, limits_hold_and_what_expired_gives_way) {
  NodeState state;
  const auto add = [&](NodeCommand command, std::int64_t now) -> std::optional<Code> {
    const auto decision = decide(state, {.now = {now}, .by = "uid:1", .command = command});
    if (!decision) return decision.error().code();
    for (const NodeEvent& event : decision->events) evolve(state, event);
    return std::nullopt;
  };
  for (std::size_t i = 0; i < tokens_max; ++i) {
    TokenRow row = token("tok_" + std::to_string(i));
    if (i == 500) row.expires = Timestamp{50};
    ASSERT_FALSE(add(AddToken{row}, 1));
  }
  EXPECT_EQ(add(AddToken{token("tok_x")}, 49), Code::limit_reached);
  EXPECT_FALSE(add(AddToken{token("tok_x")}, 50));
  EXPECT_FALSE(state.tokens.contains("tok_500"));
  for (std::size_t i = 0; i < browsers_max + 2; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    BrowserRow row{.id = "br_" + std::to_string(i), .created = {at}};
    if (i == 7) row.expires = Timestamp{60};
    ASSERT_FALSE(add(AddBrowser{row}, 100 + at));
  }
  EXPECT_EQ(state.browsers.size(), browsers_max);
  EXPECT_FALSE(state.browsers.contains("br_7")) << "the expired one first";
  EXPECT_FALSE(state.browsers.contains("br_0")) << "then the oldest";
  EXPECT_TRUE(state.browsers.contains("br_1"));
  for (std::size_t i = 0; i < rules_max; ++i) { state.rules["r" + std::to_string(i)] = {}; }
  EXPECT_EQ(add(AddRule{{.id = "x", .title = "t", .option_kind = "allow_once"}}, 1),
            Code::limit_reached);
  const std::string big(task_description_bytes_max, 'x');
  std::size_t made = 0;
  while (!add(CreateTask{"t", big}, static_cast<std::int64_t>(made))) ++made;
  EXPECT_EQ(made, tasks_bytes_max / (task_description_bytes_max + 1));
}

TEST(NodeDecide, the_tombstones_kept_are_bounded) {
  NodeState state;
  for (std::size_t i = 1; i <= tombstones_max + 1; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    evolve(state, SessionDeleted{{.session = SessionId(Ulid{i, 1}), .deleted = {at}}});
  }
  EXPECT_EQ(state.tombstones.size(), tombstones_max);
  EXPECT_FALSE(state.tombstones.contains(SessionId(Ulid{1, 1})));
}

TEST(NodeDecide, U11_a_session_that_went_on_and_is_deleted_again_has_the_later_tombstone) {
  NodeState state;
  Tombstone tombstone{.session = SessionId(Ulid{1, 1}), .last_hash = sha256("first")};
  const auto add = [&] {
    const NodeDecision decision = decide(state, {.command = AddTombstone{tombstone}}).value();
    for (const NodeEvent& event : decision.events) evolve(state, event);
    return decision.events.size();
  };
  EXPECT_EQ(add(), 1U);
  EXPECT_EQ(add(), 0U);  // a repeat has no effect
  tombstone.last_hash = sha256("second");
  EXPECT_EQ(add(), 1U);
  EXPECT_EQ(state.tombstones.at(tombstone.session).last_hash, sha256("second"));
}

// Draws a command over few ids, so that most refer to existing rows.
NodeCommand draw_command() {
  const std::string id = "id_" + std::to_string(*rc::gen::inRange(0, 4));
  const TaskId task(Ulid{1, static_cast<std::uint64_t>(*rc::gen::inRange(1, 4))});
  const std::string text = *rc::gen::element<std::string>("", "a", "b\"\n", "é世");
  switch (*rc::gen::inRange(0, 10)) {
    case 0: return CreateTask{text, "d"};
    case 1: return ChangeTask{task, {.title = text, .description = text}};
    case 2: return DeleteTask{task};
    case 3: return AddToken{token(id)};
    case 4: return RevokeToken{id};
    case 5: return AddBrowser{{.id = id, .key_hash = sha256(id)}};
    case 6: return RevokeBrowser{id};
    case 7: return AddRule{{.id = id, .title = "t", .option_kind = "reject_once"}};
    case 8: return RemoveRule{id};
    default: return AddTombstone{{.session = SessionId(Ulid{1, 7}), .title = text}};
  }
}

RC_GTEST_PROP(NodeProperty, J4_J5_replay_of_the_bytes_gives_the_live_state, ()) {
  NodeState live;
  NodeState replayed;
  NodeChain chain;
  const int steps = *rc::gen::inRange(1, 60);
  for (int i = 0; i < steps; ++i) {
    const NodeInput input{.now = {1000 + i},
                          .id_seed = static_cast<std::uint64_t>(i),
                          .by = "uid:1",
                          .command = draw_command()};
    const auto decision = decide(live, input);
    if (!decision) continue;
    for (const NodeEvent& event : decision->events) {
      const std::string bytes = encode_node_record({.seq = live.head + 1,
                                                    .at = input.now,
                                                    .kind = std::string(node_event_kind(event)),
                                                    .prev = chain.hash(),
                                                    .fields = {encode_node_event(event)}});
      evolve(live, event);
      const auto record = chain.add(bytes);
      RC_ASSERT(record.has_value());
      evolve(replayed, *decode_node_event(record->kind, record->fields));
      RC_ASSERT(replayed == live);
    }
    RC_ASSERT(decode_node_snapshot(encode_node_snapshot(live)).value() == live);
  }
}

}  // namespace
}  // namespace perdure
