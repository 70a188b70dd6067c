#include "core/acp/classify.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/acp/reset_time.h"

namespace perdure::acp {
namespace {

constexpr std::size_t searched_bytes_max = 64UL << 10;  // of the message, and of the data

using CallSet = unsigned;
constexpr CallSet set_of(std::initializer_list<Call> calls) {
  CallSet set = 0;
  for (const Call call : calls) set |= 1U << static_cast<unsigned>(call);
  return set;
}
constexpr CallSet any_call = ~0U;
constexpr CallSet reopening = set_of({Call::load, Call::resume, Call::fork});
constexpr CallSet opening = reopening | set_of({Call::open_new});
constexpr CallSet in_session =
    reopening | set_of({Call::prompt, Call::set_option, Call::close, Call::remove, Call::other});
constexpr CallSet prompting = set_of({Call::prompt});

struct Rule {
  CallSet calls;
  std::string_view words;  // lower case
  Failure failure;
};

// The first match decides. tests/golden/acp/errors.jsonl has the recorded words; the others,
// including most rate limits, are expected but not yet observed. Of several meanings, the narrower
// is listed first.
constexpr auto rules = std::to_array<Rule>({
    {any_call, "method not found", Failure::method_missing},
    {any_call, "unsupported protocol version", Failure::version},

    {in_session, "is already loaded", Failure::session_in_use},
    {in_session, "active_writer", Failure::session_in_use},
    {in_session, "already in use", Failure::session_in_use},
    {in_session, "is archived", Failure::session_archived},

    {opening, "cwd` does not exist", Failure::cwd_missing},
    {opening, "cwd does not exist", Failure::cwd_missing},
    {opening, "directory does not exist", Failure::cwd_missing},
    {opening, "no such file or directory", Failure::cwd_missing},

    {in_session, "session not found", Failure::session_unknown},
    {in_session, "unknown session", Failure::session_unknown},
    {in_session, "no such session", Failure::session_unknown},
    {in_session, "session does not exist", Failure::session_unknown},
    {in_session, "no conversation found", Failure::session_unknown},
    {in_session, "thread not found", Failure::session_unknown},
    {reopening, "no rollout found", Failure::session_unknown},
    {reopening, "no previous sessions found", Failure::session_unknown},
    {reopening, "does not match any session", Failure::session_unknown},
    {reopening, "invalid session id", Failure::session_unknown},
    {reopening, "invalid sessionid", Failure::session_unknown},
    // OpenCode's complete message for an unknown session.
    {reopening, "opencode service failure", Failure::session_unknown},

    {any_call, "rate limit", Failure::rate_limited},
    {any_call, "rate_limit", Failure::rate_limited},
    {any_call, "ratelimit", Failure::rate_limited},
    {any_call, "too many requests", Failure::rate_limited},
    {any_call, "usage limit", Failure::rate_limited},
    {any_call, "usage_limit", Failure::rate_limited},
    {any_call, "hit your limit", Failure::rate_limited},
    {any_call, "limit reached", Failure::rate_limited},
    {any_call, "quota exceeded", Failure::rate_limited},
    {any_call, "exceeded your current quota", Failure::rate_limited},
    {any_call, "insufficient_quota", Failure::rate_limited},
    {any_call, "resource_exhausted", Failure::rate_limited},

    {any_call, "authentication required", Failure::auth},
    {any_call, "authentication_error", Failure::auth},
    {any_call, "unauthenticated", Failure::auth},
    {any_call, "invalid api key", Failure::auth},
    {any_call, "invalid x-api-key", Failure::auth},
    {any_call, "incorrect api key", Failure::auth},
    {any_call, "api key is missing", Failure::auth},
    {any_call, "not logged in", Failure::auth},
    {any_call, "please run /login", Failure::auth},
    {any_call, "token has expired", Failure::auth},
    {any_call, "token_expired", Failure::auth},
    {any_call, "invalid_grant", Failure::auth},
    {any_call, "refresh token", Failure::auth},

    // The turn was too long for the model: the stream is fine.
    {prompting, "max_output_tokens", Failure::other},

    {prompting, "aborterror", Failure::cancelled},
    {prompting, "operation was aborted", Failure::cancelled},
    {prompting, "request cancelled", Failure::cancelled},
    {prompting, "request canceled", Failure::cancelled},

    {any_call, "stream disconnected", Failure::transport},
    {any_call, "high demand", Failure::transport},
    {any_call, "overloaded", Failure::transport},
    {any_call, "internal_server_error", Failure::transport},
    {any_call, "service unavailable", Failure::transport},
    {any_call, "bad gateway", Failure::transport},
    {any_call, "gateway timeout", Failure::transport},
    {any_call, "fetch failed", Failure::transport},
    {any_call, "socket hang up", Failure::transport},
    {any_call, "network error", Failure::transport},
    {any_call, "connection reset", Failure::transport},
    {any_call, "connection refused", Failure::transport},
    {any_call, "connection error", Failure::transport},
    {any_call, "econnreset", Failure::transport},
    {any_call, "econnrefused", Failure::transport},
    {any_call, "etimedout", Failure::transport},
    {any_call, "enotfound", Failure::transport},
    {any_call, "eai_again", Failure::transport},
    {prompting, "terminated", Failure::transport},

    {any_call, "invalid params", Failure::invalid_params},
    {any_call, "invalid input: expected", Failure::invalid_params},
    {set_of({Call::set_option}), "invalid", Failure::invalid_params},
    {set_of({Call::set_option}), "unknown", Failure::invalid_params},
    {set_of({Call::set_option}), "unsupported", Failure::invalid_params},
});

bool has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

bool is_in(CallSet calls, Call call) { return (calls & set_of({call})) != 0; }

std::string searched(const RpcError& error) {
  std::string text(error.message, 0, searched_bytes_max);
  text += '\n';
  text.append(error.data.text, 0, searched_bytes_max);
  return text;
}

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// "Session 7e59… not found": the id is in between.
bool names_lost_session(std::string_view text) {
  constexpr std::size_t id_bytes_max = 96;
  for (std::size_t at = text.find("session "); at != std::string_view::npos;
       at = text.find("session ", at + 1)) {
    const std::string_view near = text.substr(at, id_bytes_max);
    if (has(near.substr(0, near.find('\n')), " not found")) return true;
  }
  return false;
}

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Three leading digits that are not part of a longer word.
int leading_status(std::string_view text) {
  int value = 0;
  const auto parsed =
      std::from_chars(text.data(), text.data() + std::min<std::size_t>(3, text.size()), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + 3 || value < 400) return 0;
  return text.size() > 3 && is_alphanumeric(text[3]) ? 0 : value;
}

// The HTTP status named in the text: "status 401", "API Error: 400 …", "httpStatus":429.
int http_status(const RpcError& error, std::string_view text) {
  if (error.code >= 400 && error.code < 600) return static_cast<int>(error.code);
  if (const int status = leading_status(text)) return status;
  constexpr std::size_t between_bytes_max = 5;  // `": "` and the like
  for (const std::string_view anchor : {"status", "error", "code", "details", "http"}) {
    for (std::size_t at = text.find(anchor); at != std::string_view::npos;
         at = text.find(anchor, at + 1)) {
      std::string_view rest = text.substr(at + anchor.size());
      for (std::size_t i = 0; i < between_bytes_max && !rest.empty() && !is_alphanumeric(rest[0]);
           ++i) {
        rest.remove_prefix(1);
      }
      if (const int status = leading_status(rest)) return status;
    }
  }
  return 0;
}

std::optional<Failure> by_status(int status) {
  if (status == 401 || status == 403) return Failure::auth;
  if (status == 429) return Failure::rate_limited;
  if (status >= 500) return Failure::transport;
  return std::nullopt;
}

Failure by_code(Call call, std::int64_t code, std::string_view text) {
  switch (code) {
    case rpc_code::auth_required: return Failure::auth;
    case rpc_code::invalid_params:
    case rpc_code::invalid_request: return Failure::invalid_params;
    case rpc_code::not_found:
      // A resource of a prompt may be missing as well.
      return is_in(in_session, call) && !has(text, "file:") ? Failure::session_unknown
                                                            : Failure::other;
    default: return Failure::other;
  }
}

Failure decide(Call call, const RpcError& error, std::string_view text) {
  // These three codes have only one meaning.
  if (error.code == rpc_code::method_not_found) return Failure::method_missing;
  if (error.code == rpc_code::cancelled) return Failure::cancelled;
  if (error.code == rpc_code::version_unsupported) return Failure::version;
  const int status = http_status(error, text);
  if (status == 0 && is_in(in_session, call) && names_lost_session(text)) {
    return Failure::session_unknown;
  }
  for (const Rule& rule : rules) {
    // A model server's status is more specific than words that match everything.
    if (rule.failure == Failure::invalid_params && by_status(status)) break;
    if (is_in(rule.calls, call) && has(text, rule.words)) return rule.failure;
  }
  if (const auto failure = by_status(status)) return *failure;
  return by_code(call, error.code, text);
}

}  // namespace

std::string_view failure_name(Failure failure) {
  switch (failure) {
    case Failure::method_missing: return "method_missing";
    case Failure::session_unknown: return "session_unknown";
    case Failure::session_in_use: return "session_in_use";
    case Failure::session_archived: return "session_archived";
    case Failure::auth: return "auth";
    case Failure::cancelled: return "cancelled";
    case Failure::rate_limited: return "rate_limited";
    case Failure::transport: return "transport";
    case Failure::cwd_missing: return "cwd_missing";
    case Failure::version: return "version";
    case Failure::invalid_params: return "invalid_params";
    case Failure::other: return "other";
  }
  return "";
}

Verdict classify(Call call, const RpcError& error) {
  const std::string told = searched(error);
  const std::string text = lower_case(told);
  Verdict verdict{.failure = decide(call, error, text)};
  if (verdict.failure != Failure::rate_limited) return verdict;
  const ResetTime reset = find_reset_time(told, text);
  verdict.reset_at = reset.at;
  verdict.retry_after_ms = reset.after_ms;
  return verdict;
}

bool allows_fresh_session(Failure failure) {
  return failure == Failure::method_missing || failure == Failure::session_unknown;
}

}  // namespace perdure::acp
