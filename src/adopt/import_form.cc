#include "adopt/import_form.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "core/wire/journal/export_file.h"
#include "core/wire/journal/record.h"

namespace perdure::adopt {
namespace {

constexpr const char* made_by = "perdure adopt";

std::uint64_t seed_of(SessionId session) { return session.ulid().low; }

struct ToolWord {
  std::string_view word;
  std::string_view kind;  // in ACP's words
};
// Searched in a tool's lower-case name; the first match decides.
constexpr ToolWord tool_words[] = {
    {"bash", "execute"}, {"shell", "execute"}, {"exec", "execute"}, {"command", "execute"},
    {"fetch", "fetch"},  {"grep", "search"},   {"glob", "search"},  {"search", "search"},
    {"edit", "edit"},    {"write", "edit"},    {"replace", "edit"}, {"patch", "edit"},
    {"read", "read"},    {"list", "read"},     {"think", "think"},
};

std::string tool_kind(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const ToolWord& known : tool_words) {
    if (name.find(known.word) != std::string::npos) return std::string(known.kind);
  }
  return "other";
}

class JournalWriter {
 public:
  JournalWriter(const NativeSession& session, const Provenance& from)
      : session_(session),
        from_(from),
        id_(adopted_session({.agent = from.agent, .agent_session_id = session.id})),
        ids_(session.first(), seed_of(id_)),
        now_(session.first()) {}

  std::string write() {
    begin();
    for (const Turn& turn : session_.turns) tell(turn);
    close();
    ExportLines lines;
    std::string out = lines.head({.session = id_,
                                  .title = session_.title,
                                  .agent = from_.agent,
                                  .cwd = session_.cwd,
                                  .records = records_.size(),
                                  .log_id = {},
                                  .at = session_.first(),
                                  .made_by = made_by,
                                  .git = {}});
    for (const std::string& record : records_) out += lines.record(record);
    return out + lines.end();
  }

 private:
  // Times never go back: a journal is in chronological order.
  void add(EventBody body, Timestamp at, RunId run = {}) {
    now_ = std::max(now_, at);
    const Event event{.at = now_, .origin = {.run = run}, .body = std::move(body)};
    records_.push_back(encode_record(records_.size() + 1, hash_, event));
    hash_ = record_hash(records_.back());
  }

  void begin() {
    SessionCreated created;
    created.session = id_;
    created.title = utf8_prefix(session_.title, title_bytes_max);
    created.agent.name = from_.agent;
    created.workspace.cwd = session_.cwd;
    created.by = made_by;
    add(std::move(created), now_);
    ContextBoundary boundary;
    boundary.how = BoundaryHow::fresh;
    boundary.agent_session_id = session_.id;
    boundary.reason = "adopted";
    boundary.cwd = session_.cwd;
    add(std::move(boundary), now_);
  }

  void tell(const Turn& turn) {
    const auto message = ids_.next<MessageId>();
    const auto run = ids_.next<RunId>();
    add(RunStarted{.boot = {}, .message = message, .trigger = "prompt"}, turn.at, run);
    MessageUser prompt;
    prompt.message = message;
    prompt.prompt.text = turn.prompt;
    prompt.by = made_by;
    add(std::move(prompt), turn.at, run);
    std::set<std::string> open_tools;
    for (const Piece& piece : turn.pieces) tell(piece, run, open_tools);
    if (turn.end == TurnEnd::open) return;
    for (const std::string& tool : open_tools) add(RepairClosedTool{tool, "unknown"}, now_, run);
    if (turn.end == TurnEnd::completed) add(RunCompleted{"end_turn"}, now_, run);
    if (turn.end == TurnEnd::cancelled) add(RunCancelled{.by = from_.agent}, now_, run);
    if (turn.end != TurnEnd::failed) return;
    RunFailed failed;
    failed.code = "agent_error";
    failed.message = utf8_prefix(turn.why, agent_error_bytes_max);
    add(std::move(failed), now_, run);
  }

  void tell(const Piece& piece, RunId run, std::set<std::string>& open_tools) {
    switch (piece.kind) {
      case PieceKind::text: return add(MessageAgent{"", piece.text, {}}, piece.at, run);
      case PieceKind::thought: return add(MessageThought{"", piece.text, {}}, piece.at, run);
      case PieceKind::compacted: return tell_compaction(piece);
      case PieceKind::tool_call:
        open_tools.insert(piece.tool_call_id);
        return add(ToolCall{.tool_call_id = piece.tool_call_id,
                            .title = std::string(utf8_prefix(piece.tool, title_bytes_max)),
                            .tool_kind = tool_kind(piece.tool),
                            .status = "in_progress",
                            .input = piece.input,
                            .text = {},
                            .update = {}},
                   piece.at, run);
      case PieceKind::tool_result:
        open_tools.erase(piece.tool_call_id);
        return add(ToolUpdate{.tool_call_id = piece.tool_call_id,
                              .title = {},
                              .tool_kind = {},
                              .status = piece.has_failed ? "failed" : "completed",
                              .input = {},
                              .text = piece.text,
                              .added = {},
                              .update = {}},
                   piece.at, run);
    }
  }

  void tell_compaction(const Piece& piece) {
    ContextBoundary boundary;
    boundary.how = BoundaryHow::compacted;
    boundary.agent_session_id = session_.id;
    boundary.cwd = session_.cwd;
    add(std::move(boundary), piece.at);
  }

  void close() {
    if (session_.loss.lines > 0) {
      add(RepairTruncated{session_.loss.lines, session_.loss.why}, now_);
    }
    add(SessionAdopted{.agent = from_.agent,
                       .agent_session_id = session_.id,
                       .file = from_.file,
                       .turns = session_.turns.size(),
                       .bytes = from_.bytes,
                       .lines_lost = session_.loss.lines},
        now_);
    // The imported session has no running agent, even if its last state was running.
    AgentExited exited;
    exited.why = "stopped";
    add(std::move(exited), now_);
  }

  const NativeSession& session_;
  const Provenance& from_;
  SessionId id_;
  IdSource ids_;
  Timestamp now_;
  Hash hash_;
  std::vector<std::string> records_;
};

}  // namespace

std::string make_import(const NativeSession& session, const Provenance& from) {
  return JournalWriter(session, from).write();
}

}  // namespace perdure::adopt
