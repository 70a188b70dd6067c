// History by turn (A19): each run is one turn, and what the agent did outside any run is a turn of
// its own (X30). Entries follow K27. Built on the transcript, so that the two always agree.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/session/state.h"
#include "core/views/transcript.h"

namespace perdure {

// The kinds of K27, with its names.
enum class HistoryKind { user_message, agent_message, tool_call, tool_result };
ENUM_TEXT(HistoryKind, "user_message", "agent_message", "tool_call", "tool_result");

struct HistoryEntry {
  HistoryKind kind = HistoryKind::user_message;
  std::uint64_t seq = 0;  // of the entry's first record
  Timestamp at;
  std::string text;          // message text; a tool call's input or a result's output
  std::string tool_call_id;  // tools only
  std::string tool_name;
  MessageOutcome outcome = MessageOutcome::done;
  bool operator==(const HistoryEntry&) const = default;
  FIELDS {
    visit("type", self.kind);
    visit("seq", self.seq);
    visit("ts", self.at);
    visit("text", self.text);
    visit("tool_call_id", self.tool_call_id);
    visit("tool_name", self.tool_name);
    visit("outcome", self.outcome);
  }
};

struct Turn {
  RunId run;        // null: outside any run
  RunId after_run;  // late: the run that had ended before
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  Timestamp started;
  std::optional<Timestamp> ended;  // absent: in progress, or never a run
  std::optional<RunEnd> end;
  std::optional<InterruptReason> interrupted;
  std::string stop_reason;  // of a completed run
  std::string message;      // of a failed one
  std::string trigger;      // prompt, auto_continue
  RunId retry_of;
  std::string prompt;
  std::vector<HistoryEntry> entries;
  std::vector<QuestionAnswer> answers;
  bool operator==(const Turn&) const = default;
  FIELDS {
    visit("run_id", self.run);
    visit("after_run", self.after_run);
    visit("first_seq", self.first_seq);
    visit("last_seq", self.last_seq);
    visit("started", self.started);
    visit("ended", self.ended);
    visit("end", self.end);
    visit("interrupted", self.interrupted);
    visit("stop_reason", self.stop_reason);
    visit("message", self.message);
    visit("trigger", self.trigger);
    visit("retry_of", self.retry_of);
    visit("prompt", self.prompt);
    visit("entries", self.entries);
    visit("answers", self.answers);
  }
};

// The K27 entry of one message; absent for an assistant message without text (thoughts only).
std::optional<HistoryEntry> history_entry(const TranscriptMessage& message);

// A single name for a tool: title, else kind, else id.
std::string tool_name(const TranscriptMessage& message);

// Folds records in order of seq. Records without conversation that belong to no run are skipped. To
// read part of a journal, start at a record for which is_flush_point() holds.
class HistoryFolder {
 public:
  void add(const Record& record);
  // Oldest first, by first_seq.
  std::vector<Turn> turns() const;

 private:
  Turn& turn_of(const Record& record);

  TranscriptFolder transcript_;
  std::map<RunId, Turn> runs_;                  // without their entries
  std::map<MessageId, RunId> runs_by_message_;  // a prompt may be recorded before its run
};

std::vector<Turn> fold_history(std::vector<Record> records);

}  // namespace perdure
