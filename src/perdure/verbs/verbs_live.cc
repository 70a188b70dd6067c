// Verbs that create and show sessions: serve, run, new, ls, show, status.
#include <algorithm>
#include <charconv>

#include "base/json/json.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/attach/watching.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"
#include "perdure/verbs/words.h"

namespace perdure::cli {
namespace {

Outcome<int> serve(VerbCall& call) {
  const Args& args = call.args();
  if (!call.world().local.serve) {
    return std::unexpected(Trouble::of(Error(Code::internal, "this build has no daemon")));
  }
  ServeOptions options;
  if (const auto listen = args.value("listen")) options.listen.push_back(*listen);
  options.config = args.value("config").value_or("");
  options.tls_certificate = args.value("tls-certificate").value_or("");
  options.tls_key = args.value("tls-key").value_or("");
  options.store = args.value("store").value_or("");
  const bool is_database =
      options.store.starts_with("postgres://") || options.store.starts_with("postgresql://");
  if (!options.store.empty() && options.store != "sqlite" && options.store != "files" &&
      !is_database) {
    return usage("--store must be sqlite, files or postgres://…");
  }
  options.node = args.value("node").value_or("");
  options.advertise = args.value("advertise").value_or("");
  options.executions = args.value("executions").value_or("");
  if (const auto lease = args.value("lease")) {
    const auto [end, error] =
        std::from_chars(lease->data(), lease->data() + lease->size(), options.lease_secs);
    if (error != std::errc() || end != lease->data() + lease->size() || options.lease_secs < 1) {
      return usage("--lease must be a number of seconds");
    }
  }
  options.background = args.has("background");
  options.clean_start = args.has("clean-start");
  options.stop = args.has("stop");
  // An agent must not stop the daemon that serves it.
  if (options.stop && call.world().environment("PERDURE_SESSION")) {
    return std::unexpected(
        Trouble::of(Error(Code::denied, "a process inside a session may not stop the daemon")));
  }
  return call.world().local.serve(options);
}

Outcome<std::string> prompt_of(VerbCall& call, std::size_t place) {
  std::string text = call.args().rest(place);
  if (text != "-") return text;
  return told(call.world().console.read_input());
}

struct NewSession {
  std::string agent;   // empty: the default one
  std::string prompt;  // empty: none yet
};

Outcome<Answered> create(VerbCall& call, const NewSession& wanted) {
  const auto& [agent, prompt] = wanted;
  const Args& args = call.args();
  JsonWriter body;
  body.begin_object();
  if (!agent.empty()) body.key("agent").string(agent);
  // A folder on another host is not resolved here.
  if (args.has("remote")) {
    if (const auto cwd = args.value("cwd")) body.key("cwd").string(*cwd);
  } else if (!args.has("no-cwd")) {
    body.key("cwd").string(call.whole_path(args.value("cwd").value_or("")));
  }
  if (const auto title = args.value("title")) body.key("title").string(*title);
  if (const auto task = args.value("task")) body.key("task_id").string(*task);
  if (const auto runtime = args.value("runtime")) body.key("runtime").string(*runtime);
  if (const auto image = args.value("image")) body.key("image").string(*image);
  if (const auto remote = args.value("remote")) body.key("remote").string(*remote);
  if (args.has("worktree") || args.has("branch")) {
    body.key("worktree").begin_object();
    if (const auto branch = args.value("branch")) body.key("branch").string(*branch);
    body.end_object();
  }
  if (!prompt.empty()) body.key("prompt").string(prompt);
  body.end_object();
  return call.change({.path = "/api/sessions", .body = std::move(body).take()});
}

Outcome<int> run(VerbCall& call) {
  const Args& args = call.args();
  const auto timeout = TRY(args.duration_ms("timeout"));
  const std::string prompt = TRY(prompt_of(call, 1));
  const Answered created = TRY(create(call, {.agent = args.word(0), .prompt = prompt}));
  const SessionBrief session = read_session(created.view());
  if (args.has("detach")) {
    if (!call.print_json(created)) call.print_line(session.id);
    return exit_done;
  }
  if (call.world().console.is_interactive() && !call.is_json()) {
    client::DaemonApi* api = TRY(call.daemon());
    return call.world().attach(
        *api, {.session = session.id, .after = 0, .first_note = {}, .host = call.host()});
  }
  if (prompt.empty()) {
    if (!call.print_json(created)) call.print_line(session.id);
    return exit_done;
  }
  const Watched watched = TRY(watch_session(call, {.session = session.id,
                                                   .run = created["run_id"].text(),
                                                   .until_run_ends = true,
                                                   .timeout_ms = timeout}));
  return exit_of(watched);
}

Outcome<int> make_new(VerbCall& call) {
  const Answered created = TRY(create(call, {.agent = call.args().word(0), .prompt = ""}));
  if (!call.print_json(created)) call.print_line(read_session(created.view()).id);
  return exit_done;
}

std::string waits_text(const SessionBrief& session, Timestamp now) {
  if (session.pending_count > 0) {
    const std::string count = session.pending_count > 1
                                  ? std::to_string(session.pending_count) + " questions"
                                  : std::string("for an answer");
    if (session.pending_since.ms == 0) return count;
    return age_text(now.ms - session.pending_since.ms) + " " + count;
  }
  if (session.limit_reset.ms != 0) {
    return "limit, " + age_text(session.limit_reset.ms - now.ms) + " left";
  }
  if (needs_login(session)) return "login needed";
  if (session.queue_held) return std::to_string(session.queue_length) + " held";
  if (session.queue_length > 0) return std::to_string(session.queue_length) + " queued";
  return "-";
}

Ink status_ink(const SessionBrief& session) {
  if (session.status == "waiting") return Ink::yellow;
  if (session.status == "running") return Ink::green;
  if (session.status.starts_with("interrupted")) return Ink::red;
  if (session.state == "FAILED" || session.state == "ERROR") return Ink::red;
  return Ink::plain;
}

std::string status_text(const SessionBrief& session) {
  if (session.archived) return "archived";
  if (session.status == "idle" && session.state == "FAILED") return "failed";
  if (session.status == "idle" && session.state == "ERROR") return "error";
  return session.status;
}

// The home folder is shortened to `~` to save room.
std::string folder_text(VerbCall& call, const std::string& cwd) {
  const std::string home = call.world().environment("HOME").value_or("");
  if (!home.empty() && (cwd == home || cwd.starts_with(home + "/"))) {
    return "~" + cwd.substr(home.size());
  }
  return cwd;
}

// Adds where the agent runs, unless that is simply this machine.
std::string agent_text(const SessionBrief& session) {
  const std::string agent = clean_line(session.agent);
  if (session.runtime.empty() || session.runtime == "standalone") return agent;
  return agent + " @" + clean_line(session.runtime);
}

struct Row {
  std::vector<std::string> cells;
  Ink ink = Ink::plain;
};

// Adds each session's owner if several daemons have sessions.
void add_nodes(std::vector<Row>& rows, const std::vector<SessionBrief>& sessions) {
  if (std::ranges::all_of(sessions, [](const auto& one) { return one.node.empty(); })) return;
  const auto put = [](Row& row, std::string text) {
    row.cells.insert(row.cells.end() - 1, std::move(text));
  };
  put(rows[0], "NODE");
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    put(rows[i + 1], sessions[i].node.empty() ? "this one" : clean_line(sessions[i].node));
  }
}

void print_table(VerbCall& call, const std::vector<Row>& rows) {
  std::vector<std::size_t> most = {28, 26, 20, 32, 6, 60};
  if (rows[0].cells.size() > most.size()) most.insert(most.end() - 1, 20);
  std::vector<std::size_t> widths(most.size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      widths[i] = std::min(most[i], std::max(widths[i], text_width(row.cells[i])));
    }
  }
  const Style style = call.style();
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const bool is_last = i + 1 == row.cells.size();
      const std::string cell =
          is_last ? shorten(row.cells[i], widths[i]) : pad(row.cells[i], widths[i]) + "  ";
      line += i == 2 ? style.paint(row.ink, cell) : cell;
    }
    call.print_line(line);
  }
}

Outcome<std::vector<Answered>> session_pages(VerbCall& call) {
  const Args& args = call.args();
  Query query = {{"limit", "1000"}};
  if (args.has("all")) query.emplace_back("archived", "all");
  if (const auto status = args.value("status")) query.emplace_back("status", *status);
  if (const auto agent = args.value("agent")) query.emplace_back("agent", *agent);
  if (const auto task = args.value("task")) query.emplace_back("task_id", *task);
  std::vector<Answered> pages;
  std::string next;
  do {
    Query page = query;
    if (!next.empty()) page.emplace_back("cursor", next);
    pages.push_back(TRY(call.get("/api/sessions", std::move(page))));
    next = pages.back()["next"].text();
  } while (!next.empty());
  return pages;
}

bool is_shown(VerbCall& call, const SessionBrief& session) {
  if (session.archived && !call.args().has("all")) return false;
  return !call.args().has("here") || session.cwd == call.world().cwd;
}

// Sessions that wait for a person come first, the longest waiting at the top.
bool comes_before(const SessionBrief& a, const SessionBrief& b) {
  if ((a.pending_count > 0) != (b.pending_count > 0)) return a.pending_count > 0;
  if (a.pending_count > 0 && a.pending_since != b.pending_since) {
    return a.pending_since < b.pending_since;
  }
  if (a.updated != b.updated) return a.updated > b.updated;
  return a.id < b.id;
}

Outcome<int> ls(VerbCall& call) {
  const std::vector<Answered> pages = TRY(session_pages(call));
  std::vector<SessionBrief> sessions;
  for (const Answered& page : pages) {
    for (const JsonView item : page["sessions"].items()) {
      SessionBrief session = read_session(item);
      if (!is_shown(call, session)) continue;
      if (call.is_json()) call.print_line(item.raw());
      sessions.push_back(std::move(session));
    }
  }
  if (call.is_json()) return exit_done;
  if (sessions.empty()) {
    call.print_line("No sessions here. Start one: `perdure run demo hello`");
    return exit_done;
  }
  std::ranges::sort(sessions, comes_before);
  const Timestamp now = call.world().now();
  std::vector<Row> rows = {{{"NAME/ID", "AGENT", "STATUS", "WAITS", "AGE", "CWD"}, Ink::plain}};
  for (const SessionBrief& session : sessions) {
    const std::string name =
        session.title.empty() ? short_id(session.id)
                              : shorten(clean_line(session.title), 18) + " " + short_id(session.id);
    rows.push_back(
        {{name, agent_text(session), status_text(session), waits_text(session, now),
          age_text(now.ms - session.created.ms), clean_line(folder_text(call, session.cwd))},
         status_ink(session)});
  }
  add_nodes(rows, sessions);
  print_table(call, rows);
  return exit_done;
}

void print_field(VerbCall& call, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  call.print_line(call.style().paint(Ink::dim, pad(name, 12)) + clean_line(value));
}

Outcome<int> show(VerbCall& call) {
  const SessionBrief found = TRY(call.session_or_here(0));
  const Answered answer = TRY(call.get(session_path(found.id)));
  if (call.print_json(answer)) return exit_done;
  const SessionBrief session = read_session(answer.view());
  const Timestamp now = call.world().now();
  call.print_line(call.style().paint(Ink::bold, clean_line(session.name())));
  print_field(call, "id", session.id);
  print_field(call, "agent", session.agent);
  print_field(call, "status", session.status + " (" + session.state + ")");
  print_field(call, "folder", session.cwd);
  print_field(call, "branch", session.worktree_branch);
  print_field(call, "executor", session.executor_status + ", agent " + session.liveness);
  if (session.runtime != "standalone") print_field(call, "runtime", session.runtime);
  print_field(call, "image", session.image);
  print_field(call, "remote", session.remote);
  print_field(call, "node", session.node);
  print_field(call, "container", session.container_id);
  print_field(call, "confinement",
              session.confinement_reason.empty()
                  ? session.confinement
                  : session.confinement + ": " + session.confinement_reason);
  print_field(
      call, "context",
      session.context.empty() ? "" : session.context + " (" + session.context_verified + ")");
  print_field(call, "stopped", session.stop_reason);
  if (session.limit_reset.ms != 0) {
    print_field(call, "limit", "reached " + reset_words(session.limit_reset, now));
  }
  print_field(call, "login", session.login_hint);
  print_field(call, "error", session.error_message);
  for (const Question& question : session.pending) print_field(call, "asks", question.title);
  if (session.queue_length > 0) {
    print_field(call, "queue",
                std::to_string(session.queue_length) +
                    (session.queue_held ? " prompts, held" : " prompts"));
  }
  print_field(call, "records", std::to_string(session.seq));
  print_field(call, "clients", std::to_string(session.connections));
  if (session.created.ms != 0) {
    print_field(
        call, "created",
        format_timestamp(session.created) + " (" + age_text(now.ms - session.created.ms) + " ago)");
  }
  return exit_done;
}

Outcome<int> status(VerbCall& call) {
  const SessionBrief session = TRY(call.session_or_here(0));
  const Answered answer = TRY(call.get(session_path(session.id, "/status")));
  if (call.print_json(answer)) return exit_done;
  const SessionBrief now = read_session(answer.view());
  std::string words = now.status.empty() ? session.status : now.status;
  if (now.limit_reset.ms != 0) {
    words += ": limit reached " + reset_words(now.limit_reset, call.world().now());
  } else if (needs_login(now)) {
    words += ": login needed";
    if (!now.login_hint.empty()) words += " (" + clean_line(now.login_hint) + ")";
  }
  call.print_line(words);
  return exit_done;
}

const Positional one_session = {"SESSION", Count::optional, Completes::session};

std::vector<Option> creation_options(std::vector<Option> more) {
  std::vector<Option> out = {
      {.name = "title", .letter = 't', .value_name = "TEXT", .help = "title of the session"},
      {.name = "cwd",
       .letter = 'C',
       .value_name = "FOLDER",
       .help = "work there, not here",
       .completes = Completes::file},
      {.name = "no-cwd", .help = "work in a new empty folder"},
      {.name = "worktree", .help = "work in a new git worktree"},
      {.name = "branch", .value_name = "NAME", .help = "branch of that worktree"},
      {.name = "task", .value_name = "ID", .help = "task the session belongs to"},
      {.name = "runtime",
       .value_name = "NAME",
       .help = "standalone, local_docker (in a container) or remote (on another host)"},
      {.name = "image", .value_name = "NAME", .help = "image of that container"},
      {.name = "remote",
       .value_name = "NAME",
       .help = "name of that host; --cwd is a folder there"},
  };
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::vector<Option> serve_options() {
  return {
      {.name = "listen", .value_name = "ADDRESS", .help = "of HTTP; else 127.0.0.1:7433"},
      {.name = "config",
       .value_name = "FILE",
       .help = "another config file",
       .completes = Completes::file},
      {.name = "tls-certificate",
       .value_name = "FILE",
       .help = "PEM, the chain",
       .completes = Completes::file},
      {.name = "tls-key", .value_name = "FILE", .help = "PEM", .completes = Completes::file},
      {.name = "store", .value_name = "STORE", .help = "sqlite, files, postgres://…"},
      {.name = "node", .value_name = "NAME", .help = "name of this daemon, on a shared database"},
      {.name = "advertise",
       .value_name = "URL",
       .help = "address at which other daemons reach this one"},
      {.name = "executions",
       .value_name = "FOLDER",
       .help = "folder for the agents that the daemons of this host share",
       .completes = Completes::file},
      {.name = "lease",
       .value_name = "SECONDS",
       .help = "seconds of silence before other daemons take over its sessions"},
      {.name = "background", .help = "detach; returns once it is ready"},
      {.name = "clean-start", .help = "archive all existing sessions first"},
      {.name = "stop", .help = "stop the daemon of this data folder; agents keep running"}};
}

}  // namespace

std::vector<Verb> live_verbs() {
  return {
      {.name = "serve",
       .summary = "run the daemon in the foreground",
       .options = serve_options(),
       .detail = "Serves the sessions of one data folder. The agents outlive it: stopping it stops "
                 "none of them, and the next daemon continues where it was.",
       .example = "perdure serve --listen 127.0.0.1:7433",
       .needs = Needs::nothing,
       .run = serve},
      {.name = "run",
       .summary = "start a session in this folder and attach to it",
       .positionals = {{"AGENT", Count::one, Completes::agent}, {"PROMPT", Count::any}},
       .options = creation_options(
           {{.name = "detach", .letter = 'd', .help = "print its id and leave it running"},
            {.name = "timeout",
             .value_name = "TIME",
             .help = "stop watching after this time (exit 124)"}}),
       .detail =
           "On a terminal this attaches; otherwise it prints what happens until the first turn has "
           "ended. If PROMPT is -, it is read from standard input.",
       .example = "perdure run claude \"fix the failing test\"\n"
                  "git diff | perdure run claude -d -",
       .run = run},
      {.name = "new",
       .summary = "create a session without a prompt; prints its id",
       .positionals = {{"AGENT", Count::optional, Completes::agent}},
       .options = creation_options({}),
       .example = "perdure new codex --title \"parser rewrite\"",
       .run = make_new},
      {.name = "ls",
       .summary = "list sessions, those waiting for you first",
       .options = {{.name = "all", .letter = 'a', .help = "archived ones too"},
                   {.name = "here", .help = "only those of this folder"},
                   {.name = "status", .value_name = "STATUS", .help = "only those"},
                   {.name = "agent",
                    .value_name = "AGENT",
                    .help = "only those",
                    .completes = Completes::agent},
                   {.name = "task", .value_name = "ID", .help = "only those"}},
       .example = "perdure ls --status waiting",
       .run = ls},
      {.name = "show",
       .summary = "show one session in detail",
       .positionals = {one_session},
       .detail = "Without SESSION, the newest session of this folder.",
       .example = "perdure show parser",
       .run = show},
      {.name = "status",
       .summary = "print a session's status in one word",
       .positionals = {one_session},
       .example = "perdure status parser --json",
       .run = status},
  };
}

}  // namespace perdure::cli
