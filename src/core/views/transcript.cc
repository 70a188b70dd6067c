#include "core/views/transcript.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace perdure {
namespace {

template <class T, class... Others>
constexpr bool is_any = (std::is_same_v<T, Others> || ...);

// Bookkeeping that may occur between two chunks of one sentence and that readers of the chat should
// not notice: a queued prompt, a minted token, a restarted daemon (rung 1).
template <class T>
constexpr bool is_bookkeeping =
    is_any<T, SessionRenamed, SessionConfigured, ExecutorReattached, Usage, Mode, Commands,
           AgentUpdate, TokenMinted, TokenConsumed, TokenRevoked, TokenExpired, QueueAdded,
           QueueEdited, QueueRemoved, QueueDelivered, QueueReleased, QueueKept, RunCancelling,
           RunStalled, ResumeRequested, StatusDerived, UnknownEvent>;

template <class T>
constexpr bool ends_segment =
    is_any<T, SessionCreated, SessionStopped, ExecutorStarting, RunStarted, RunCompleted, RunFailed,
           RunCancelled, RunInterrupted>;

bool is_terminal(const std::string& status) {
  return status == "completed" || status == "failed" || status == "cancelled";
}

void set_if_given(std::string& field, const std::string& value) {
  if (!value.empty()) field = value;
}

// Appends values so that different sequences never give the same bytes.
class Canonical {
 public:
  void number(std::uint64_t value) {
    for (int shift = 56; shift >= 0; shift -= 8) {
      bytes_.push_back(static_cast<char>((value >> static_cast<unsigned>(shift)) & 0xffU));
    }
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

std::string TranscriptMessage::id() const {
  return std::to_string(first_seq) + (role == MessageRole::tool_result ? ".result" : "");
}

std::optional<QuestionAnswer> question_answer(const Record& record) {
  const auto* const resolved = get_if<PermissionResolved>(&record.event.body);
  if (!resolved) return std::nullopt;
  return QuestionAnswer{.seq = record.seq,
                        .at = record.event.at,
                        .permission = resolved->permission,
                        .outcome = resolved->outcome,
                        .option_id = resolved->option_id,
                        .option_name = resolved->option_name,
                        .by = resolved->by};
}

FoldClass fold_class(const Record& record) {
  return visit(
      [](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (is_any<Body, MessageAgent, MessageThought>) {
          return body.text.empty() ? FoldClass::transparent : FoldClass::chunk;
        } else if constexpr (is_any<Body, MessageUser>) {
          // A steered prompt enters a turn whose tools may still be running.
          return body.steered ? FoldClass::flush : FoldClass::segment;
        } else if constexpr (is_bookkeeping<Body>) {
          return FoldClass::transparent;
        } else if constexpr (ends_segment<Body>) {
          return FoldClass::segment;
        } else {
          return FoldClass::flush;
        }
      },
      record.event.body);
}

bool is_flush_point(const Record& record) { return fold_class(record) == FoldClass::segment; }

void TranscriptFolder::add(const Record& record) {
  CHECK(record.seq > last_seq_, "records come in order");
  last_seq_ = record.seq;
  close_before(fold_class(record));
  visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (is_any<Body, MessageUser>) add_user(record, body);
        if constexpr (is_any<Body, MessageAgent, MessageThought>) add_chunk(record, body);
        if constexpr (is_any<Body, ToolCall, ToolUpdate>) add_tool(record, body);
        if constexpr (is_any<Body, RepairClosedTool>) close_tool(record, body);
        if constexpr (is_any<Body, RepairClosedMessage>) close_message(record);
      },
      record.event.body);
}

void TranscriptFolder::close_before(FoldClass next) {
  if (next != FoldClass::flush && next != FoldClass::segment) return;
  flush();
  if (next != FoldClass::segment) return;
  // The ends of these tools were not reported and never will be.
  for (; segment_begin_ < messages_.size(); ++segment_begin_) {
    if (messages_[segment_begin_].outcome == MessageOutcome::open) {
      settle(segment_begin_, MessageOutcome::unknown);
    }
  }
  tools_.clear();
  last_assistant_.reset();
}

TranscriptMessage& TranscriptFolder::begin(const Record& record, MessageRole role) {
  TranscriptMessage& message = messages_.emplace_back();
  message.first_seq = record.seq;
  message.last_seq = record.seq;
  message.role = role;
  message.at = record.event.at;
  message.run = record.event.origin.run;
  message.after_run = record.event.origin.after_run;
  return message;
}

void TranscriptFolder::flush() {
  if (!streaming_) return;
  settle(*streaming_, MessageOutcome::done);
  streaming_.reset();
}

void TranscriptFolder::settle(std::size_t index, MessageOutcome outcome) {
  TranscriptMessage& message = messages_[index];
  message.outcome = outcome;
  if (!message.thinking.empty()) message.thinking_complete = true;
}

void TranscriptFolder::add_user(const Record& record, const MessageUser& user) {
  TranscriptMessage& message = begin(record, MessageRole::user);
  message.content = user.prompt.text;
  message.message = user.message;
  message.steered = user.steered;
  message.blocks = user.prompt.blocks;
}

template <class Chunk>
void TranscriptFolder::add_chunk(const Record& record, const Chunk& chunk) {
  constexpr bool is_thought = std::is_same_v<Chunk, MessageThought>;
  if (chunk.text.empty()) return;
  if (streaming_) {
    // Agents number thoughts and messages separately, so each is compared with its own kind.
    const TranscriptMessage& now = messages_[*streaming_];
    const std::string& known = is_thought ? now.agent_thought_id : now.agent_message_id;
    if (!known.empty() && !chunk.message.empty() && known != chunk.message) flush();
  }
  if (!streaming_) {
    streaming_ = last_assistant_ = messages_.size();
    begin(record, MessageRole::assistant).outcome = MessageOutcome::open;
  }
  TranscriptMessage& message = messages_[*streaming_];
  message.last_seq = record.seq;
  if (is_thought) {
    set_if_given(message.agent_thought_id, chunk.message);
    message.thinking += chunk.text;
    message.thinking_complete = false;
  } else {
    set_if_given(message.agent_message_id, chunk.message);
    message.content += chunk.text;
    message.thinking_complete = !message.thinking.empty();
  }
}

// A call starts a new message; an update changes the existing one or starts it. The first record
// with output or an end starts the result.
template <class Update>
void TranscriptFolder::add_tool(const Record& record, const Update& update) {
  std::string_view added;
  if constexpr (std::is_same_v<Update, ToolUpdate>) added = update.added;
  if (std::is_same_v<Update, ToolCall> || !tools_.contains(update.tool_call_id)) {
    tools_[update.tool_call_id] = Tool{.call = messages_.size()};
    TranscriptMessage& call = begin(record, MessageRole::tool_call);
    call.tool_call_id = update.tool_call_id;
    call.outcome = MessageOutcome::open;
  }
  Tool& tool = tools_[update.tool_call_id];
  const bool ends = is_terminal(update.status);
  const bool gives = ends || !update.text.empty() || !added.empty();
  if (gives && !tool.result) {
    tool.result = messages_.size();
    TranscriptMessage& result = begin(record, MessageRole::tool_result);
    result.tool_call_id = update.tool_call_id;
    result.outcome = MessageOutcome::open;
  }
  TranscriptMessage& call = messages_[tool.call];
  call.last_seq = record.seq;
  set_if_given(call.title, update.title);
  set_if_given(call.tool_kind, update.tool_kind);
  set_if_given(call.status, update.status);
  set_if_given(call.content, update.input);
  if (ends) call.outcome = MessageOutcome::done;
  if (!tool.result) return;
  TranscriptMessage& result = messages_[*tool.result];
  if (gives) result.last_seq = record.seq;
  set_if_given(result.content, update.text);
  result.content += added;
  result.title = call.title;
  result.tool_kind = call.tool_kind;
  result.status = call.status;
  if (ends) result.outcome = MessageOutcome::done;
}

void TranscriptFolder::close_tool(const Record& record, const RepairClosedTool& repair) {
  const auto found = tools_.find(repair.tool_call_id);
  if (found == tools_.end()) return;
  const auto close = [&](std::size_t index) {
    settle(index, MessageOutcome::unknown);
    messages_[index].last_seq = record.seq;
  };
  close(found->second.call);
  if (found->second.result) close(*found->second.result);
}

// A message followed by other records was already finished.
void TranscriptFolder::close_message(const Record& record) {
  if (!last_assistant_ || *last_assistant_ + 1 != messages_.size()) return;
  settle(*last_assistant_, MessageOutcome::interrupted);
  messages_[*last_assistant_].last_seq = record.seq;
}

std::vector<TranscriptMessage> fold_transcript(std::vector<Record> records) {
  std::ranges::sort(records, {}, &Record::seq);
  TranscriptFolder folder;
  for (const Record& record : records) folder.add(record);
  return std::move(folder).take();
}

// Called newest record first. True if the messages from this record on depend on nothing older.
bool TranscriptTail::can_cut_at(const Record& record) {
  const FoldClass fold = fold_class(record);
  if (fold == FoldClass::segment) {
    tools_wanted_.clear();
    message_wanted_ = false;
    return true;
  }
  visit(
      [&](const auto& body) {
        using Body = std::decay_t<decltype(body)>;
        if constexpr (is_any<Body, ToolCall>) {
          tools_wanted_.erase(body.tool_call_id);
          message_wanted_ = false;
        }
        if constexpr (is_any<Body, ToolUpdate, RepairClosedTool>) {
          tools_wanted_.insert(body.tool_call_id);
        }
        if constexpr (is_any<Body, RepairClosedMessage>) message_wanted_ = true;
      },
      record.event.body);
  if (fold == FoldClass::chunk) message_wanted_ = false;
  return fold == FoldClass::flush && tools_wanted_.empty() && !message_wanted_;
}

void TranscriptTail::add_older(std::span<const Record> window) {
  CHECK(!at_start_, "there is nothing older");
  at_start_ = window.empty() || window.front().seq == 1;
  std::size_t cut = window.size();
  for (std::size_t i = window.size(); i-- > 0;) {
    if (can_cut_at(window[i])) cut = i;
  }
  if (at_start_) cut = 0;
  if (cut < window.size() || at_start_) { fold_piece(window.subspan(cut)); }
  if (cut > 0) unsettled_.emplace_back(window.begin(), window.begin() + static_cast<long>(cut));
}

void TranscriptTail::fold_piece(std::span<const Record> front) {
  TranscriptFolder folder;
  FoldClass closes = front.empty() ? FoldClass::transparent : fold_class(front.front());
  const auto add = [&](std::span<const Record> records) {
    for (const Record& record : records) {
      folder.add(record);
      if (is_flush_point(record)) closes = FoldClass::segment;
    }
  };
  add(front);
  for (std::size_t i = unsettled_.size(); i-- > 0;) add(unsettled_[i]);
  unsettled_.clear();
  folder.close_before(next_);
  // A tool call left open in an older piece ends with the segment, wherever that ends.
  if (next_ != FoldClass::segment) next_ = closes;
  pieces_.push_back(std::move(folder).take());
  settled_ += pieces_.back().size();
}

std::vector<TranscriptMessage> TranscriptTail::take() && {
  std::vector<TranscriptMessage> all;
  all.reserve(settled_);
  for (std::size_t i = pieces_.size(); i-- > 0;)
    std::ranges::move(pieces_[i], std::back_inserter(all));
  return all;
}

TranscriptPage::TranscriptPage(Ask ask) : ask_(ask), wants_newer_(ask.before.has_value()) {}

void TranscriptPage::add_newer(std::span<const Record> window) {
  CHECK(wants_newer_);
  if (window.empty()) wants_newer_ = false;
  for (const Record& record : window) {
    newer_.push_back(record);
    if (is_flush_point(record)) {
      wants_newer_ = false;
      break;
    }
  }
}

bool TranscriptPage::is_asked(const TranscriptMessage& message) const {
  return !ask_.before || message.first_seq < *ask_.before;
}

// Two more than requested: one to know whether there are more, one that may stay with its call.
bool TranscriptPage::wants_older() const {
  if (tail_.at_start()) return false;
  std::size_t asked = 0;
  for (const auto& piece : tail_.pieces()) {
    asked += static_cast<std::size_t>(
        std::ranges::count_if(piece, [&](const auto& message) { return is_asked(message); }));
    if (asked >= ask_.limit + 2) return false;
  }
  return true;
}

void TranscriptPage::add_older(std::span<const Record> window) {
  CHECK(!wants_newer_);
  if (!newer_given_ && !newer_.empty()) tail_.add_older(newer_);
  newer_given_ = true;
  if (!tail_.at_start()) tail_.add_older(window);
}

TranscriptPage::Slice TranscriptPage::take() && {
  Slice slice{.messages = std::move(tail_).take()};
  auto& messages = slice.messages;
  std::erase_if(messages, [&](const auto& message) { return !is_asked(message); });
  if (messages.size() <= ask_.limit) return slice;
  std::size_t first = messages.size() - ask_.limit;
  if (first < messages.size() && messages[first].first_seq == messages[first - 1].first_seq)
    --first;
  slice.has_older = first > 0;
  messages.erase(messages.begin(), messages.begin() + static_cast<long>(first));
  return slice;
}

Hash transcript_hash(std::span<const TranscriptMessage> messages) {
  Canonical out;
  out.text("perdure transcript 1");
  out.number(messages.size());
  for (const TranscriptMessage& message : messages) {
    out.number(message.first_seq);
    out.number(message.last_seq);
    out.text(enum_text(message.role));
    out.text(message.content);
    out.text(message.thinking);
    out.number(message.thinking_complete ? 1 : 0);
    out.number(static_cast<std::uint64_t>(message.at.ms));
    out.text(message.message ? message.message.text() : "");
    out.text(message.agent_message_id);
    out.text(message.tool_call_id);
    out.text(message.title);
    out.text(message.tool_kind);
    out.text(message.status);
    out.text(message.run ? message.run.text() : "");
    out.text(message.after_run ? message.after_run.text() : "");
    out.text(enum_text(message.outcome));
    out.number(message.steered ? 1 : 0);
    out.text(message.blocks.text);
  }
  return sha256(out.bytes());
}

}  // namespace perdure
