// One call of a verb: its arguments, its output and its prompts. It connects to the daemon at the
// first request, never earlier.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/api.h"
#include "client/json_view.h"
#include "perdure/verbs/call/args.h"
#include "perdure/verbs/call/world.h"
#include "perdure/verbs/session_brief.h"

namespace perdure::cli {

// A JSON response with its text.
class Answered {
 public:
  explicit Answered(std::string text)
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  JsonView view() const { return JsonView(*text_); }
  JsonView operator[](std::string_view key) const { return view()[key]; }
  const std::string& text() const { return *text_; }

 private:
  std::shared_ptr<const std::string> text_;
};

using Query = std::vector<std::pair<std::string, std::string>>;

// One change: POST unless another method is given.
struct Change {
  std::string path;
  std::string body = "{}";
  std::string method = "POST";
  Query query = {};
  std::string content_type = "application/json";
};

class VerbCall {
 public:
  VerbCall(CliWorld& world, const ParsedCall& parsed) : world_(world), parsed_(parsed) {}

  const Args& args() const { return parsed_.args; }
  const Verb& verb() const { return *parsed_.verb; }
  CliWorld& world() { return world_; }
  Style style() { return world_.console.style(); }
  // The URL of the daemon's host; empty: this machine.
  std::string host() const;
  bool is_json() const { return parsed_.args.has("json"); }

  // Connects at the first call; a failure has exit code 5.
  Outcome<client::DaemonApi*> daemon();
  // Restarts the daemon if it is gone and that is permitted.
  Result<> revive();
  Outcome<Answered> get(const std::string& path, Query query = {});
  Outcome<std::string> get_text(const std::string& path, const std::string& accept);
  Outcome<Answered> change(Change change);

  // Finds a session by a word: its name, its id, or a unique start or end of the id.
  Outcome<SessionBrief> session(const std::string& word);
  // The same; without a word, the newest session in this folder.
  Outcome<SessionBrief> session_or_here(std::size_t place);

  // Makes a path absolute, starting at the user's folder, and removes `.` and `..`.
  std::string whole_path(const std::string& path) const;

  // With --json the text must be JSON.
  void print(std::string_view text);
  void print_raw_json(std::string_view json);
  void print_line(std::string_view text) { print(std::string(text) + "\n"); }
  // Prints the response on one line if --json was given.
  bool print_json(const Answered& answer);
  // A remark on stderr, not part of the output.
  void remark(std::string_view text) { world_.console.err(std::string(text) + "\n"); }

 private:
  Outcome<std::string> call(client::ApiRequest request);
  Outcome<client::ClientSettings> settings();

  CliWorld& world_;
  const ParsedCall& parsed_;
  std::unique_ptr<client::DaemonApi> daemon_;
};

// /api/sessions/<id> followed by `rest`.
std::string session_path(const std::string& id, std::string_view rest = {});
std::string encode_segment(std::string_view text);

}  // namespace perdure::cli
