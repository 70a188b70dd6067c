// Verbs for the life of a session: stop, resume, rename, archive, rm, fork.
#include "base/json.h"
#include "cli/clean_text.h"
#include "cli/verb_call.h"
#include "cli/verbs.h"
#include "cli/words.h"

namespace perdure::cli {
namespace {

Outcome<int> stop(VerbCall& call) {
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  const Answered answer = TRY(call.change({.path = session_path(session.id, "/stop")}));
  if (!call.print_json(answer)) call.print_line("stopped; `perdure resume` brings it back");
  return exit_done;
}

Outcome<> bind_folder(VerbCall& call, const SessionBrief& session, std::string cwd) {
  if (!cwd.starts_with('/')) cwd = call.world().cwd + "/" + cwd;
  JsonWriter body;
  body.begin_object().key("cwd").string(cwd).end_object();
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
    call.print_line(is_back ? "taken out of the archive" : "archived; its transcript stays");
  }
  return exit_done;
}

Outcome<int> rm(VerbCall& call) {
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  if (!call.args().has("yes")) {
    const auto typed =
        call.world().console.ask("Delete \"" + clean_line(session.name()) + "\" with its " +
                                 std::to_string(session.seq) + " records for good? [y/N] ");
    if (!typed) return usage("nobody is there to ask: --yes deletes without");
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

}  // namespace

std::vector<Verb> lifecycle_verbs() {
  return {
      {.name = "stop",
       .summary = "end a session's agent; the session can be resumed",
       .positionals = {one_session},
       .example = "perdure stop parser",
       .run = stop},
      {.name = "resume",
       .summary = "bring a session's agent back, and say what it still knows",
       .positionals = {one_session},
       .options = {{.name = "how",
                    .value_name = "HOW",
                    .help = "auto, resume, load, inject or fresh"},
                   {.name = "strict", .help = "fail rather than lose context"},
                   {.name = "with",
                    .value_name = "AGENT",
                    .help = "another agent goes on",
                    .completes = Completes::agent},
                   {.name = "cwd",
                    .letter = 'C',
                    .value_name = "FOLDER",
                    .help = "work there from now on: its folder is gone, or it was imported",
                    .completes = Completes::file},
                   {.name = "declare-dead",
                    .help = "take an agent on another host that does not answer for dead"}},
       .detail = "Tries, best first: attach to the living agent, its own resume, its own load, a "
                 "new start with the history, a new start. The receipt says which one served. "
                 "Nothing is sent to the agent.",
       .example = "perdure resume parser --strict",
       .run = resume},
      {.name = "rename",
       .summary = "give a session another name",
       .positionals = {one_session, {"NAME", Count::at_least_one}},
       .example = "perdure rename 4fz8k2m1 parser rewrite",
       .run = rename},
      {.name = "archive",
       .summary = "put a session away; it can be read, and takes no new work",
       .positionals = {one_session},
       .options = {{.name = "undo", .help = "take it out again"}},
       .example = "perdure archive parser",
       .run = archive},
      {.name = "rm",
       .summary = "delete a session for good",
       .positionals = {one_session},
       .options = {{.name = "yes", .letter = 'y', .help = "do not ask"},
                   {.name = "force", .letter = 'f', .help = "even while its agent is alive"}},
       .example = "perdure rm parser --yes",
       .run = rm},
      {.name = "fork",
       .group = Group::care,
       .summary = "copy a session, whole or up to a record; prints the copy's id",
       .positionals = {one_session},
       .options = {{.name = "at", .value_name = "SEQ", .help = "the last record that is copied"},
                   {.name = "share-cwd", .help = "work in the same folder"},
                   {.name = "branch", .value_name = "NAME", .help = "of the copy's worktree"}},
       .example = "perdure fork parser --at 120",
       .run = fork},
  };
}

}  // namespace perdure::cli
