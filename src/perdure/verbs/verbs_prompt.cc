// Verbs that talk to a session: attach, send, wait, cancel.
#include "base/json/json.h"
#include "base/limits.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/verbs/attach/watching.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"
#include "perdure/verbs/words.h"

namespace perdure::cli {
namespace {

// The first record of a view: the start, or the last records of a long session.
AttachTo attach_from(const SessionBrief& session, const Args& args) {
  AttachTo to{.session = session.id, .after = 0, .first_note = {}};
  if (!args.has("all") && session.seq > attach_replay_records) {
    to.after = session.seq - attach_replay_records;
    to.first_note = "earlier: perdure transcript " + short_id(session.id);
  }
  return to;
}

Outcome<int> attach(VerbCall& call) {
  const SessionBrief session = TRY(call.session_or_here(0));
  const AttachTo to = attach_from(session, call.args());
  if (call.world().console.is_interactive() && !call.is_json()) {
    client::DaemonApi* api = TRY(call.daemon());
    return call.world().attach(*api, to);
  }
  return exit_of(TRY(watch_session(call, {.session = session.id, .after = to.after})));
}

std::string when_of(const Args& args) {
  for (const std::string_view when : {"queue", "interrupt", "steer"}) {
    if (args.has(when)) return std::string(when);
  }
  return {};
}

std::string placed_words(const Answered& answer) {
  const std::string placed = answer["placed"].text();
  const SessionBrief session = read_session(answer.view());
  if (placed == "started") return "started";
  if (placed == "steered") return "Sent to the running turn.";
  if (placed.starts_with("queued")) {
    const std::uint64_t position = answer["queue_position"].number();
    if (position == 1 && session.status == "idle") {
      return "accepted; it starts when the agent is ready";
    }
    return position > 0 ? "queued as number " + std::to_string(position) : "queued";
  }
  return "accepted";
}

Outcome<int> send(VerbCall& call) {
  const Args& args = call.args();
  const auto timeout = TRY(args.duration_ms("timeout"));
  std::string text = args.rest(1);
  if (text == "-") text = TRY(told(call.world().console.read_input()));
  if (text.empty()) return usage("the prompt is empty");
  const SessionBrief session = TRY(call.session(args.word(0)));
  JsonWriter body;
  body.begin_object().key("text").string(text);
  if (const std::string when = when_of(args); !when.empty()) body.key("when").string(when);
  body.end_object();
  const Answered answer = TRY(
      call.change({.path = session_path(session.id, "/prompt"), .body = std::move(body).take()}));
  if (!args.has("wait")) {
    if (!call.print_json(answer)) call.print_line(placed_words(answer));
    return exit_done;
  }
  const std::uint64_t seq = answer["seq"].number();
  const std::string run = answer["run_id"].text();
  const std::string message = answer["message_id"].text();
  return exit_of(TRY(watch_session(call, {.session = session.id,
                                          .after = seq > 0 ? seq - 1 : session.seq,
                                          .run = run,
                                          .message = message,
                                          .until_run_ends = run.empty() && message.empty(),
                                          .timeout_ms = timeout})));
}

// Waiting for a limit makes sense only if the session continues after it.
bool is_busy(const SessionBrief& session) {
  if (session.limit_reset.ms != 0) return session.limit_at_reset == "continued";
  return session.status == "running" || session.status == "waiting" || session.state == "STARTING";
}

// 0 if the last run was completed, or there was none.
int exit_of_session(const SessionBrief& session, const std::string& run_end) {
  if (run_end == "completed") return exit_done;
  const bool went_wrong = !run_end.empty() || session.status.starts_with("interrupted") ||
                          session.state == "FAILED" || session.state == "ERROR" ||
                          session.state == "CANCELLED";
  return went_wrong ? exit_failed : exit_done;
}

Outcome<int> wait(VerbCall& call) {
  const Args& args = call.args();
  const auto timeout = TRY(args.duration_ms("timeout"));
  SessionBrief session = TRY(call.session_or_here(0));
  client::DaemonApi* api = TRY(call.daemon());
  const std::int64_t begun_ms = api->now_ms();
  std::string run_end;
  bool has_told = false;
  while (is_busy(session) || (session.queue_length > 0 && !session.queue_held)) {
    const bool is_limited = session.limit_reset.ms != 0;
    const bool is_asked = session.status == "waiting" && !is_limited && args.has("or-question");
    Watched watched{.end = Watched::End::asked, .run_end = {}};
    // Explain the wait: the person may be able to end it.
    if (is_limited && !std::exchange(has_told, true)) {
      call.remark("it is waiting for a usage limit to reset, " +
                  reset_words(session.limit_reset, call.world().now()));
    }
    if (!is_asked && session.status == "waiting" && !std::exchange(has_told, true)) {
      call.remark("it is waiting for an answer: `perdure approve " + short_id(session.id) +
                  "` or `perdure deny " + short_id(session.id) + "`");
    }
    if (!is_asked) {
      std::optional<std::int64_t> left;
      if (timeout) left = std::max<std::int64_t>(0, begun_ms + *timeout - api->now_ms());
      watched = TRY(watch_session(call, {.session = session.id,
                                         .after = session.seq,
                                         .until_run_ends = true,
                                         .until_asked = args.has("or-question"),
                                         .timeout_ms = left,
                                         .is_quiet = true}));
    }
    const Answered answer = TRY(call.get(session_path(session.id)));
    session = read_session(answer.view());
    if (watched.end == Watched::End::run_ended) run_end = watched.run_end;
    if (watched.end == Watched::End::timeout || watched.end == Watched::End::asked) {
      if (!call.print_json(answer)) call.print_line(session.status);
      return exit_of(watched);
    }
  }
  const Answered answer = TRY(call.get(session_path(session.id)));
  if (!call.print_json(answer)) call.print_line(run_end.empty() ? session.status : run_end);
  return exit_of_session(session, run_end);
}

Outcome<int> cancel(VerbCall& call) {
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  Change change{.path = session_path(session.id, "/cancel")};
  if (call.args().has("force")) change.body = R"({"force":true})";
  const Answered answer = TRY(call.change(std::move(change)));
  if (call.print_json(answer)) return exit_done;
  call.print_line(answer["nothing_to_do"].flag() ? "nothing is running" : "cancelling");
  return exit_done;
}

}  // namespace

std::vector<Verb> prompt_verbs() {
  const Option timeout = {.name = "timeout",
                          .value_name = "TIME",
                          .help = "give up after this time, such as 30s, 5m or 2h (exit 124)"};
  return {
      {.name = "attach",
       .summary = "attach this terminal to a session; Ctrl-] detaches",
       .positionals = {{"SESSION", Count::optional, Completes::session}},
       .options = {{.name = "all", .letter = 'a', .help = "show it from its first record"}},
       .detail =
           "Enter sends, Alt-Enter starts a new line, Ctrl-C cancels the turn. Ctrl-], or "
           "Ctrl-D on an empty line, detaches; the session keeps running. When the agent asks, "
           "Tab goes to the answers, a number chooses one and Enter gives it. Without a terminal "
           "it "
           "prints what happens.",
       .example = "perdure attach parser",
       .run = attach},
      {.name = "send",
       .summary = "send a prompt",
       .positionals = {{"SESSION", Count::one, Completes::session}, {"TEXT", Count::at_least_one}},
       .options = {{.name = "wait", .letter = 'w', .help = "print what happens until it is done"},
                   timeout,
                   {.name = "queue", .help = "send it after everything that is under way"},
                   {.name = "interrupt", .help = "cancel what is under way first"},
                   {.name = "steer",
                    .help = "add it to the running turn, if the agent supports that"}},
       .detail =
           "If TEXT is -, it is read from standard input. The prompt is saved before this returns.",
       .example = "perdure send parser \"now add tests\" --wait\n"
                  "cat error.log | perdure send parser -",
       .run = send},
      {.name = "wait",
       .summary = "wait until a session has nothing left to do",
       .positionals = {{"SESSION", Count::optional, Completes::session}},
       .options = {timeout,
                   {.name = "or-question", .help = "also return when it asks a question (exit 4)"}},
       .detail = "Exit code 0 if its last turn was completed, 1 if not, 124 if the time is "
                 "over and it is still running.",
       .example = "perdure wait parser --timeout 10m && make test",
       .run = wait},
      {.name = "cancel",
       .summary = "cancel the running turn; the session stays",
       .positionals = {{"SESSION", Count::one, Completes::session}},
       .options = {{.name = "force", .help = "kill the agent's process at once"}},
       .example = "perdure cancel parser",
       .run = cancel},
  };
}

}  // namespace perdure::cli
