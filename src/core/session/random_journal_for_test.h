// Journals for tests: hand-made ones, and random ones from a seed that contain everything a
// projection must handle: interleaved tools, late frames, repairs, unknown kinds, prompts that
// steer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/session/events.h"

namespace perdure::testing {

template <class SomeId>
SomeId some_id(std::uint64_t number) {
  return SomeId(Ulid{.high = 1, .low = number});
}

// Numbers its records and dates them one second apart, from 2026-11-15T12:00:00Z.
class JournalBuilder {
 public:
  JournalBuilder& add(EventBody body, Origin origin = {}) {
    const std::uint64_t seq = records_.size() + 1;
    const Timestamp at{1'794'744'000'000 + static_cast<std::int64_t>(seq) * 1000};
    if (origin == Origin{} && run_) origin.run = run_;
    records_.push_back(
        {.seq = seq, .event = {.at = at, .origin = origin, .body = std::move(body)}});
    return *this;
  }
  JournalBuilder& start_run(std::uint64_t number, std::string prompt) {
    run_ = some_id<RunId>(number);
    add(MessageUser{.message = some_id<MessageId>(number), .prompt = {.text = std::move(prompt)}});
    return add(RunStarted{.message = some_id<MessageId>(number), .trigger = "prompt"});
  }
  // The end still carries the run's id; later records do not.
  JournalBuilder& end_run(EventBody end = RunCompleted{.stop_reason = "end_turn"}) {
    add(std::move(end));
    run_ = {};
    return *this;
  }
  JournalBuilder& say(std::string text, std::string id = {}) {
    return add(MessageAgent{.message = std::move(id), .text = std::move(text)});
  }
  JournalBuilder& think(std::string text, std::string id = {}) {
    return add(MessageThought{.message = std::move(id), .text = std::move(text)});
  }
  JournalBuilder& call(std::string id, std::string title, std::string status = "pending") {
    return add(ToolCall{
        .tool_call_id = std::move(id), .title = std::move(title), .status = std::move(status)});
  }
  JournalBuilder& update(std::string id, std::string status, std::string text = {}) {
    return add(ToolUpdate{
        .tool_call_id = std::move(id), .status = std::move(status), .text = std::move(text)});
  }
  // A whole turn with an answer.
  JournalBuilder& turn(std::uint64_t number, std::string prompt, std::string answer) {
    return start_run(number, std::move(prompt)).say(std::move(answer)).end_run();
  }

  RunId run() const { return run_; }
  const std::vector<Record>& records() const { return records_; }

 private:
  std::vector<Record> records_;
  RunId run_;
};

// A small generator (splitmix64): the same seed gives the same journal on every platform.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

namespace random_journal {

inline std::string word(Dice& dice) {
  static constexpr std::string_view words[] = {
      "", "alpha ", "бета ", "γ\n", "=== INSTRUCTIONS ===\n", "[USER]: no ", "🙂", "ok. "};
  return std::string(words[dice.below(8)]);
}
inline std::string name(Dice& dice, std::string_view letters) {
  return std::string(1, letters[dice.below(letters.size())]);
}

inline EventBody end_of_run(Dice& dice) {
  switch (dice.below(4)) {
    case 0: return RunFailed{.code = "agent_error", .message = "it broke"};
    case 1: return RunCancelled{.by = "uid:1"};
    case 2: return RunInterrupted{.reason = InterruptReason::process_exit};
    default: return RunCompleted{.stop_reason = "end_turn"};
  }
}

// Any event that may occur during a turn or between turns.
inline void add_step(JournalBuilder& journal, Dice& dice) {
  switch (dice.below(16)) {
    case 0:
    case 1:
    case 2: journal.say(word(dice), dice.one_in(4) ? name(dice, "mn") : ""); return;
    case 3:
    case 4: journal.think(word(dice), dice.one_in(4) ? name(dice, "pq") : ""); return;
    case 5: journal.call(name(dice, "abc"), "tool " + name(dice, "xyz")); return;
    case 6:
    case 7:
      journal.update(name(dice, "abcd"), dice.one_in(2) ? "completed" : "in_progress", word(dice));
      return;
    case 8:
      journal.add(
          ToolCall{.tool_call_id = name(dice, "abc"), .status = "completed", .text = word(dice)});
      return;
    case 9: journal.add(Plan{.text = "plan"}); return;
    case 10: journal.add(Usage{.used = 1, .size = 2}); return;
    case 11: journal.add(QueueAdded{.message = some_id<MessageId>(900)}); return;
    case 12: journal.add(UnknownEvent{.kind = "future.kind", .members = {"{}"}}); return;
    case 13: journal.add(PermissionRequested{.permission = some_id<PermissionId>(5)}); return;
    case 14:
      journal.add(RepairClosedTool{.tool_call_id = name(dice, "abcd"), .outcome = "unknown"});
      return;
    default: break;
  }
  switch (dice.below(6)) {
    case 0:
      journal.add(MessageUser{
          .message = some_id<MessageId>(800), .prompt = {.text = "steer"}, .steered = true});
      return;
    case 1: journal.add(RepairClosedMessage{}); return;
    case 2: journal.add(ExecutorReattached{}); return;
    case 3: journal.add(AgentExited{.why = "crashed"}); return;
    case 4: journal.add(ContextBoundary{.how = BoundaryHow::compacted}); return;
    default:
      journal.say("late", "").add(Commands{}, Origin{.after_run = some_id<RunId>(1)});
      return;
  }
}

}  // namespace random_journal

inline std::vector<Record> make_random_journal(std::uint64_t seed, std::size_t records) {
  Dice dice(seed);
  // The length of turns varies by seed: some journals are one long turn, some have many.
  const std::uint64_t turn_length = 2 + dice.below(40);
  JournalBuilder journal;
  journal.add(SessionCreated{.session = some_id<SessionId>(1), .title = "random"});
  std::uint64_t runs = 0;
  while (journal.records().size() < records) {
    if (dice.one_in(turn_length)) {
      if (journal.run()) {
        journal.end_run(random_journal::end_of_run(dice));
      } else {
        ++runs;
        journal.start_run(runs, "prompt " + std::to_string(runs));
      }
    } else {
      random_journal::add_step(journal, dice);
    }
  }
  return journal.records();
}

}  // namespace perdure::testing
