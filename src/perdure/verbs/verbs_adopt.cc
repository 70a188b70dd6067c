// `adopt`: lists sessions that agents' own programs left on disk, and takes them over. The daemon
// recognises an adopted session by its agent and the agent's own id, so nothing is adopted twice.
#include <algorithm>
#include <string>
#include <vector>

#include "adopt/finder.h"
#include "adopt/import_form.h"
#include "base/json/json.h"
#include "core/wire/journal/export_file.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

using adopt::Found;

// A session on disk, and how much of it is already here.
struct Candidate {
  Found found;
  std::string session_id;       // of the adopted session; empty: not adopted
  std::uint64_t turns_new = 0;  // in the file since the adoption
  bool is_asked_for = false;
  bool was_adopted_now = false;
  std::string trouble;
};

std::string agent_of(const Found& found) { return std::string(enum_text(found.program)); }

SessionId session_of(const Found& found) {
  return adopted_session({.agent = agent_of(found), .agent_session_id = found.session.id});
}

adopt::FinderWorld finder_world(VerbCall& call) {
  return {.environment = call.world().environment,
          .open_tree = call.world().local.open_tree,
          .opencode_sessions = call.world().local.opencode_sessions};
}

Outcome<std::vector<adopt::Program>> asked_programs(VerbCall& call) {
  const auto name = call.args().value("agent");
  if (name) {
    const auto program = adopt::find_program(*name);
    if (!program) return usage("no sessions of '" + *name + "' can be adopted");
    return std::vector{*program};
  }
  return std::vector{adopt::Program::claude, adopt::Program::codex,   adopt::Program::opencode,
                     adopt::Program::gemini, adopt::Program::copilot, adopt::Program::qwen};
}

bool is_path(const std::string& word) { return word.find('/') != std::string::npos; }

// Everything found; if words are given, only the files or ids that they name.
Outcome<std::vector<Candidate>> candidates(VerbCall& call) {
  const adopt::FinderWorld world = finder_world(call);
  const std::vector<adopt::Program> programs = TRY(asked_programs(call));
  const std::vector<std::string>& words = call.args().words();
  std::vector<Candidate> out;
  const bool searches = words.empty() || !std::ranges::all_of(words, is_path);
  adopt::Search search;
  if (searches) search = adopt::find_sessions(programs, world);
  for (const std::string& remark : search.remarks) call.remark(clean_line(remark));
  if (words.empty()) {
    for (Found& found : search.found) out.push_back({.found = std::move(found)});
    return out;
  }
  for (const std::string& word : words) {
    if (is_path(word)) {
      const auto program = programs.size() == 1 ? std::optional(programs.front()) : std::nullopt;
      out.push_back({.found = TRY(told(adopt::read_named(call.whole_path(word), program, world)))});
    } else {
      const auto is_meant = [&](const Found& found) {
        return found.session.id.starts_with(word) || found.session.id.ends_with(word);
      };
      const auto count = std::ranges::count_if(search.found, is_meant);
      if (count == 0) {
        return std::unexpected(
            Trouble::of(Error(Code::not_found, "no session " + word + " was found to adopt")));
      }
      if (count > 1) return usage(word + " names more than one session");
      out.push_back({.found = *std::ranges::find_if(search.found, is_meant)});
    }
    out.back().is_asked_for = true;
  }
  return out;
}

Outcome<> look_up(VerbCall& call, Candidate& candidate) {
  const auto answer = call.get(session_path(session_of(candidate.found).text()));
  if (!answer) {
    if (answer.error().code == "not_found") return {};
    return std::unexpected(answer.error());
  }
  const JsonView session = (*answer)["session"];
  candidate.session_id = session["id"].text();
  const std::uint64_t known = session["runs"].number();
  const std::uint64_t turns = candidate.found.session.turns.size();
  candidate.turns_new = turns > known ? turns - known : 0;
  return {};
}

void adopt_one(VerbCall& call, Candidate& candidate) {
  const Found& found = candidate.found;
  Change change{
      .path = "/api/import",
      .body = adopt::make_import(
          found.session, {.agent = agent_of(found), .file = found.file, .bytes = found.bytes})};
  change.query = {{"agent", agent_of(found)},
                  {"agent_session_id", found.session.id},
                  {"cwd", found.session.cwd}};
  const auto answer = call.change(std::move(change));
  if (!answer) {
    candidate.trouble = answer.error().message;
    return;
  }
  candidate.session_id = (*answer)["session_id"].text();
  candidate.was_adopted_now = !(*answer)["nothing_to_do"].flag();
}

void print_json_line(VerbCall& call, const Candidate& candidate) {
  const Found& found = candidate.found;
  JsonWriter out;
  out.begin_object().key("agent").string(agent_of(found));
  out.key("agent_session_id").string(found.session.id).key("file").string(found.file);
  out.key("cwd").string(found.session.cwd).key("title").string(found.session.title);
  out.key("first").string(format_timestamp(found.session.first()));
  out.key("last").string(format_timestamp(found.session.last()));
  out.key("turns").number_unsigned(found.session.turns.size());
  out.key("lines_lost").number_unsigned(found.session.loss.lines);
  out.key("session_id");
  if (candidate.session_id.empty()) {
    out.null();
  } else {
    out.string(candidate.session_id);
  }
  out.key("turns_new").number_unsigned(candidate.turns_new);
  out.key("adopted").boolean(candidate.was_adopted_now);
  if (!candidate.trouble.empty()) out.key("error").string(candidate.trouble);
  call.print_line(out.end_object().text());
}

std::string state_words(const Candidate& candidate) {
  if (!candidate.trouble.empty()) return "refused: " + candidate.trouble;
  if (candidate.session_id.empty()) {
    const std::uint64_t lost = candidate.found.session.loss.lines;
    return lost == 0 ? "-" : "- (" + std::to_string(lost) + " lines are damaged)";
  }
  std::string words = (candidate.was_adopted_now ? "now " : "") + candidate.session_id;
  if (candidate.turns_new > 0) {
    words += " (its file has " + std::to_string(candidate.turns_new) + " newer turns)";
  }
  return words;
}

void print_row(VerbCall& call, const Candidate& candidate) {
  const adopt::NativeSession& session = candidate.found.session;
  const std::string last = format_timestamp(session.last()).substr(0, 16);
  call.print_line(pad(agent_of(candidate.found), 10) + pad(clean_line(session.id), 38) +
                  pad(last, 18) + pad(std::to_string(session.turns.size()), 7) +
                  pad(clean_line(session.cwd), 28) + " " + pad(clean_line(session.title), 30) +
                  " " + clean_line(state_words(candidate)));
}

Outcome<int> run_adopt(VerbCall& call) {
  if (!call.world().local.open_tree) {
    return std::unexpected(Trouble::of(Error(Code::internal, "this build cannot look for files")));
  }
  std::vector<Candidate> all = TRY(candidates(call));
  const bool acts = !call.args().has("dry-run");
  const bool wants_all = call.args().has("all");
  if (!call.is_json() && !all.empty()) {
    call.print_line(pad("AGENT", 10) + pad("ITS OWN ID", 38) + pad("LAST", 18) + pad("TURNS", 7) +
                    pad("FOLDER", 28) + " " + pad("TITLE", 30) + " ADOPTED AS");
  }
  bool has_failed = false;
  for (Candidate& candidate : all) {
    TRY_VOID(look_up(call, candidate));
    const bool is_wanted = wants_all || candidate.is_asked_for;
    if (is_wanted && acts && candidate.session_id.empty()) adopt_one(call, candidate);
    has_failed |= !candidate.trouble.empty();
    if (call.is_json()) {
      print_json_line(call, candidate);
    } else {
      print_row(call, candidate);
    }
  }
  if (all.empty()) call.remark("No sessions of other programs were found.");
  if (!call.is_json() && !wants_all && call.args().words().empty() && !all.empty()) {
    call.remark("Adopt one with `perdure adopt ID`, all with `perdure adopt --all`.");
  }
  return has_failed ? exit_failed : exit_done;
}

}  // namespace

std::vector<Verb> adopt_verbs() {
  return {
      {.name = "adopt",
       .group = Group::care,
       .summary = "take over sessions that agents' own programs left on this machine",
       .positionals = {{"ID_OR_FILE", Count::any, Completes::file}},
       .options = {{.name = "agent",
                    .letter = 'a',
                    .value_name = "AGENT",
                    .help = "only of claude, codex, opencode, gemini, copilot or qwen",
                    .completes = Completes::agent},
                   {.name = "all", .help = "adopt every one that is found"},
                   {.name = "dry-run", .letter = 'n', .help = "only list them"}},
       .detail = "Without ID_OR_FILE and --all it lists what is there. The files themselves are "
                 "never changed, and what was adopted once is not adopted again. An adopted "
                 "session is stopped; a prompt or `perdure resume` goes on with it.",
       .example = "perdure adopt\nperdure adopt --agent claude --all",
       .run = run_adopt},
  };
}

}  // namespace perdure::cli
