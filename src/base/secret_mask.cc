#include "base/secret_mask.h"

#include <algorithm>
#include <array>
#include <utility>

namespace perdure {
namespace {

constexpr std::string_view stars = "***";
constexpr std::size_t random_bytes_min = 20;  // of a value whose form identifies it
constexpr std::size_t bytes_of_segment_min = 12;
constexpr std::size_t own_digits = 64;  // of a secret issued by Perdure

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

bool is_secret_word(std::string_view word) {
  constexpr std::array whole{"PASS", "PWD", "CREDENTIAL", "CREDENTIALS",   "AUTH", "COOKIE",
                             "PAT",  "DSN", "PRIVATE",    "AUTHORIZATION", "JWT",  "BEARER"};
  constexpr std::array ends{"KEY",     "TOKEN",    "TOKENS", "SECRET",
                            "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE"};
  return std::ranges::find(whole, word) != whole.end() ||
         std::ranges::any_of(ends, [&](std::string_view end) { return word.ends_with(end); });
}

// A name is read word by word: GIT_AUTHOR_NAME is not secret, OPENAI_API_KEY and X-Api-Key are.
bool is_secret_name(std::string_view name) {
  const std::string text = upper(name);
  if (text == "PWD" || text == "OLDPWD" || text.ends_with("_FILE") || text.ends_with("_PATH") ||
      text.ends_with("_DIR") || text.ends_with("_SOCK")) {
    return false;
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of("_-. "), rest.size());
    if (is_secret_word(rest.substr(0, end))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool is_path(std::string_view value) {
  return value.starts_with('/') || value.starts_with("~/") || value.starts_with("./") ||
         value.starts_with("../");
}

// The form of services' keys, or a mix of characters that people do not type.
bool looks_like_a_key(std::string_view value) {
  constexpr std::array prefixes{"sk-",   "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-",
                                "xoxp-", "AKIA", "eyJ",  "AIza", "hf_",         "npm_"};
  const auto begins = [&](std::string_view prefix) { return value.starts_with(prefix); };
  if (value.size() >= 16 && std::ranges::any_of(prefixes, begins)) return true;
  if (value.size() < random_bytes_min || value.find_first_of(" /\t\n") != std::string_view::npos) {
    return false;
  }
  return std::ranges::any_of(value, is_upper) && std::ranges::any_of(value, is_lower) &&
         std::ranges::any_of(value, is_digit);
}

// A machine-made part of a path: long, and with digits among its letters.
bool is_token_segment(std::string_view segment) {
  const auto is_letter = [](char c) { return is_lower(c) || is_upper(c); };
  return segment.size() >= bytes_of_segment_min && std::ranges::any_of(segment, is_digit) &&
         std::ranges::any_of(segment, is_letter);
}

// The secret parts of a URL, in order. They are views of it.
std::vector<std::string_view> secret_parts(std::string_view url) {
  std::vector<std::string_view> parts;
  const std::size_t scheme = url.find("://");
  std::string_view rest = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  const std::size_t path_at = std::min(rest.find_first_of("/?#"), rest.size());
  if (const std::size_t at = rest.substr(0, path_at).rfind('@'); at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    const std::size_t colon = user.find(':');
    parts.push_back(colon == std::string_view::npos ? user : user.substr(colon + 1));
  }
  rest.remove_prefix(path_at);
  const std::size_t path_end = std::min(rest.find_first_of("?#"), rest.size());
  for (std::string_view path = rest.substr(0, path_end); !path.empty();) {
    path.remove_prefix(path.starts_with('/') ? 1 : 0);
    const std::string_view segment = path.substr(0, path.find('/'));
    if (is_token_segment(segment)) parts.push_back(segment);
    path.remove_prefix(segment.size());
  }
  rest.remove_prefix(path_end);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view pair = rest.substr(0, rest.find_first_of("&#"));
    const std::size_t equals = pair.find('=');
    parts.push_back(equals == std::string_view::npos ? pair : pair.substr(equals + 1));
    rest.remove_prefix(pair.size());
  }
  std::erase_if(parts, [](std::string_view part) { return part.empty(); });
  return parts;
}

std::string in_json(std::string_view text) {
  std::string out;
  json_append_string(out, text);
  return out.substr(1, out.size() - 2);
}

void replace_all(std::string& text, std::string_view what) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + stars.size())) {
    text.replace(at, what.size(), stars);
  }
}

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// Tokens, launch tokens, tickets, cookies and page keys, by their form: only their hashes are kept.
void replace_own(std::string& text) {
  constexpr std::string_view begin = "perdure_";
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    std::size_t digits = at + begin.size();
    for (const std::string_view kind : {"launch_", "ticket_", "cookie_", "key_"}) {
      if (std::string_view(text).substr(digits).starts_with(kind)) digits += kind.size();
    }
    const std::string_view rest = std::string_view(text).substr(digits, own_digits);
    if (rest.size() == own_digits && std::ranges::all_of(rest, is_hex)) {
      text.replace(at, digits + own_digits - at, stars);
    } else {
      at = digits;
    }
  }
}

}  // namespace

bool is_secret_value(std::string_view name, std::string_view value) {
  if (value.size() < SecretMask::bytes_min) return false;
  if (is_secret_name(name)) return true;
  return !is_path(value) && looks_like_a_key(value);
}

std::string masked_url(std::string_view url) {
  std::string out;
  std::size_t done = 0;
  for (const std::string_view part : secret_parts(url)) {
    const auto at = static_cast<std::size_t>(part.data() - url.data());
    out += url.substr(done, at - done);
    out += stars;
    done = at + part.size();
  }
  return out + std::string(url.substr(done));
}

void SecretMask::add(std::string_view name, std::string_view value) {
  const bool is_address = value.contains("://");
  if (is_address) add_url(value);
  if (!is_secret_value(name, value)) return;
  keep(std::string(value));
  // `Bearer x`, `Basic x`: the first word is not secret.
  const std::size_t space = value.rfind(' ');
  if (space != std::string_view::npos) add_secret(value.substr(space + 1));
}

void SecretMask::add_secret(std::string_view value) {
  if (value.size() >= bytes_min) keep(std::string(value));
}

void SecretMask::add_url(std::string_view url) {
  for (const std::string_view part : secret_parts(url)) add_secret(part);
}

void SecretMask::add_mcp_servers(const RawJson& servers) {
  const Result<std::vector<std::string_view>> all = json_elements(servers.text);
  if (!all) return;
  for (const std::string_view one : *all) {
    const Result<JsonObject> server = JsonObject::parse(one);
    if (!server) continue;
    if (const Result<std::string> url = json_string(server->find("url"))) add_url(*url);
    for (const char* const list : {"env", "headers"}) {
      const Result<std::vector<std::string_view>> pairs = json_elements(server->find(list));
      if (!pairs) continue;
      for (const std::string_view pair : *pairs) {
        const Result<JsonObject> object = JsonObject::parse(pair);
        if (!object) continue;
        const Result<std::string> name = json_string(object->find("name"));
        const Result<std::string> value = json_string(object->find("value"));
        if (name && value) add(*name, *value);
      }
    }
  }
}

void SecretMask::add(const SecretMask& other) {
  for (const std::string& value : other.values_) keep(value);
}

void SecretMask::keep(std::string value) {
  if (std::ranges::find(values_, value) != values_.end()) return;
  const auto at = std::ranges::find_if(
      values_, [&](const std::string& other) { return other.size() < value.size(); });
  values_.insert(at, std::move(value));
}

std::string SecretMask::without(std::string_view text, bool is_json) const {
  std::string out(text);
  for (const std::string& value : values_) replace_all(out, is_json ? in_json(value) : value);
  replace_own(out);
  return out;
}

std::string SecretMask::mask(std::string_view text) const { return without(text, false); }

RawJson SecretMask::mask(const RawJson& json) const {
  RawJson out{without(json.text, true)};
  if (out.text != json.text && !json_validate(out.text)) return {};
  return out;
}

}  // namespace perdure
