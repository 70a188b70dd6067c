// The text that informs a new agent session of what happened before (K30). It is built backwards
// from the newest record, so a long journal is read only as far as the budget reaches. Text by an
// agent or a person is neutralised: it cannot pass for a section or a role of this text (R5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "core/views/transcript.h"

namespace perdure {

struct ContextLimits {
  std::size_t message_chars = context_message_chars;
  std::size_t tool_result_chars = context_tool_result_chars;
  std::size_t total_chars = context_total_chars;  // of the whole history, headings included
};

struct ResumeContext {
  std::string text;            // empty: no history
  std::uint64_t turns = 0;     // included whole, except for cuts in single items
  std::uint64_t turns_of = 0;  // total number of turns
  std::uint64_t chars = 0;     // of the text
  bool operator==(const ResumeContext&) const = default;
};

// Pass it windows, newest first, until it is full:
//
//   while (!builder.full()) builder.add_older(the window before, oldest record first);
class ResumeContextBuilder {
 public:
  struct Ask {
    std::uint64_t history_from = 0;  // only records after this one count: the last clear (X26)
    std::uint64_t boundary = 0;      // up to and including this one
    std::uint64_t turns_of = 0;      // prompts between the two, without steered ones
    ContextLimits limits;
  };
  explicit ResumeContextBuilder(Ask ask) : ask_(ask) {}

  // Ignores records outside the range. An empty window means that there is nothing older.
  void add_older(std::span<const Record> window);
  bool full() const;
  ResumeContext build() const;

 private:
  struct Item {
    std::string text;
    std::size_t chars = 0;
    bool begins_turn = false;
  };
  void render_piece(std::span<const TranscriptMessage> messages);

  Ask ask_;
  TranscriptTail tail_;
  std::size_t pieces_rendered_ = 0;
  bool at_start_ = false;
  std::deque<Item> items_;  // oldest first
  std::size_t chars_ = 0;
};

// The same for records in memory, in order of seq.
ResumeContext render_resume_context(std::span<const Record> records, ResumeContextBuilder::Ask ask);

// The text around a prompt when it is sent: history and request heading before it, instructions
// after it. Both are empty without history.
struct PromptSurrounds {
  std::string before;
  std::string after;
};
PromptSurrounds surrounds_of(const std::string& history);

// The text with every K30 section marker and role tag broken up.
std::string neutralise(std::string_view text);

}  // namespace perdure
