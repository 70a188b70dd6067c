// Verbs for maintenance: doctor, why, repair, export, import, version.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

#include "base/json/fields_json.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"
#include "perdure/verbs/words.h"

namespace perdure::cli {
namespace {

Outcome<int> why(VerbCall& call) {
  const SessionBrief session = TRY(call.session_or_here(0));
  const std::vector<std::string> sentences = why_sentences(session, call.world().now());
  if (call.is_json()) {
    JsonWriter out;
    out.begin_object().key("session_id").string(session.id).key("why").begin_array();
    for (const std::string& sentence : sentences) out.string(sentence);
    call.print_line(out.end_array().end_object().text());
    return exit_done;
  }
  for (const std::string& sentence : sentences) call.print_line(sentence);
  return exit_done;
}

std::string heard_words(JsonView node) {
  if (node["self"].flag()) return "this one";
  return (node["silent"].flag() ? "silent for " : "heard ") +
         std::to_string(node["heard_ms"].number() / 1000) +
         (node["silent"].flag() ? " s" : " s ago");
}

Outcome<int> nodes(VerbCall& call) {
  const Answered answer = TRY(call.get("/api/nodes"));
  if (call.print_json(answer)) return exit_done;
  const std::vector<JsonView> items = answer["nodes"].items();
  if (items.empty()) {
    call.print_line("Single daemon (no shared database).");
    return exit_done;
  }
  call.print_line(pad("NODE", 20) + pad("HEARD", 20) + pad("HOME", 10) + "ADDRESS");
  for (const JsonView node : items) {
    call.print_line(pad(clean_line(node["name"].text()), 20) + pad(heard_words(node), 20) +
                    pad(clean_line(node["home"].text()).substr(0, 8), 10) +
                    clean_line(node["address"].text()));
  }
  return exit_done;
}

// Only if several daemons share the journal.
void check_nodes(VerbCall& call, std::vector<DoctorCheck>& checks) {
  const auto answer = call.get("/api/nodes");
  if (!answer) return;
  const std::vector<JsonView> items = (*answer)["nodes"].items();
  if (items.empty()) return;
  std::string silent;
  for (const JsonView node : items) {
    if (node["silent"].flag()) silent += (silent.empty() ? "" : ", ") + node["name"].text();
  }
  const std::string count = std::to_string(items.size()) + " daemons share the database";
  checks.push_back(
      {"nodes", silent.empty() ? "ok" : "warn",
       count + (silent.empty() ? "" : "; no sign of " + silent),
       silent.empty() ? "" : "start it again; the others have taken over its sessions"});
}

// Checks that need a running daemon.
void check_daemon(VerbCall& call, std::vector<DoctorCheck>& checks) {
  const auto api = call.daemon();
  if (!api) {
    checks.push_back({"daemon", "warn", api.error().message,
                      "commands that need it start it; `perdure serve` shows its messages"});
    return;
  }
  checks.push_back({"daemon", "ok", "it answers", ""});
  const auto agents = call.get("/api/agents");
  if (!agents) {
    checks.push_back({"access", "fail", agents.error().message,
                      "run as the owner of the data folder, or give a token"});
    return;
  }
  checks.push_back({"agents", "ok",
                    std::to_string((*agents)["agents"].items().size()) + " agents are known", ""});
  if (const auto inbox = call.get("/api/inbox")) {
    const std::size_t waiting = (*inbox)["items"].items().size();
    checks.push_back({"inbox", waiting > 0 ? "warn" : "ok",
                      std::to_string(waiting) + " items in the inbox",
                      waiting > 0 ? "perdure inbox" : ""});
  }
  check_nodes(call, checks);
}

Outcome<int> doctor(VerbCall& call) {
  std::vector<DoctorCheck> checks;
  if (call.world().local.doctor) checks = call.world().local.doctor();
  check_daemon(call, checks);
  bool has_failed = false;
  for (const DoctorCheck& check : checks) {
    has_failed |= check.verdict == "fail";
    if (call.is_json()) {
      call.print_line(encode_fields(check));
      continue;
    }
    const Ink ink = check.verdict == "ok"     ? Ink::green
                    : check.verdict == "warn" ? Ink::yellow
                                              : Ink::red;
    call.print_line(call.style().paint(ink, pad(check.verdict, 5)) + pad(check.name, 14) + " " +
                    clean_line(check.message));
    if (!check.advice.empty()) {
      call.print_line(std::string(20, ' ') +
                      call.style().paint(Ink::dim, "→ " + clean_line(check.advice)));
    }
  }
  return has_failed ? exit_failed : exit_done;
}

void print_steps(VerbCall& call, const RepairReport& report) {
  if (call.is_json()) {
    call.print_line(encode_fields(report));
    return;
  }
  if (report.steps.empty()) call.print_line("Nothing to repair.");
  for (const std::string& step : report.steps) {
    call.print_line((report.dry_run ? "would: " : "done: ") + clean_line(step));
  }
}

// A record that a repair would append.
std::string repair_words(JsonView record) {
  const std::string kind = record["kind"].text();
  if (kind == "repair.closed_message") return "close the unfinished message";
  if (kind == "repair.closed_tool") {
    return "close the tool call " + record["tool_call_id"].text() + " as " +
           record["outcome"].text();
  }
  if (kind == "run.interrupted") {
    return "end the run as interrupted: " + interruption_words(record["reason"].text());
  }
  return "add " + kind;
}

// A running daemon repairs one named session; otherwise this process repairs that or all sessions.
Outcome<int> repair(VerbCall& call) {
  const bool is_dry = call.args().has("dry-run");
  const std::string word = call.args().word(0);
  if (const auto api = call.daemon(); api && !word.empty()) {
    const SessionBrief session = TRY(call.session(word));
    Change change{.path = session_path(session.id, "/repair")};
    if (is_dry) change.query.emplace_back("dry_run", "1");
    const Answered answer = TRY(call.change(std::move(change)));
    if (call.print_json(answer)) return exit_done;
    RepairReport report{.dry_run = is_dry, .steps = {}};
    for (const JsonView record : answer["records"].items()) {
      report.steps.push_back(repair_words(record));
    }
    if (!is_dry && !answer["nothing_to_do"].flag()) {
      report.steps.emplace_back("close everything left open");
    }
    print_steps(call, report);
    return exit_done;
  }
  if (!call.world().local.repair) {
    return std::unexpected(
        Trouble::of(Error(Code::internal, "this build can only repair through a running daemon")));
  }
  print_steps(call, TRY(told(call.world().local.repair({.session = word, .dry_run = is_dry}))));
  return exit_done;
}

std::unexpected<Trouble> file_trouble(const std::string& doing) {
  return std::unexpected(Trouble::of(Error(Code::internal, doing + ": " + std::strerror(errno))));
}

// A new file that only its owner can read; an existing one is replaced only with --force.
Outcome<> write_file(const std::string& path, std::string_view bytes, const Args& args) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (args.has("force") ? O_TRUNC : O_EXCL);
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0) return file_trouble("write " + path);
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int error = errno;
      ::close(fd);
      errno = error;
      return file_trouble("write " + path);
    }
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::close(fd) != 0) return file_trouble("write " + path);
  return {};
}

Outcome<int> export_session(VerbCall& call) {
  const SessionBrief session = TRY(call.session(call.args().word(0)));
  const std::string file = TRY(call.get_text(session_path(session.id, "/export"), "*/*"));
  const auto path = call.args().value("output");
  if (!path || *path == "-") {
    call.print_raw_json(file);
    return exit_done;
  }
  TRY_VOID(write_file(*path, file, call.args()));
  call.remark("wrote " + std::to_string(file.size()) + " bytes to " + *path);
  return exit_done;
}

Outcome<int> import_session(VerbCall& call) {
  const std::string path = call.args().word(0);
  std::string file;
  if (path == "-") {
    file = TRY(told(call.world().console.read_input()));
  } else {
    std::ifstream in(path, std::ios::binary);
    if (!in) return file_trouble("read " + path);
    file.assign(std::istreambuf_iterator<char>(in), {});
  }
  if (file.size() > input_bytes_max) return usage(path + " is too large to import");
  const Answered answer = TRY(call.change({.path = "/api/import", .body = std::move(file)}));
  if (!call.print_json(answer)) call.print_line(read_session(answer.view()).id);
  return exit_done;
}

Outcome<int> version(VerbCall& call) {
  if (call.is_json()) {
    JsonWriter out;
    out.begin_object().key("version").string(call.world().local.version).end_object();
    call.print_line(out.text());
  } else {
    call.print_line("perdure " + call.world().local.version);
  }
  return exit_done;
}

}  // namespace

std::vector<Verb> care_verbs() {
  const Positional one_session = {"SESSION", Count::optional, Completes::session};
  return {
      {.name = "doctor",
       .group = Group::care,
       .summary = "check this installation and suggest fixes",
       .example = "perdure doctor",
       .needs = Needs::nothing,
       .run = doctor},
      {.name = "nodes",
       .group = Group::care,
       .summary = "the daemons that share this one's database",
       .example = "perdure nodes",
       .run = nodes},
      {.name = "why",
       .group = Group::care,
       .summary = "explain a session's status and the next step",
       .positionals = {one_session},
       .example = "perdure why parser",
       .run = why},
      {.name = "repair",
       .group = Group::care,
       .summary = "close what a crash left open in a session's journal",
       .positionals = {one_session},
       .options = {{.name = "dry-run", .letter = 'n', .help = "only show what would be done"}},
       .detail =
           "Only adds records. Works without a daemon, too; then it repairs all sessions unless "
           "all.",
       .example = "perdure repair parser --dry-run",
       .needs = Needs::nothing,
       .run = repair},
      {.name = "version",
       .group = Group::care,
       .summary = "print the version",
       .example = "perdure version",
       .needs = Needs::nothing,
       .run = version},
      {.name = "export",
       .group = Group::read,
       .summary = "export a session to a portable file",
       .positionals = {{"SESSION", Count::one, Completes::session}},
       .options = {{.name = "output",
                    .letter = 'o',
                    .value_name = "FILE",
                    .help = "the file; default: standard output",
                    .completes = Completes::file},
                   {.name = "force", .letter = 'f', .help = "overwrite an existing file"}},
       .example = "perdure export parser -o parser.perdure",
       .run = export_session},
      {.name = "import",
       .group = Group::read,
       .summary = "import a session from an exported file; prints the new id",
       .positionals = {{"FILE", Count::one, Completes::file}},
       .detail =
           "Nothing in the file is executed. Choose its agent and folder before you resume it.",
       .example = "perdure import parser.perdure",
       .run = import_session},
  };
}

}  // namespace perdure::cli
