// Verbs for the life of a session: stop, resume, rename, archive, rm, fork.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>

#include "base/json/json.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"
#include "perdure/verbs/words.h"

namespace perdure::cli {
namespace {

// Stops the sessions that this session's processes created, including those created in the
// meantime.
Outcome<std::size_t> stop_children(VerbCall& call, const SessionBrief& session, Answered answer) {
  std::set<std::string> stopped;
  while (true) {
    const std::size_t before = stopped.size();
    for (const JsonView child : answer["live_children"].items()) {
      const std::string id = child["session_id"].text();
      if (stopped.insert(id).second) TRY(call.change({.path = session_path(id, "/stop")}));
    }
    if (stopped.size() == before) return before;
    answer = TRY(call.change({.path = session_path(session.id, "/stop")}));
  }
}

void warn_of_children(VerbCall& call, const SessionBrief& session, JsonView live) {
  std::string names;
  std::size_t count = 0;
  for (const JsonView child : live.items()) {
    const std::string title = child["title"].text();
    names +=
        (count++ == 0 ? "" : ", ") + clean_line(title.empty() ? child["session_id"].text() : title);
  }
  if (count == 0) return;
  call.remark(std::to_string(count) + (count == 1 ? " session" : " sessions") +
              " that it made still run: " + names + ". Stop them: `perdure stop " + session.id +
              " --children`");
}

Outcome<int> stop(VerbCall& call) {
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  const Answered answer = TRY(call.change({.path = session_path(session.id, "/stop")}));
  std::size_t children = 0;
  if (call.args().has("children")) {
    children = TRY(stop_children(call, session, answer));
  } else {
    warn_of_children(call, session, answer["live_children"]);
  }
  if (call.print_json(answer)) return exit_done;
  const std::string also =
      children == 0 ? "" : ", with " + std::to_string(children) + " that it made";
  call.print_line("Stopped" + also + ". Resume: `perdure resume`");
  return exit_done;
}

Outcome<> bind_folder(VerbCall& call, const SessionBrief& session, const std::string& cwd) {
  JsonWriter body;
  body.begin_object().key("cwd").string(call.whole_path(cwd)).end_object();
  TRY(call.change(
      {.path = session_path(session.id), .body = std::move(body).take(), .method = "PATCH"}));
  return {};
}

Outcome<int> resume(VerbCall& call) {
  const Args& args = call.args();
  const SessionBrief session = TRY(call.session(args.word(0)));
  if (const auto cwd = args.value("cwd")) TRY_VOID(bind_folder(call, session, *cwd));
  JsonWriter body;
  body.begin_object();
  if (const auto how = args.value("how")) body.key("how").string(*how);
  if (args.has("strict")) body.key("strict").boolean(true);
  if (const auto with = args.value("with")) body.key("with").string(*with);
  if (args.has("declare-dead")) body.key("declare_dead").boolean(true);
  body.end_object();
  const Answered answer = TRY(
      call.change({.path = session_path(session.id, "/resume"), .body = std::move(body).take()}));
  if (args.has("release")) TRY(call.change({.path = session_path(session.id, "/queue/release")}));
  if (call.print_json(answer)) return exit_done;
  if (answer["pending"].flag()) {
    call.print_line("The agent is still starting; `perdure why` says how far it is.");
    return exit_done;
  }
  for (const std::string& sentence : receipt_sentences(answer["receipt"])) {
    call.print_line(sentence);
  }
  const JsonView receipt = answer["receipt"];
  return receipt["rung_name"].text() == "none" && !receipt["already_running"].flag() ? exit_failed
                                                                                     : exit_done;
}

Outcome<int> rename(VerbCall& call) {
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  JsonWriter body;
  body.begin_object().key("title").string(call.args().rest(1)).end_object();
  const Answered answer = TRY(call.change(
      {.path = session_path(session.id), .body = std::move(body).take(), .method = "PATCH"}));
  if (!call.print_json(answer)) call.print_line("renamed");
  return exit_done;
}

Outcome<int> archive(VerbCall& call) {
  const bool is_back = call.args().has("undo");
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  const Answered answer =
      TRY(call.change({.path = session_path(session.id, is_back ? "/unarchive" : "/archive")}));
  if (!call.print_json(answer)) {
    call.print_line(is_back ? "Unarchived." : "Archived. You can still read its transcript.");
  }
  return exit_done;
}

Outcome<int> rm(VerbCall& call) {
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  if (!call.args().has("yes")) {
    const auto typed =
        call.world().console.ask("Delete \"" + clean_line(session.name()) + "\" with its " +
                                 std::to_string(session.seq) + " records for good? [y/N] ");
    if (!typed) return usage("Not a terminal: pass --yes to delete without confirmation.");
    if (*typed != "y" && *typed != "Y" && *typed != "yes") {
      call.remark("nothing was deleted");
      return exit_refused;
    }
  }
  Change change{.path = session_path(session.id), .body = "", .method = "DELETE"};
  change.query.emplace_back("confirm", "true");
  if (call.args().has("force")) change.query.emplace_back("force", "true");
  const Answered answer = TRY(call.change(std::move(change)));
  if (!call.print_json(answer)) call.print_line("deleted");
  return exit_done;
}

// The numbers after the session. Nothing is sent unless all of them are numbers.
Outcome<std::vector<std::uint64_t>> record_numbers(const Args& args) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 1; at < args.words().size(); ++at) {
    const std::string& word = args.words()[at];
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number == 0) {
      return usage("'" + clean_line(word) + "' is not a record number; " +
                   "`perdure events SESSION` shows them");
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::string records_word(std::size_t count) {
  return count == 1 ? "1 record" : std::to_string(count) + " records";
}

void print_left(VerbCall& call, const Answered& answer) {
  const std::vector<JsonView> left = answer["left"].items();
  if (left.empty()) {
    call.print_line("Perdure found the whole text in no other place of its files.");
  } else {
    call.print_line("The text is still in:");
  }
  for (const JsonView place : left) {
    call.print_line("  " + clean_line(place["where"].text()) + ", until " +
                    clean_line(place["until"].text()));
  }
}

void print_redacted(VerbCall& call, const SessionBrief& session, const Answered& answer) {
  call.print_line("Redacted " + records_word(answer["records"].items().size()) + ".");
  if (answer["left_queue"].flag()) {
    call.print_line("The queued prompt was removed; it is not sent.");
  }
  for (const JsonView lost : answer["lost"].items()) {
    const bool is_servers = lost.text() == "mcp_servers";
    call.print_line(is_servers ? "The session's MCP servers were in that record and are gone."
                               : "Settings that were asked for in that record are gone.");
  }
  print_left(call, answer);
  std::string also;
  for (const JsonView seq : answer["also_in"].items()) also += " " + std::to_string(seq.number());
  if (!also.empty())
    call.print_line("To redact those records: perdure redact " + session.id + also);
  if (call.args().has("find")) return;
  call.print_line(
      "Parts of it that were quoted elsewhere are not looked for. With --find, the "
      "secret itself is read from standard input and looked for.");
}

Outcome<bool> confirm(VerbCall& call, const std::string& of_what) {
  if (call.args().has("yes")) return true;
  const auto typed =
      call.world().console.ask("Destroy the text of " + of_what + " for good? [y/N] ");
  if (!typed) return usage("Not a terminal: pass --yes to redact without confirmation.");
  if (*typed == "y" || *typed == "Y" || *typed == "yes") return true;
  call.remark("nothing was redacted");
  return false;
}

std::string ids_word(const std::vector<std::string>& ids) {
  std::string words;
  for (const std::string& id : ids) words += (words.empty() ? "" : ", ") + clean_line(id);
  return words;
}

// What is no session: a task, a token, a removed rule, a session that was deleted.
bool is_node_id(const std::string& word) {
  return word.starts_with("task_") || word.starts_with("rule_") || word.starts_with("tok_") ||
         word.starts_with("sess_");
}

Outcome<int> redact_ids(VerbCall& call) {
  const std::vector<std::string>& ids = call.args().words();
  if (const auto other = std::ranges::find_if_not(ids, is_node_id); other != ids.end()) {
    return usage("'" + clean_line(*other) + "' is not the id of a task, rule, token or deleted " +
                 "session");
  }
  if (!TRY(confirm(call, ids_word(ids)))) return exit_refused;
  JsonWriter body;
  body.begin_object().key("ids").begin_array();
  for (const std::string& id : ids) body.string(id);
  body.end_array().end_object();
  const Answered answer = TRY(call.change({.path = "/api/redact", .body = std::move(body).take()}));
  if (call.print_json(answer)) return exit_done;
  call.print_line("Redacted " + ids_word(ids) + ".");
  print_left(call, answer);
  return exit_done;
}

Outcome<int> redact(VerbCall& call) {
  const bool has_numbers = call.args().words().size() > 1 && !is_node_id(call.args().word(1));
  if (is_node_id(call.args().word(0)) && !has_numbers) return redact_ids(call);
  const std::vector<std::uint64_t> numbers = TRY(record_numbers(call.args()));
  if (numbers.empty()) return usage("Name the records: perdure redact SESSION RECORD…");
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  std::string secret;
  if (call.args().has("find")) {
    secret = TRY(told(call.world().console.read_input()));
    while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
    if (secret.empty()) return usage("--find reads the secret from standard input; it was empty");
    if (!call.args().has("yes")) return usage("--find needs --yes: standard input is the secret");
  }
  if (!TRY(confirm(call,
                   records_word(numbers.size()) + " of \"" + clean_line(session.name()) + "\""))) {
    return exit_refused;
  }
  JsonWriter body;
  body.begin_object().key("seqs").begin_array();
  for (const std::uint64_t number : numbers) body.number_unsigned(number);
  body.end_array();
  if (!secret.empty()) body.key("text").string(secret);
  body.end_object();
  const Answered answer = TRY(
      call.change({.path = session_path(session.id, "/redact"), .body = std::move(body).take()}));
  if (!call.print_json(answer)) print_redacted(call, session, answer);
  return exit_done;
}

Outcome<int> fork(VerbCall& call) {
  const Args& args = call.args();
  const auto at = TRY(args.number("at"));
  const SessionBrief session = TRY(call.session(args.word(0)));
  JsonWriter body;
  body.begin_object();
  if (at) body.key("at").number_unsigned(*at);
  if (args.has("share-cwd")) body.key("share_cwd").boolean(true);
  if (const auto branch = args.value("branch")) body.key("branch").string(*branch);
  body.end_object();
  const Answered answer =
      TRY(call.change({.path = session_path(session.id, "/fork"), .body = std::move(body).take()}));
  if (!call.print_json(answer)) call.print_line(read_session(answer.view()).id);
  return exit_done;
}

const Positional one_session = {"SESSION", Count::one, Completes::session};

Verb redact_verb() {
  return {.name = "redact",
          .group = Group::care,
          .summary = "destroy the text of records, for a secret that was pasted",
          .positionals = {{"SESSION", Count::one, Completes::session}, {"SEQ", Count::any}},
          .options = {{.name = "yes", .letter = 'y', .help = "do not ask"},
                      {.name = "find",
                       .help = "also look for the secret itself, read from standard input"}},
          .detail =
              "Destroys the text of prompts, titles, queued prompts, answers, tool output and "
              "injected history in the journal, the search index and the agent's spool. The "
              "record keeps its number, time and hash, so that the journal still verifies. A "
              "prompt that is still queued is removed. The agent's own files, backups "
              "and exports are not changed: replace the secret as well. `perdure events "
              "SESSION` and `perdure search` show the numbers of records. With the ids of "
              "tasks, tokens, removed rules or deleted sessions instead, their texts are "
              "destroyed in the daemon's own journal.",
          .example =
              "perdure redact parser 15 16\n"
              "perdure redact parser 15 --yes --find < password.txt\n"
              "perdure redact task_01m0",
          .run = redact};
}

}  // namespace

std::vector<Verb> lifecycle_verbs() {
  return {
      {.name = "stop",
       .summary = "stop a session's agent; the session can be resumed",
       .positionals = {one_session},
       .options = {{.name = "children", .help = "also the sessions that its processes made"}},
       .example = "perdure stop parser",
       .run = stop},
      {.name = "resume",
       .summary = "resume a session, and report what its agent still knows",
       .positionals = {one_session},
       .options = {{.name = "how",
                    .value_name = "HOW",
                    .help = "auto, resume, load, inject or fresh"},
                   {.name = "strict", .help = "fail rather than lose context"},
                   {.name = "with",
                    .value_name = "AGENT",
                    .help = "hand over to another agent",
                    .completes = Completes::agent},
                   {.name = "release", .help = "also send the prompts that are waiting"},
                   {.name = "cwd",
                    .letter = 'C',
                    .value_name = "FOLDER",
                    .help = "use this folder from now on (the old one is gone, or it was imported)",
                    .completes = Completes::file},
                   {.name = "declare-dead",
                    .help = "treat an unreachable agent on another host as ended"}},
       .detail = "Tries, best first: attach to the running agent, the agent's resume, its load, a "
                 "fresh start with the history, a fresh start. The receipt says which one worked. "
                 "Nothing is sent to the agent.",
       .example = "perdure resume parser --strict",
       .run = resume},
      {.name = "rename",
       .summary = "rename a session",
       .positionals = {one_session, {"NAME", Count::at_least_one}},
       .example = "perdure rename 4fz8k2m1 parser rewrite",
       .run = rename},
      {.name = "archive",
       .summary = "hide a session from the lists; you can still read it",
       .positionals = {one_session},
       .options = {{.name = "undo", .help = "unarchive it"}},
       .example = "perdure archive parser",
       .run = archive},
      {.name = "rm",
       .summary = "delete a session permanently",
       .positionals = {one_session},
       .options = {{.name = "yes", .letter = 'y', .help = "do not ask"},
                   {.name = "force", .letter = 'f', .help = "even while its agent is running"}},
       .example = "perdure rm parser --yes",
       .run = rm},
      redact_verb(),
      {.name = "fork",
       .group = Group::care,
       .summary = "copy a session, all of it or up to one record; prints the new id",
       .positionals = {one_session},
       .options = {{.name = "at", .value_name = "SEQ", .help = "the last record that is copied"},
                   {.name = "share-cwd", .help = "work in the same folder"},
                   {.name = "branch", .value_name = "NAME", .help = "of the copy's worktree"}},
       .example = "perdure fork parser --at 120",
       .run = fork},
  };
}

}  // namespace perdure::cli
