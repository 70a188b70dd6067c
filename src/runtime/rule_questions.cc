#include "runtime/rule_questions.h"

#include <algorithm>
#include <utility>

#include "base/json_view.h"
#include "base/limits.h"
#include "session/rule_limits.h"
#include "wire/question.h"

namespace perdure {
namespace {

constexpr std::size_t tools_kept = 64;
constexpr std::size_t read_bytes_max = 8UL << 20;
constexpr std::size_t mentions_kept = 64;  // of one tool call

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

}  // namespace

RuleScene scene_of(const State& state) {
  return {.agent = state.agent.name, .session = state.id, .cwd = state.workspace.cwd};
}

// A large update is stored as a blob.
std::optional<std::string> QuestionFold::whole(const RawJson& update) const {
  const JsonView view(update.text);
  if (!view["blob"].is_string() || view["bytes"].number() == 0) return update.text;
  if (view["bytes"].number() > rule_update_bytes_max) return std::nullopt;
  const Result<Hash> hash = Hash::parse_hex(view["blob"].text());
  if (!hash) return std::nullopt;
  Result<std::string> bytes = store_.blob(*hash);
  if (!bytes) return std::nullopt;
  return *std::move(bytes);
}

void QuestionFold::note(const std::string& tool, const RawJson& update) {
  if (update.text.empty() || tool.empty()) return;
  const auto [at, is_new] = tools_.try_emplace(tool);
  if (is_new) order_.push_back(tool);
  Mentions& mentions = at->second;
  auto bytes = whole(update);
  if (bytes && mentions.updates.size() < mentions_kept) {
    mentions.updates.push_back(*std::move(bytes));
  } else {
    mentions.is_whole = false;
  }
  forget_oldest();
}

void QuestionFold::forget_oldest() {
  if (order_.size() <= tools_kept) return;
  tools_.erase(order_.front());
  order_.pop_front();
}

void QuestionFold::add(const Record& record) {
  if (const auto* call = get_if<ToolCall>(&record.event.body)) {
    // A reused id names another call.
    if (const auto known = tools_.find(call->tool_call_id); known != tools_.end()) {
      known->second = {};
    }
    note(call->tool_call_id, call->update);
  } else if (const auto* update = get_if<ToolUpdate>(&record.event.body)) {
    note(update->tool_call_id, update->update);
  }
}

std::optional<Question> QuestionFold::question(const PermissionRequested& asked) const {
  const auto params = whole(asked.update);
  if (!params || params->empty()) return std::nullopt;
  const auto known = tools_.find(asked.tool_call_id);
  static const std::vector<std::string> none;
  if (known != tools_.end() && !known->second.is_whole) return std::nullopt;
  return read_question(*params, known == tools_.end() ? none : known->second.updates);
}

std::optional<Question> read_open_question(Store& store, const State& state,
                                           PermissionId permission) {
  const Wait* const wait = wait_for(state, permission);
  if (!wait) return std::nullopt;
  QuestionFold fold(store);
  for (const std::string& bytes : read_before(store, state.id, wait->since_seq)) {
    const Result<DecodedRecord> decoded = decode_record(bytes);
    if (!decoded) return std::nullopt;
    const auto* asked = get_if<PermissionRequested>(&decoded->record.event.body);
    if (asked && asked->permission == permission) return fold.question(*asked);
    fold.add(decoded->record);
  }
  return std::nullopt;
}

}  // namespace perdure
