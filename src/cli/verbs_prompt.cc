// Verbs that talk to a session: attach, send, wait, cancel.
#include "base/json.h"
#include "base/limits.h"
#include "cli/clean_text.h"
#include "cli/verb_call.h"
#include "cli/verbs.h"
#include "cli/watching.h"
#include "cli/words.h"

namespace perdure::cli {
namespace {

// Where a view begins: everything, or the last records of a long session.
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
  if (placed == "steered") return "on its way into the running turn";
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
  if (text.empty()) return usage("there is nothing to send");
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

// A limit is worth waiting for only when the session goes on behind it.
bool is_busy(const SessionBrief& session) {
  if (session.limit_reset.ms != 0) return session.limit_at_reset == "continued";
  return session.status == "running" || session.status == "waiting" || session.state == "STARTING";
}

// 0 when the last run was completed, or there was none.
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
    // Who waits for something that waits for them shall know it.
    if (is_limited && !std::exchange(has_told, true)) {
      call.remark("it waits for the end of a limit, " +
                  reset_words(session.limit_reset, call.world().now()));
    }
    if (!is_asked && session.status == "waiting" && !std::exchange(has_told, true)) {
      call.remark("it waits for an answer: `perdure approve " + short_id(session.id) +
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
  const Option timeout = {
      .name = "timeout", .value_name = "TIME", .help = "give up after 30s, 5m, 2h: exit 124"};
  return {
      {.name = "attach",
       .summary = "work with a session on this terminal; Ctrl-] leaves it",
       .positionals = {{"SESSION", Count::optional, Completes::session}},
       .options = {{.name = "all", .letter = 'a', .help = "show it from its first record on"}},
       .detail = "Enter sends, Alt-Enter begins a new line, Ctrl-C cancels the run, Ctrl-] or "
                 "Ctrl-D on an empty line leaves; the session goes on. A question of the agent is "
                 "answered by y, n or a number while the line is empty. Without a terminal it "
                 "prints what happens.",
       .example = "perdure attach parser",
       .run = attach},
      {.name = "send",
       .summary = "send a prompt",
       .positionals = {{"SESSION", Count::one, Completes::session}, {"TEXT", Count::at_least_one}},
       .options = {{.name = "wait", .letter = 'w', .help = "print what happens until it is done"},
                   timeout,
                   {.name = "queue", .help = "behind everything that is under way"},
                   {.name = "interrupt", .help = "end what is under way first"},
                   {.name = "steer",
                    .help = "into the run that is under way, where the agent can"}},
       .detail = "A TEXT of - is read from the standard input. It is accepted once it is on disk.",
       .example = "perdure send parser \"now add tests\" --wait\n"
                  "cat error.log | perdure send parser -",
       .run = send},
      {.name = "wait",
       .summary = "wait until a session has nothing left to do",
       .positionals = {{"SESSION", Count::optional, Completes::session}},
       .options = {timeout,
                   {.name = "or-question", .help = "also end when it asks something: exit 4"}},
       .detail = "Exit 0 when its last run was completed, 1 when it was not, 124 when the time is "
                 "over and it is still running.",
       .example = "perdure wait parser --timeout 10m && make test",
       .run = wait},
      {.name = "cancel",
       .summary = "cancel the run that is under way; the session stays",
       .positionals = {{"SESSION", Count::one, Completes::session}},
       .options = {{.name = "force", .help = "end the agent's process at once"}},
       .example = "perdure cancel parser",
       .run = cancel},
  };
}

}  // namespace perdure::cli
