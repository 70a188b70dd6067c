// The transcript (A20-A25): records folded into chat messages. A message's position and id come
// from its first record, and no record changes a message of an earlier segment. Ids are therefore
// stable while a journal grows, and folding a long journal's last records yields its last page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/hash.h"
#include "core/session/events.h"

namespace perdure {

enum class MessageRole { user, assistant, tool_call, tool_result };
ENUM_TEXT(MessageRole, "user", "assistant", "tool_call", "tool_result");

// open: more may follow. interrupted: its author died while writing it. unknown: it is unclear
// whether a tool call took effect (R6).
enum class MessageOutcome { open, done, interrupted, unknown };
ENUM_TEXT(MessageOutcome, "open", "done", "interrupted", "unknown");

struct TranscriptMessage {
  std::uint64_t first_seq = 0;
  std::uint64_t last_seq = 0;
  MessageRole role = MessageRole::user;
  std::string content;   // message text or tool output; of a tool call, its input
  std::string thinking;  // assistant only
  bool thinking_complete = false;
  Timestamp at;                  // of the first record
  MessageId message;             // user only
  std::string agent_message_id;  // assistant, if the agent names its messages
  std::string agent_thought_id;  // of its thoughts, which agents number separately
  std::string tool_call_id;      // links a tool call and its result (A24)
  std::string title;
  std::string tool_kind;
  std::string status;  // of a tool, in the agent's words
  RunId run;           // null outside any run
  RunId after_run;     // late: the run that had ended before it arrived
  MessageOutcome outcome = MessageOutcome::done;
  bool steered = false;  // user only: sent into a running turn
  RawJson blocks;        // user only: content that is not text
  bool operator==(const TranscriptMessage&) const = default;

  // `<first_seq>`; of a tool result `<first_seq>.result`, since one record may hold call and
  // result.
  std::string id() const;
  FIELDS {
    visit("first_seq", self.first_seq);
    visit("last_seq", self.last_seq);
    visit("role", self.role);
    visit("content", self.content);
    visit("thinking", self.thinking);
    visit("thinking_complete", self.thinking_complete);
    visit("timestamp", self.at);
    visit("message_id", self.message);
    visit("agent_message_id", self.agent_message_id);
    visit("agent_thought_id", self.agent_thought_id);
    visit("tool_call_id", self.tool_call_id);
    visit("title", self.title);
    visit("tool_kind", self.tool_kind);
    visit("status", self.status);
    visit("run_id", self.run);
    visit("after_run", self.after_run);
    visit("outcome", self.outcome);
    visit("steered", self.steered);
    visit("blocks", self.blocks);
  }
};

// How a question ended, and who answered it: a person, or `rule:<id>`.
struct QuestionAnswer {
  std::uint64_t seq = 0;
  Timestamp at;
  PermissionId permission;
  PermissionOutcome outcome = PermissionOutcome::cancelled;
  std::string option_id;
  std::string option_name;
  std::string by;
  bool operator==(const QuestionAnswer&) const = default;
  FIELDS {
    visit("seq", self.seq);
    visit("ts", self.at);
    visit("perm_id", self.permission);
    visit("outcome", self.outcome);
    visit("option_id", self.option_id);
    visit("option_name", self.option_name);
    visit("by", self.by);
  }
};
// Nothing: the record is no answer.
std::optional<QuestionAnswer> question_answer(const Record& record);

// What a record does to a transcript before its own content is looked at.
enum class FoldClass {
  transparent,  // bookkeeping and unknown kinds: the message continues
  chunk,        // a piece of an assistant message
  flush,        // ends the assistant message in progress
  segment,      // ends everything: no later record changes what precedes it
};
FoldClass fold_class(const Record& record);

// Whether the records from this one on fold to the same messages as within the whole journal.
bool is_flush_point(const Record& record);

// Folds records in order of seq. Equal journals give equal messages, however they are batched.
class TranscriptFolder {
 public:
  // CHECKs that seq grows.
  void add(const Record& record);
  // Applies the effect of the next record's class to the messages so far.
  void close_before(FoldClass next);

  // In order of first_seq. An assistant message still streaming is the last, with outcome open.
  const std::vector<TranscriptMessage>& messages() const { return messages_; }
  std::vector<TranscriptMessage> take() && { return std::move(messages_); }
  std::uint64_t last_seq() const { return last_seq_; }

 private:
  struct Tool {
    std::size_t call = 0;
    std::optional<std::size_t> result;
  };

  TranscriptMessage& begin(const Record& record, MessageRole role);
  void flush();
  void add_user(const Record& record, const MessageUser& user);
  template <class Chunk>
  void add_chunk(const Record& record, const Chunk& chunk);
  template <class Update>
  void add_tool(const Record& record, const Update& update);
  void close_tool(const Record& record, const RepairClosedTool& repair);
  void close_message(const Record& record);
  void settle(std::size_t index, MessageOutcome outcome);

  std::vector<TranscriptMessage> messages_;
  std::uint64_t last_seq_ = 0;
  std::size_t segment_begin_ = 0;  // index of the current segment's first message
  // Within the current segment only:
  std::optional<std::size_t> streaming_;  // the assistant message in progress
  std::optional<std::size_t> last_assistant_;
  std::map<std::string, Tool> tools_;
};

// The whole transcript. Records may come in any order; they are sorted by seq (A22).
std::vector<TranscriptMessage> fold_transcript(std::vector<Record> records);

// Folds a journal backwards from its end, as far as a caller reads. Windows are contiguous; a
// message is settled once nothing older can change it.
class TranscriptTail {
 public:
  // Adds the window directly before all earlier ones, oldest record first. An empty window, or one
  // with record 1, means that there is nothing older.
  void add_older(std::span<const Record> window);

  bool at_start() const { return at_start_; }
  std::size_t settled() const { return settled_; }
  // Settled messages in pieces, newest piece first, oldest message first within a piece.
  const std::vector<std::vector<TranscriptMessage>>& pieces() const { return pieces_; }
  // All settled messages, oldest first.
  std::vector<TranscriptMessage> take() &&;

 private:
  bool can_cut_at(const Record& record);
  void fold_piece(std::span<const Record> front);

  std::vector<std::vector<TranscriptMessage>> pieces_;
  std::size_t settled_ = 0;
  bool at_start_ = false;
  std::vector<std::vector<Record>> unsettled_;  // windows, newest first
  FoldClass next_ = FoldClass::transparent;     // what follows the unsettled records
  // References from the records read so far that have not been resolved.
  std::set<std::string> tools_wanted_;
  bool message_wanted_ = false;
};

// One page: the last `limit` messages, or the last ones whose first_seq is below `before`. Equal to
// the same slice of the whole fold. The caller supplies windows on request:
//
//   while (page.wants_newer()) page.add_newer(read forward from the last seq, initially `before`);
//   while (page.wants_older()) page.add_older(read back from the first seq, initially `before` or
//                                             the head);
class TranscriptPage {
 public:
  struct Ask {
    std::optional<std::uint64_t> before;
    std::size_t limit =
        50;  // a call and its result in one record stay together: one more may follow
  };
  explicit TranscriptPage(Ask ask);

  // A message that began below `before` may continue after it: those records come first. An empty
  // window means that the head is reached.
  bool wants_newer() const { return wants_newer_; }
  void add_newer(std::span<const Record> window);
  bool wants_older() const;
  void add_older(std::span<const Record> window);

  struct Slice {
    std::vector<TranscriptMessage> messages;
    bool has_older = false;
  };
  Slice take() &&;

 private:
  bool is_asked(const TranscriptMessage& message) const;

  Ask ask_;
  bool wants_newer_ = false;
  bool newer_given_ = false;
  std::vector<Record> newer_;
  TranscriptTail tail_;
};

// SHA-256 over every field of every message, length-prefixed. The hash of a journal never changes:
// the encoding is versioned, and a golden value in the test pins it.
Hash transcript_hash(std::span<const TranscriptMessage> messages);

}  // namespace perdure
