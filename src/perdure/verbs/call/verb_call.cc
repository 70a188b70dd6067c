#include "perdure/verbs/call/verb_call.h"

#include <filesystem>
#include <fstream>

#include "base/json/json.h"
#include "perdure/terminal/clean_text.h"

namespace perdure::cli {
namespace {

Outcome<std::string> read_token(CliWorld& world, const Args& args) {
  const auto file = args.value("token-file");
  if (!file) return world.environment("PERDURE_TOKEN").value_or("");
  std::ifstream in(*file);
  std::string token;
  if (!std::getline(in, token)) return usage("no token can be read from " + *file);
  while (token.ends_with('\r') || token.ends_with(' ')) token.pop_back();
  return token;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

std::string encode_segment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', "0123456789ABCDEF"[byte >> 4], "0123456789ABCDEF"[byte & 15]};
  }
  return out;
}

std::string VerbCall::whole_path(const std::string& path) const {
  std::string whole = (std::filesystem::path(world_.cwd) / path).lexically_normal().string();
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return whole;
}

std::string session_path(const std::string& id, std::string_view rest) {
  return "/api/sessions/" + encode_segment(id) + std::string(rest);
}

std::string VerbCall::host() const {
  return args().value("host").value_or(world_.environment("PERDURE_HOST").value_or(""));
}

Outcome<client::ClientSettings> VerbCall::settings() {
  client::ClientSettings settings;
  settings.host_url = host();
  settings.token = TRY(read_token(world_, args()));
  if (settings.host_url.empty()) {
    settings.data_folder = TRY(told(client::data_folder_of(world_.environment)));
  } else if (settings.token.empty()) {
    return usage("a daemon at " + settings.host_url + " needs a token in PERDURE_TOKEN or a " +
                 "--token-file");
  }
  if (world_.environment("PERDURE_SESSION")) {
    settings.start = client::StartPolicy::inside_session;
  } else if (args().has("no-start") || verb().needs != Needs::daemon) {
    settings.start = client::StartPolicy::never;
  }
  return settings;
}

Outcome<client::DaemonApi*> VerbCall::daemon() {
  if (!daemon_) daemon_ = TRY(told(world_.connect(TRY(settings()))));
  return daemon_.get();
}

Result<> VerbCall::revive() {
  auto wanted = settings();
  if (!wanted) return fail(Code::invalid_argument, wanted.error().message);
  TRY_VOID(world_.connect(std::move(*wanted)));
  return {};
}

Outcome<std::string> VerbCall::call(client::ApiRequest request) {
  client::DaemonApi* api = TRY(daemon());
  client::ApiAnswer answer = TRY(told(api->call(std::move(request))));
  if (answer.refusal) return std::unexpected(Trouble::of(*answer.refusal));
  return std::move(answer.body);
}

Outcome<Answered> VerbCall::get(const std::string& path, Query query) {
  client::ApiRequest request;
  request.path = path;
  request.query = std::move(query);
  std::string body = TRY(call(std::move(request)));
  const auto json = JsonView::read(body);
  if (!json) {
    return std::unexpected(Trouble::of(Error(Code::internal, "the daemon's answer is not JSON")));
  }
  return Answered(std::string(json->raw()));
}

Outcome<std::string> VerbCall::get_text(const std::string& path, const std::string& accept) {
  client::ApiRequest request;
  request.path = path;
  request.accept = accept;
  return call(std::move(request));
}

Outcome<Answered> VerbCall::change(Change change) {
  client::ApiRequest request;
  request.method = std::move(change.method);
  request.path = std::move(change.path);
  request.query = std::move(change.query);
  request.body = std::move(change.body);
  request.content_type = std::move(change.content_type);
  const std::string body = TRY(call(std::move(request)));
  const auto json = JsonView::read(body);
  return Answered(json ? std::string(json->raw()) : "{}");
}

Outcome<SessionBrief> VerbCall::session(const std::string& word) {
  if (word.empty()) return usage("the session name is empty");
  const Answered answer = TRY(get(session_path(word)));
  SessionBrief session = read_session(answer.view());
  if (session.id.empty()) session.id = word;
  return session;
}

Outcome<SessionBrief> VerbCall::session_or_here(std::size_t place) {
  if (const std::string word = args().word(place); !word.empty()) return session(word);
  const Answered answer = TRY(get("/api/sessions"));
  SessionBrief newest;
  for (const JsonView item : answer["sessions"].items()) {
    SessionBrief candidate = read_session(item);
    if (candidate.cwd == world_.cwd && !candidate.archived &&
        (newest.id.empty() || candidate.updated > newest.updated)) {
      newest = std::move(candidate);
    }
  }
  if (newest.id.empty()) {
    return std::unexpected(Trouble::of(
        Error(Code::not_found, "no session in this folder; `perdure ls` lists all of them")));
  }
  return session(newest.id);
}

void VerbCall::print(std::string_view text) {
  if (is_json()) return print_raw_json(text);
  world_.console.out(text);
}

void VerbCall::print_raw_json(std::string_view json) {
  world_.console.out(world_.console.is_output_terminal() ? json_for_terminal(json)
                                                         : std::string(json));
}

bool VerbCall::print_json(const Answered& answer) {
  if (!is_json()) return false;
  print_line(answer.text());
  return true;
}

}  // namespace perdure::cli
