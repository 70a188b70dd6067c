#include "daemon/rules/rule_questions.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/json/json_view.h"
#include "base/limits.h"
#include "core/rules/rule_limits.h"
#include "core/wire/question/question.h"

namespace perdure {
namespace {

constexpr std::size_t read_bytes_max = 8UL << 20;
constexpr std::size_t mentions_max = 1000;  // of one tool call

const Wait* wait_for(const State& state, PermissionId permission) {
  const auto at = std::ranges::find_if(
      state.waits, [&](const auto& entry) { return entry.second.permission == permission; });
  return at == state.waits.end() ? nullptr : &at->second;
}

// The records up to this one, as many as can be read at once.
std::vector<std::string> read_before(Store& store, SessionId session, Seq upto) {
  for (Seq records = rule_look_back_records; records > 0; records /= 4) {
    const Seq after = upto > records ? upto - records : 0;
    const auto wanted = static_cast<std::size_t>(upto - after);
    Result<RecordPage> page =
        store.read(session, {.after = after, .limit = wanted, .bytes_max = read_bytes_max});
    if (!page) return {};
    if (page->records.size() == wanted) return std::move(page->records);
  }
  return {};
}

struct Found {
  std::deque<std::string> records;  // of tools and questions, oldest first
  bool is_all = true;               // false: the tool call began earlier
};

// Reads back from the question, further while its tool call is open and has not begun yet.
Found find_records(Store& store, const State& state, Seq upto, const std::string& tool) {
  Found found;
  bool has_begun = !state.open_tools.contains(tool);
  for (std::size_t i = 0; i < question_look_backs_max && upto > 0; ++i) {
    const std::vector<std::string> page = read_before(store, state.id, upto);
    if (page.empty()) break;
    upto -= page.size();
    for (auto bytes = page.rbegin(); bytes != page.rend(); ++bytes) {
      const Result<RecordGlance> glance = glance_at_record(*bytes);
      if (!glance || glance->kind == "permission.requested" || glance->kind.starts_with("tool.")) {
        found.records.push_front(*bytes);
      }
      if (has_begun || !glance || glance->kind != "tool.call") continue;
      const Result<DecodedRecord> decoded = decode_record(*bytes);
      const auto* call = decoded ? get_if<ToolCall>(&decoded->record.event.body) : nullptr;
      has_begun = call && call->tool_call_id == tool;
    }
    if (has_begun) return found;
  }
  found.is_all = has_begun || upto == 0;
  return found;
}

}  // namespace

RuleScene scene_of(const State& state) {
  return {.agent = state.agent.name, .session = state.id, .cwd = state.workspace.cwd};
}

// A large update is stored as a blob.
std::optional<std::string> QuestionFold::whole(const RawJson& update) const {
  const JsonView view(update.text);
  if (!view["blob"].is_string() || view["bytes"].number() == 0) return update.text;
  if (view["bytes"].number() > question_bytes_max) return std::nullopt;
  const Result<Hash> hash = Hash::parse_hex(view["blob"].text());
  if (!hash) return std::nullopt;
  Result<std::string> bytes = store_.blob(*hash);
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

void QuestionFold::note(const RawJson& update) {
  if (update.text.empty()) return;
  auto bytes = whole(update);
  if (bytes && std::ranges::find(updates_, *bytes) != updates_.end()) return;
  if (bytes) bytes_ += bytes->size();
  if (!bytes || updates_.size() >= mentions_max || bytes_ > question_bytes_max) return miss();
  updates_.push_back(*std::move(bytes));
}

void QuestionFold::add(const Record& record) {
  if (tool_.empty()) return;
  const auto settles = [](const std::string& status) {
    return status == "completed" || status == "failed" || status == "cancelled";
  };
  if (const auto* call = get_if<ToolCall>(&record.event.body)) {
    if (call->tool_call_id != tool_) return;
    // An id that is used again after its call has ended names another call.
    if (is_settled_ || record.event.origin.run != run_) {
      updates_.clear();
      bytes_ = 0;
      is_whole_ = true;
    }
    run_ = record.event.origin.run;
    is_settled_ = settles(call->status);
    note(call->update);
  } else if (const auto* update = get_if<ToolUpdate>(&record.event.body)) {
    if (update->tool_call_id != tool_) return;
    is_settled_ = is_settled_ || settles(update->status);
    note(update->update);
  }
}

ShownQuestion QuestionFold::shown(const PermissionRequested& asked) const {
  const auto params = whole(asked.update);
  ShownQuestion shown = show_question(params.value_or(std::string()), updates_);
  shown.is_whole = shown.is_whole && is_whole_;
  if (shown.title.empty()) shown.title = asked.title;
  return shown;
}

std::optional<Question> QuestionFold::question(const PermissionRequested& asked) const {
  const auto params = whole(asked.update);
  const auto is_long = [](const std::string& text) { return text.size() > rule_update_bytes_max; };
  if (!params || params->empty() || is_long(*params)) return std::nullopt;
  if (std::ranges::any_of(updates_, is_long) || !shown(asked).is_whole) return std::nullopt;
  return read_question(*params, updates_);
}

std::optional<OpenQuestion> read_open_question(Store& store, const State& state,
                                               PermissionId permission) {
  const Wait* const wait = wait_for(state, permission);
  const auto open = state.permissions.find(permission);
  if (!wait || open == state.permissions.end()) return std::nullopt;
  QuestionFold fold(store, open->second.tool_call_id);
  const Found found = find_records(store, state, wait->since_seq, open->second.tool_call_id);
  if (!found.is_all) fold.miss();
  for (const std::string& bytes : found.records) {
    const Result<DecodedRecord> decoded = decode_record(bytes);
    if (!decoded) return std::nullopt;
    const auto* asked = get_if<PermissionRequested>(&decoded->record.event.body);
    if (asked && asked->permission == permission) {
      return OpenQuestion{.for_rules = fold.question(*asked), .shown = fold.shown(*asked)};
    }
    fold.add(decoded->record);
  }
  return std::nullopt;
}

}  // namespace perdure
