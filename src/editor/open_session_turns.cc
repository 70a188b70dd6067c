// Turns and questions of an open session. A turn belongs to the request whose key is in its
// prompt's record, so neither a lost response nor another client can mix them up.
#include <algorithm>
#include <array>
#include <utility>

#include "base/json/json.h"
#include "base/text.h"
#include "core/acp/updates/slices.h"
#include "editor/boundary_text.h"
#include "editor/open_session.h"

namespace perdure::face {
namespace {

constexpr auto stop_reasons = std::to_array<std::string_view>(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"});
constexpr auto choice_kinds =
    std::to_array<std::string_view>({"allow_once", "allow_always", "reject_once", "reject_always"});

constexpr std::size_t made_title_chars = 80;

// In a record the key follows its principal.
bool is_key(std::string_view in_record, std::string_view key) {
  return in_record.ends_with(key) &&
         (in_record.size() == key.size() || in_record[in_record.size() - key.size() - 1] == '/');
}

std::string print_choices_of(JsonView options) {
  std::vector<acp::PermissionChoice> choices;
  for (const JsonView option : options.items()) {
    acp::PermissionChoice choice{option["option_id"].text(), option["name"].text(),
                                 option["kind"].text()};
    // An unknown kind must not look like permission.
    if (std::ranges::find(choice_kinds, choice.kind) == choice_kinds.end()) {
      choice.kind = "reject_once";
    }
    choices.push_back(std::move(choice));
  }
  return acp::print_choices(choices);
}

}  // namespace

OpenSession::Prompt* OpenSession::find_prompt(std::string_view member, JsonView record) {
  const std::string value = record[member].text();
  if (value.empty()) return nullptr;
  const auto found = std::ranges::find_if(prompts_, [&](const Prompt& prompt) {
    if (member == "key") return is_key(value, prompt.key);
    return member == "message_id" ? prompt.message == value : prompt.run == value;
  });
  return found == prompts_.end() ? nullptr : &*found;
}

bool OpenSession::note_turn(JsonView record) {
  const std::string kind = record["kind"].text();
  if (kind == "queue.added") {
    if (Prompt* const prompt = find_prompt("key", record)) {
      prompt->message = record["message_id"].text();
      prompt->run = record["for_run"].text();
      if (prompt->cancelling) withdraw(*prompt);
    }
  } else if (kind == "queue.edited") {
    if (Prompt* const prompt = find_prompt("message_id", record)) prompt->edited = true;
  } else if (kind == "queue.removed") {
    if (Prompt* const prompt = find_prompt("message_id", record)) finish(prompt->run, "cancelled");
  } else if (kind == "message.user") {
    Prompt* prompt = find_prompt("key", record);
    if (!prompt) prompt = find_prompt("message_id", record);
    if (!prompt) return false;
    prompt->message = record["message_id"].text();
    prompt->run = record["run_id"].text();
    prompt->started = true;
    if (std::exchange(prompt->cancelling, false)) cancel_run();
    return !prompt->edited;
  }
  return false;
}

void OpenSession::prompt(const acp::PromptAsked& asked, std::string key) {
  JsonWriter body;
  body.begin_object().key("content").raw(asked.blocks.text);
  // Queued, so that it does not interrupt another client's turn.
  body.key("when").string("queue").end_object();
  name_after(asked.text);
  prompts_.push_back({.id = asked.id, .key = key});
  // Before the prompt is sent: the agent's first request may need unsaved text.
  lending_.set_running(true);
  connection_.call(post_request({session_path(id(), "/prompt"), std::move(body).take(), key}),
                   [this, key, alive = std::weak_ptr(alive_)](Result<client::ApiAnswer> answer) {
                     if (alive.expired()) return;
                     const auto found = std::ranges::find(prompts_, key, &Prompt::key);
                     if (found == prompts_.end()) return;
                     const auto text = body_of(std::move(answer));
                     if (text) return placed(key, JsonView(*text));
                     if (!found->run.empty()) return;  // the journal has it anyway
                     connection_.give_error(found->id, text.error());
                     prompts_.erase(found);
                   });
}

// A session created without a prompt has no title, and lists show titles.
void OpenSession::name_after(const std::string& text) {
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  if (std::exchange(setup_.is_titled, true) || line.empty()) return;
  JsonWriter body;
  body.begin_object().key("title").string(utf8_prefix_chars(line, made_title_chars)).end_object();
  client::ApiRequest request =
      post_request({.path = session_path(id()), .body = std::move(body).take()});
  request.method = "PATCH";
  connection_.call(std::move(request), [](Result<client::ApiAnswer>) {});
}

void OpenSession::placed(const std::string& key, JsonView answer) {
  const auto prompt = std::ranges::find(prompts_, key, &Prompt::key);
  prompt->message = answer["message_id"].text();
  prompt->run = answer["run_id"].text();
  prompt->started = prompt->started || answer["placed"].text() == "started";
  if (prompt->cancelling) withdraw(*prompt);
}

void OpenSession::end_run(JsonView record) {
  const std::string run = record["run_id"].text();
  const std::string kind = record["kind"].text();
  const bool is_own = find_prompt("run_id", record) != nullptr;
  if (kind == "run.cancelled") return finish(run, "cancelled");
  if (kind == "run.completed") {
    const std::string reason = record["stop_reason"].text();
    const bool is_known = std::ranges::find(stop_reasons, reason) != stop_reasons.end();
    return finish(run, is_known ? reason : "end_turn");
  }
  const std::string text = run_end_text(record);
  if (!is_own) return say(record["seq"].number(), text);
  const std::string code = kind == "run.failed" ? record["code"].text() : "interrupted";
  JsonWriter details;
  details.begin_object().key("code").string(code).key("run_id").string(run);
  if (const std::string at = record["reset_at"].text(); !at.empty()) {
    details.key("reset_at").string(at);
  }
  details.end_object();
  fail(run, {.code = code == "auth_needed" ? acp::rpc_code::auth_required
                                           : acp::rpc_code::internal_error,
             .message = text,
             .data = {std::move(details).take()}});
}

void OpenSession::finish(const std::string& run, std::string_view stop_reason) {
  const auto prompt = std::ranges::find(prompts_, run, &Prompt::run);
  if (run.empty() || prompt == prompts_.end()) return;
  JsonWriter result;
  result.begin_object().key("stopReason").string(stop_reason).end_object();
  connection_.give_result(prompt->id, result.text());
  prompts_.erase(prompt);
}

void OpenSession::fail(const std::string& run, const acp::RpcError& error) {
  const auto prompt = std::ranges::find(prompts_, run, &Prompt::run);
  if (run.empty() || prompt == prompts_.end()) return;
  connection_.give_error(prompt->id, error);
  prompts_.erase(prompt);
}

// A waiting prompt is removed from the queue, and another client's turn continues; a prompt that
// runs, or has started in the meantime, is cancelled together with its run.
void OpenSession::withdraw(Prompt& prompt) {
  prompt.cancelling = false;
  if (prompt.started) return cancel_run();
  client::ApiRequest request =
      post_request({.path = session_path(id(), "/queue/" + prompt.message), .body = {}});
  request.method = "DELETE";
  connection_.call(std::move(request), [this, run = prompt.run, alive = std::weak_ptr(alive_)](
                                           Result<client::ApiAnswer> answer) {
    if (alive.expired() || (answer && !answer->refusal)) return;
    const auto found = std::ranges::find(prompts_, run, &Prompt::run);
    if (found != prompts_.end()) cancel_run();
  });
}

void OpenSession::cancel_run() {
  connection_.call(post_request({.path = session_path(id(), "/cancel")}),
                   [this, alive = std::weak_ptr(alive_)](Result<client::ApiAnswer> answer) {
                     if (alive.expired()) return;
                     const auto body = body_of(std::move(answer));
                     if (!body) connection_.remark("not cancelled: " + body.error().message);
                   });
}

void OpenSession::cancel() {
  if (prompts_.empty()) return cancel_run();
  bool is_running = false;
  for (Prompt& prompt : prompts_) {
    if (prompt.started) {
      is_running = true;
    } else if (prompt.message.empty()) {
      prompt.cancelling = true;  // until its state is known
    } else {
      withdraw(prompt);
    }
  }
  if (is_running) cancel_run();
}

void OpenSession::cancel_prompt(const acp::RpcId& id) {
  const auto prompt = std::ranges::find(prompts_, id, &Prompt::id);
  if (prompt == prompts_.end()) return;
  if (prompt->message.empty()) {
    prompt->cancelling = true;
  } else {
    withdraw(*prompt);
  }
}

void OpenSession::give_up(const acp::RpcError& error) {
  for (const Prompt& prompt : std::exchange(prompts_, {})) connection_.give_error(prompt.id, error);
  std::vector<std::string> open;
  for (const auto& [permission, question] : questions_) open.push_back(permission);
  for (const std::string& permission : open) close_question(permission);
}

void OpenSession::note_question(JsonView record, std::string_view update) {
  const std::string permission = record["perm_id"].text();
  acp::ToolUpserted tool =
      acp::parse_tool(update.empty() ? "{}" : acp::Slices(update).raw("toolCall"));
  tool.tool_call_id = record["tool_call_id"].text();
  // Not every question is about a tool, but ACP requires one.
  if (tool.tool_call_id.empty()) tool.tool_call_id = permission;
  if (tool.title.value_or("").empty()) tool.title = record["title"].text();
  make_plain(tool);
  JsonWriter params;
  params.begin_object().key("sessionId").string(id());
  params.key("toolCall").raw(acp::print_tool(tool, acp::Dialect::v1));
  params.key("options").raw(print_choices_of(record["options"])).end_object();
  Question& question = questions_[permission];
  question.params = std::move(params).take();
  if (live_ && !reset_) ask(question);
}

void OpenSession::ask(Question& question) {
  if (!question.asked.is_null()) return;
  question.asked = connection_.ask({"session/request_permission", question.params});
}

// Answered here or elsewhere, or obsolete: the editor can close its prompt.
void OpenSession::close_question(const std::string& permission) {
  const auto found = questions_.find(permission);
  if (found == questions_.end()) return;
  const acp::RpcId asked = std::move(found->second.asked);
  questions_.erase(found);
  if (asked.is_null()) return;
  connection_.tell({"$/cancel_request", R"({"requestId":)" + asked.text + '}'});
}

bool OpenSession::answer(const acp::PermissionAnswered& answered) {
  const auto found = std::ranges::find_if(
      questions_, [&](const auto& entry) { return entry.second.asked == answered.id; });
  if (found == questions_.end()) return false;
  found->second.asked = {};
  // Editors send `cancelled` when their window closes. That is not a decision: the question stays
  // open for other clients, and cancelling the turn ends it.
  if (answered.option_id.empty()) return true;
  JsonWriter body;
  body.begin_object().key("option_id").string(answered.option_id).end_object();
  connection_.call(
      post_request({.path = "/api/permissions/" + found->first, .body = std::move(body).take()}),
      [this, alive = std::weak_ptr(alive_)](Result<client::ApiAnswer> answer) {
        if (alive.expired()) return;
        const auto text = body_of(std::move(answer));
        // Another client was first, or this client lacks the scope to answer.
        if (!text) connection_.remark("an answer did not count: " + text.error().message);
      });
  return true;
}

bool OpenSession::refuse(const acp::RpcId& id) {
  for (auto& [permission, question] : questions_) {
    if (question.asked != id) continue;
    question.asked = {};
    return true;
  }
  return false;
}

}  // namespace perdure::face
