// The fold: total, so that any journal opens; independent of where it is split; bounded.
#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/session/scenario_for_test.h"

namespace perdure {
namespace {

using testing::IsEmpty;

State fold(const std::vector<Record>& records) {
  State state;
  for (const Record& record : records) state = evolve(std::move(state), record.event);
  return state;
}

// A life with events of many kinds.
std::vector<Record> eventful_life() {
  Scenario s = Scenario::running({.policy = {.auto_continue = true, .wait_ms = 1000}});
  s.say("hello").tool("t1", "in_progress");
  s.ok(AnswerPermission{s.ask(), "allow"});
  s.submit("queued");
  s.frame(Mode{.value = "plan"});
  s.booted().gone();
  s.ok(ReleaseQueue{});
  s.executor_ready().agent_started({}).opened().injection();
  s.ask();
  s.stop();
  s.ok(ArchiveSession{});
  return s.records();
}

TEST(Evolve, J4_a_fold_that_is_cut_anywhere_and_continued_ends_the_same) {
  const std::vector<Record> records = eventful_life();
  const State whole = fold(records);
  State snapshot;
  for (std::size_t cut = 0; cut < records.size(); ++cut) {
    State continued = snapshot;
    for (std::size_t i = cut; i < records.size(); ++i) {
      continued = evolve(std::move(continued), records[i].event);
    }
    ASSERT_EQ(continued, whole) << "cut at " << cut;
    snapshot = evolve(std::move(snapshot), records[cut].event);
  }
}

TEST(Evolve, X25_an_unknown_kind_is_counted_and_changes_nothing) {
  const State before = fold(eventful_life());
  State after = evolve(before, Event{before.updated, {}, UnknownEvent{"from.the.future", {"{}"}}});
  EXPECT_EQ(after.head, before.head + 1);
  after.head = before.head;
  EXPECT_EQ(after, before);
}

TEST(Evolve, X22_every_suffix_of_a_journal_folds_without_ending_the_process) {
  const std::vector<Record> records = eventful_life();
  for (std::size_t from = 0; from < records.size(); ++from) {
    State state;
    for (std::size_t i = from; i < records.size(); ++i) {
      state = evolve(std::move(state), records[i].event);
    }
    EXPECT_EQ(state.head, records.size() - from);
  }
}

TEST(Evolve, G8_closed_tokens_are_remembered_for_a_while_and_then_forgotten) {
  Scenario s = Scenario::running();
  const PermissionId first = s.ask("req-first");
  s.ok(AnswerPermission{first, "allow"});
  for (std::size_t i = 1; i < waits_closed_kept; ++i) {
    s.ok(AnswerPermission{s.ask("req-" + std::to_string(i)), "allow"});
  }
  EXPECT_TRUE(s.ok(AnswerPermission{first, "allow"}).nothing_to_do);
  s.ok(AnswerPermission{s.ask("one more"), "allow"});
  EXPECT_EQ(s.state().closed_waits.size(), waits_closed_kept);
  EXPECT_EQ(s.refused(AnswerPermission{first, "allow"}), Code::not_found);
}

// A session in a run whose agent sends arbitrary data.
class Hostile : public ::testing::Test {
 protected:
  void happens(EventBody body) {
    state_ = evolve(std::move(state_), Event{state_.updated, origin_, std::move(body)});
  }
  void opens(const std::string& tool) { happens(ToolCall{.tool_call_id = tool}); }

  State state_ = fold(Scenario::running().records());
  const Origin origin_{.run = state_.run->id, .exec = state_.exec.id, .gen = state_.exec.gen};
};

TEST_F(Hostile, G8_open_tools_are_bounded_and_the_newest_is_the_one_not_known) {
  for (std::size_t i = 0; i < tools_open_max; ++i) opens("t" + std::to_string(i));
  opens("a, which sorts before all others");
  opens("z, which sorts behind them");
  EXPECT_EQ(state_.open_tools.size(), tools_open_max);
  EXPECT_TRUE(state_.open_tools.contains("t0"));
  EXPECT_FALSE(state_.open_tools.contains("a, which sorts before all others"));
  EXPECT_FALSE(state_.open_tools.contains("z, which sorts behind them"));
  // Known calls can still be updated, and when one ends there is room again.
  happens(ToolUpdate{.tool_call_id = "t0", .title = "new title", .status = "in_progress"});
  EXPECT_EQ(state_.open_tools.at("t0"), "new title");
  happens(ToolUpdate{.tool_call_id = "t0", .status = "completed"});
  opens("one more");
  EXPECT_TRUE(state_.open_tools.contains("one more"));
}

TEST_F(Hostile, G8_ids_and_titles_of_tools_are_bounded) {
  opens(std::string(agent_id_bytes_max + 1, 'i'));
  EXPECT_THAT(state_.open_tools, IsEmpty());
  const std::string id(agent_id_bytes_max, 'i');
  happens(ToolCall{.tool_call_id = id, .title = std::string(title_bytes_max - 1, 't') + "ü"});
  EXPECT_EQ(state_.open_tools.at(id), std::string(title_bytes_max - 1, 't'));
  happens(MessageAgent{.message = id});
  EXPECT_EQ(state_.context.last_agent_message_id, id);
  happens(MessageAgent{.message = id + "i"});
  EXPECT_EQ(state_.context.last_agent_message_id, "") << "an older one is not the last";
}

TEST_F(Hostile, G8_R9_settings_are_bounded_and_those_that_are_known_change_on) {
  for (int i = 0; i < 10'000; ++i) happens(Mode{.option = std::to_string(i), .value = "on"});
  EXPECT_EQ(state_.options.size(), options_kept_max);
  happens(Mode{.option = "0", .value = "off"});
  EXPECT_EQ(state_.options.at("0"), "off");
  happens(Mode{.option = "9999", .value = "off"});
  EXPECT_FALSE(state_.options.contains("9999"));
  // The new value cannot be stored, and the old one does not apply now.
  happens(Mode{.option = "0", .value = std::string(option_value_bytes_max + 1, 'v')});
  EXPECT_FALSE(state_.options.contains("0"));
  happens(Mode{.option = std::string(option_name_bytes_max + 1, 'n'), .value = "on"});
  EXPECT_EQ(state_.options.size(), options_kept_max - 1);
}

TEST_F(Hostile, G8_settings_asked_for_are_bounded_whatever_a_journal_says) {
  for (int i = 0; i < 10'000; ++i) {
    happens(SessionConfigured{.options = {{std::to_string(i), "on"}}});
  }
  EXPECT_EQ(state_.requested.size(), options_kept_max);
  happens(SessionConfigured{.options = {{"0", "off"}}});
  EXPECT_EQ(state_.requested.at("0"), "off");
  happens(Mode{.option = "0", .value = std::string(option_value_bytes_max + 1, 'v')});
  EXPECT_FALSE(state_.requested.contains("0")) << "it was observed";
}

TEST_F(Hostile, G8_the_state_stays_small_whatever_an_agent_invents) {
  const std::string huge(1UL << 20, 'x');
  for (int i = 0; i < 10'000; ++i) {
    const std::string number = std::to_string(10'000 + i);
    happens(Mode{.option = number + std::string(option_name_bytes_max - number.size(), 'n'),
                 .value = std::string(option_value_bytes_max, 'v')});
    happens(ToolCall{.tool_call_id = number + std::string(agent_id_bytes_max - number.size(), 't'),
                     .title = std::string(2 * title_bytes_max, 't')});
  }
  for (std::uint64_t i = 0; i < waits_open_max; ++i) {
    PermissionRequested asked{.permission = PermissionId(Ulid{1, i}),
                              .request = "request",
                              .tool_call_id = huge,
                              .title = huge,
                              .options = {{huge, "with an id that is too long", ""}}};
    for (int option = 0; option < 100; ++option) {
      asked.options.push_back({std::to_string(option), huge.substr(0, 10'000), "allow_once"});
    }
    happens(std::move(asked));
  }
  ASSERT_EQ(state_.permissions.size(), waits_open_max);
  const Permission& kept = state_.permissions.begin()->second;
  EXPECT_EQ(kept.options.size(), question_options_max);
  EXPECT_EQ(kept.options_left_out, 101 - question_options_max);
  EXPECT_EQ(kept.options[0].id, "0");
  EXPECT_EQ(kept.options[0].name.size(), question_option_bytes_max);
  EXPECT_EQ(kept.title.size(), title_bytes_max);
  EXPECT_EQ(kept.tool_call_id, "");
  EXPECT_LT(encode_fields(state_).size(), 16UL << 20);
}

TEST(Evolve, a_tool_is_open_until_its_end_is_said) {
  Scenario s = Scenario::running();
  s.tool("t1", "").tool("t2", "pending").tool("t3", "in_progress");
  EXPECT_EQ(s.state().open_tools.size(), 3U);
  EXPECT_EQ(s.state().open_tools.at("t2"), "Run it");
  s.frame(ToolUpdate{.tool_call_id = "t1", .status = "completed"});
  s.frame(ToolUpdate{.tool_call_id = "t2", .status = "failed"});
  s.frame(ToolUpdate{.tool_call_id = "t3", .status = "cancelled"});
  EXPECT_THAT(s.state().open_tools, IsEmpty());
}

TEST(Evolve, the_counts_that_the_ladder_uses_follow_the_journal) {
  Scenario s = Scenario::worked();
  EXPECT_EQ(s.state().context.prompts, 1U);
  EXPECT_EQ(s.state().context.turns, 1U);
  s.submit("two");
  s.fail_run();
  EXPECT_EQ(s.state().context.prompts, 2U);
  EXPECT_EQ(s.state().context.turns, 1U);
  EXPECT_EQ(s.state().context.history_prompts, 2U);
  EXPECT_EQ(s.state().runs, 2U);
}

TEST(Evolve, a_record_moves_the_time_of_the_session) {
  Scenario s = Scenario::live();
  const Timestamp created = s.state().created;
  s.pass(5000).say("hm");
  EXPECT_EQ(s.state().created, created);
  EXPECT_EQ(s.state().updated.ms, created.ms + 5000);
}

}  // namespace
}  // namespace perdure
