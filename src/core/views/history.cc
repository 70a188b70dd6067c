#include "core/views/history.h"

#include <algorithm>
#include <utility>

namespace perdure {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

HistoryKind kind_of(MessageRole role) {
  switch (role) {
    case MessageRole::user: return HistoryKind::user_message;
    case MessageRole::assistant: return HistoryKind::agent_message;
    case MessageRole::tool_call: return HistoryKind::tool_call;
    case MessageRole::tool_result: return HistoryKind::tool_result;
  }
  return HistoryKind::user_message;
}

void end_turn(Turn& turn, RunEnd end, Timestamp at) {
  turn.end = end;
  turn.ended = at;
}

}  // namespace

std::string tool_name(const TranscriptMessage& message) {
  if (!message.title.empty()) return message.title;
  return message.tool_kind.empty() ? message.tool_call_id : message.tool_kind;
}

std::optional<HistoryEntry> history_entry(const TranscriptMessage& message) {
  if (message.role == MessageRole::assistant && message.content.empty()) return std::nullopt;
  const bool is_tool =
      message.role == MessageRole::tool_call || message.role == MessageRole::tool_result;
  return HistoryEntry{.kind = kind_of(message.role),
                      .seq = message.first_seq,
                      .at = message.at,
                      .text = message.content,
                      .tool_call_id = message.tool_call_id,
                      .tool_name = is_tool ? tool_name(message) : "",
                      .outcome = message.outcome};
}

Turn& HistoryFolder::turn_of(const Record& record) {
  const auto [place, is_new] = runs_.try_emplace(record.event.origin.run);
  Turn& turn = place->second;
  if (is_new) {
    turn.run = record.event.origin.run;
    turn.first_seq = record.seq;
    turn.started = record.event.at;
  }
  turn.last_seq = record.seq;
  return turn;
}

void HistoryFolder::add(const Record& record) {
  transcript_.add(record);
  if (!record.event.origin.run) return;
  Turn& turn = turn_of(record);
  const Timestamp at = record.event.at;
  if (auto answer = question_answer(record)) turn.answers.push_back(std::move(*answer));
  visit(Overloaded{
            [&](const RunStarted& run) {
              turn.started = at;
              turn.trigger = run.trigger;
              if (run.message) runs_by_message_[run.message] = turn.run;
            },
            [&](const RunRetried& run) { turn.retry_of = run.of; },
            [&](const RunCompleted& run) {
              end_turn(turn, RunEnd::completed, at);
              turn.stop_reason = run.stop_reason;
            },
            [&](const RunFailed& run) {
              end_turn(turn, RunEnd::failed, at);
              turn.message = run.message;
            },
            [&](const RunCancelled&) { end_turn(turn, RunEnd::cancelled, at); },
            [&](const RunInterrupted& run) {
              end_turn(turn, RunEnd::interrupted, at);
              turn.interrupted = run.reason;
            },
            [](const auto&) {},
        },
        record.event.body);
}

// Messages of a run go to its turn; adjacent messages outside any run share one turn if they came
// after the same run.
std::vector<Turn> HistoryFolder::turns() const {
  std::vector<Turn> turns;
  std::map<RunId, std::size_t> index;
  for (const auto& [run, turn] : runs_) {
    index[run] = turns.size();
    turns.push_back(turn);
  }
  std::optional<std::size_t> outside;
  for (const TranscriptMessage& message : transcript_.messages()) {
    RunId run = message.run;
    if (const auto named = runs_by_message_.find(message.message);
        !run && named != runs_by_message_.end()) {
      run = named->second;
    }
    if (!run && (!outside || turns[*outside].after_run != message.after_run)) {
      outside = turns.size();
      turns.push_back(
          {.after_run = message.after_run, .first_seq = message.first_seq, .started = message.at});
    }
    if (run) outside.reset();
    Turn& turn = turns[run ? index.at(run) : *outside];
    turn.first_seq = std::min(turn.first_seq, message.first_seq);
    turn.last_seq = std::max(turn.last_seq, message.last_seq);
    if (message.role == MessageRole::user && turn.prompt.empty()) turn.prompt = message.content;
    if (auto entry = history_entry(message)) turn.entries.push_back(std::move(*entry));
  }
  std::ranges::sort(turns, {}, &Turn::first_seq);
  return turns;
}

std::vector<Turn> fold_history(std::vector<Record> records) {
  std::ranges::sort(records, {}, &Record::seq);
  HistoryFolder folder;
  for (const Record& record : records) folder.add(record);
  return folder.turns();
}

}  // namespace perdure
