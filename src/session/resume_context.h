// The text that tells a new agent session what happened before (K30): built from the newest record
// backwards, so that a long journal is read only as far as the budget reaches. Whatever an agent or
// a person wrote is neutralised: it can never look like a section or a role of this text (R5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "session/transcript.h"

namespace perdure {

struct ContextLimits {
  std::size_t message_chars = context_message_chars;
  std::size_t tool_result_chars = context_tool_result_chars;
  std::size_t total_chars = context_total_chars;  // of the whole history part, headings included
};

struct ResumeContext {
  std::string text;            // empty: there is nothing to tell
  std::uint64_t turns = 0;     // told whole, up to the cuts in single items
  std::uint64_t turns_of = 0;  // there were
  std::uint64_t chars = 0;     // of the text
  bool operator==(const ResumeContext&) const = default;
};

// Feed it windows, newest first, while it is not full:
//
//   while (!builder.full()) builder.add_older(the window before, oldest record first);
class ResumeContextBuilder {
 public:
  struct Ask {
    std::uint64_t history_from = 0;  // records behind this one count: the last clear (X26)
    std::uint64_t boundary = 0;      // and up to this one
    std::uint64_t turns_of = 0;      // prompts between the two, without those that steered
    ContextLimits limits;
  };
  explicit ResumeContextBuilder(Ask ask) : ask_(ask) {}

  // Records outside the range are left out. An empty window says that there is nothing older.
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

// The same from records at hand, in order of seq.
ResumeContext render_resume_context(std::span<const Record> records, ResumeContextBuilder::Ask ask);

// What stands around a prompt when it is sent: the history and the heading of the request in front,
// the instructions behind. Without history nothing does.
struct PromptSurrounds {
  std::string before;
  std::string after;
};
PromptSurrounds surrounds_of(const std::string& history);

// The text with everything broken up that reads as a section marker or a role tag of K30.
std::string neutralise(std::string_view text);

}  // namespace perdure
