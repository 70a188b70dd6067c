#include "daemon/api/gate/bodies.h"

#include <algorithm>

#include "base/bytes/hash.h"
#include "base/limits.h"
#include "core/wire/agentctl/git_name.h"

namespace perdure {
namespace {

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// The text of the blocks for people; the agent gets the blocks themselves.
Result<std::string> text_of_blocks(const std::vector<std::string_view>& blocks) {
  std::string text;
  for (const std::string_view raw : blocks) {
    const JsonObject block = TRY(JsonObject::parse(raw));
    const Result<std::string> type = json_string(block.find("type"));
    if (!type) return fail(Code::invalid_argument, "a content block needs a type");
    if (*type != "text") continue;
    const Result<std::string> part = json_string(block.find("text"));
    if (!part) return fail(Code::invalid_argument, "a text block needs a text");
    if (!text.empty()) text += '\n';
    text += *part;
  }
  return text;
}

}  // namespace

bool PolicyFields::is_empty() const {
  return !resume && !inject && !survive && !auto_continue && !wait_ms && !limits &&
         !continue_at_reset && !continue_times && !continue_hours;
}

Result<Policy> PolicyFields::on(Policy policy) const {
  if (wait_ms && *wait_ms < 0) {
    return fail(Code::invalid_argument, "wait_ms: must be 0 (no limit) or more");
  }
  if (limits) {
    TRY_VOID(check_limits(*limits));
    policy.limits = *limits;
  }
  if (continue_at_reset || continue_times || continue_hours) {
    ContinueAtReset terms = policy.continue_at_reset.value_or(ContinueAtReset{});
    terms.on = continue_at_reset.value_or(terms.on);
    terms.times = continue_times.value_or(terms.times);
    terms.hours = continue_hours.value_or(terms.hours);
    TRY_VOID(check_continue(terms));
    policy.continue_at_reset = terms;
  }
  policy.resume = resume.value_or(policy.resume);
  policy.inject = inject.value_or(policy.inject);
  policy.survive = survive.value_or(policy.survive);
  policy.auto_continue = auto_continue.value_or(policy.auto_continue);
  policy.wait_ms = wait_ms.value_or(policy.wait_ms);
  return policy;
}

Result<Prompt> make_prompt(const std::string& text, const RawJson& content) {
  if (content.text.empty()) {
    if (text.empty()) return fail(Code::invalid_argument, "a prompt needs text or content");
    return Prompt{.text = text};
  }
  if (!text.empty()) {
    return fail(Code::invalid_argument, "a prompt has text or content, not both");
  }
  const Result<std::vector<std::string_view>> blocks = json_elements(content.text);
  if (!blocks || blocks->empty()) {
    return fail(Code::invalid_argument, "content: a list of content blocks is expected");
  }
  return Prompt{.text = TRY(text_of_blocks(*blocks)), .blocks = content};
}

Result<std::optional<Prompt>> read_first_prompt(const RawJson& prompt) {
  const std::string_view raw = prompt.text;
  if (raw.empty() || json_is_null(raw)) return std::nullopt;
  if (raw.starts_with('{')) {
    const QueueEditBody body = TRY(read_body<QueueEditBody>(raw));
    return TRY(make_prompt(body.text, body.content));
  }
  const Result<std::string> text = json_string(raw);
  if (!text) return fail(Code::invalid_argument, "prompt: a text or an object is expected");
  if (text->empty()) return std::nullopt;  // K26: boots idle
  return Prompt{.text = *text};
}

Result<> check_mcp_servers(const RawJson& servers) {
  if (servers.text.empty()) return {};
  if (servers.text.size() > mcp_servers_bytes_max) {
    return fail(Code::limit_reached, "mcp_servers: more than 256 KiB");
  }
  const Result<std::vector<std::string_view>> elements = json_elements(servers.text);
  const bool good = elements && std::ranges::all_of(*elements, [](std::string_view raw) {
                      return raw.starts_with('{');
                    });
  if (!good) return fail(Code::invalid_argument, "mcp_servers: a list of objects is expected");
  return {};
}

Result<> check_environment(const std::map<std::string, std::string>& env) {
  if (env.size() > environment_names_max) {
    return fail(Code::limit_reached, "env: more than 256 variables");
  }
  std::size_t bytes = 0;
  for (const auto& [name, value] : env) {
    if (!is_name(name)) {
      return fail(Code::invalid_argument, "env: '" + name + "' is not a valid variable name");
    }
    if (value.find('\0') != std::string::npos) {
      return fail(Code::invalid_argument, "env: the value of " + name + " has a NUL in it");
    }
    bytes += name.size() + value.size();
  }
  if (bytes > environment_bytes_max) return fail(Code::limit_reached, "env: more than 128 KiB");
  return {};
}

Result<> check_branch(const std::string& branch) {
  if (branch.empty() || checked_git_name(branch)) return {};
  return fail(Code::invalid_argument, "branch: not the name of a branch");
}

Result<std::map<std::string, std::string>> read_options(std::string_view text) {
  const JsonObject body = TRY(JsonObject::parse(text.empty() ? std::string_view("{}") : text));
  std::map<std::string, std::string> options;
  for (const auto& [name, raw] : body.members()) {
    const Result<std::string> value = json_string(raw);
    if (!value) return fail(Code::invalid_argument, name + ": a text is expected");
    if (name.empty() || name.size() > option_name_bytes_max ||
        value->size() > option_value_bytes_max) {
      return fail(Code::limit_reached, "an option has a name of 1 to 256 bytes, a value of 4 KiB");
    }
    options.emplace(name, *value);
  }
  if (options.empty()) {
    return fail(Code::invalid_argument, "name an option: {\"mode\": \"plan\"}");
  }
  if (options.size() > options_per_call_max) {
    return fail(Code::limit_reached, "more than 64 options at once");
  }
  return options;
}

Result<std::string> read_choice(const AnswerBody& body) {
  if (body.cancel == !body.option_id.empty()) {
    return fail(Code::invalid_argument, "an answer is {option_id} or {cancel: true}");
  }
  return body.option_id;
}

Result<AnswerWait> read_wait(WaitTokenId token, const WaitBody& body) {
  if (!token) return fail(Code::invalid_argument, "token_id: which wait is answered?");
  if (body.secret.empty()) return fail(Code::invalid_argument, "secret: it is missing");
  AnswerWait answer{
      .token = token, .secret_hash = sha256(body.secret), .run = body.run, .kind = body.kind};
  if (body.answer.text.starts_with('{')) {
    const AnswerBody given = TRY(read_body<AnswerBody>(body.answer.text));
    answer.option_id = TRY(read_choice(given));
    answer.if_question = given.if_question;
    return answer;
  }
  const Result<std::string> option = json_string(body.answer.text);
  if (!option || option->empty()) {
    return fail(Code::invalid_argument, "answer: an option's id or {cancel: true} is expected");
  }
  answer.option_id = *option;
  return answer;
}

}  // namespace perdure
