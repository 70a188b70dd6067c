// Verbs that work on the data folder itself, with functions from perdure/offline: verify, store,
// backup, restore, gc, service, config.
#include <chrono>
#include <thread>

#include "base/json/fields_json.h"
#include "base/json/json.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

std::unexpected<Trouble> missing() {
  return std::unexpected(
      Trouble::of(Error(Code::internal, "this build does not include that command")));
}

constexpr int restart_looks = 600;
constexpr auto look_again = std::chrono::milliseconds(100);

// By a running daemon: it verifies in the background and reports its progress.
Outcome<VerifyReport> verify_by_daemon(VerbCall& call) {
  TRY(call.change({.path = "/api/verify"}));
  while (true) {
    const Answered answer = TRY(call.get("/api/verify"));
    const std::uint64_t done = answer["sessions_done"].number();
    if (!answer["done"].flag()) {
      if (call.world().console.is_interactive() && !call.is_json()) {
        call.world().console.err("\r" + std::to_string(done) + " of " +
                                 std::to_string(answer["sessions"].number()) + " sessions ");
      }
      std::this_thread::sleep_for(look_again);
      continue;
    }
    if (const std::string error = answer["error"].text(); !error.empty()) {
      return std::unexpected(Trouble::of(Error(Code::internal, error)));
    }
    VerifyReport report{.sessions = done, .records = answer["records"].number()};
    for (const JsonView damaged : answer["damaged"].items()) {
      report.damaged.push_back(
          {damaged["session"].text(), damaged["good_records"].number(), damaged["message"].text()});
    }
    return report;
  }
}

Outcome<VerifyReport> verify_anyhow(VerbCall& call) {
  const std::string word = call.args().word(0);
  if (!call.daemon()) {
    if (!call.world().local.verify) return missing();
    return told(call.world().local.verify(word));
  }
  VerifyReport report = TRY(verify_by_daemon(call));
  if (word.empty()) return report;
  const std::string id = TRY(call.session(word)).id;
  std::erase_if(report.damaged, [&](const DamagedSession& each) { return each.session != id; });
  return report;
}

// Damage to the store as a whole names no session.
std::string sentence_of(const DamagedSession& damaged) {
  if (damaged.session.empty()) return "damaged: " + clean_line(damaged.message);
  return "damaged: " + damaged.session + " is good up to record " +
         std::to_string(damaged.good_records) + ": " + clean_line(damaged.message);
}

int print_verified(VerbCall& call, const VerifyReport& report) {
  if (call.is_json()) {
    call.print_line(encode_fields(report));
  } else {
    call.print_line(std::to_string(report.sessions) + " sessions with " +
                    std::to_string(report.records) + " records were read.");
    for (const DamagedSession& damaged : report.damaged) call.print_line(sentence_of(damaged));
    if (report.damaged.empty()) call.print_line("No damage found.");
  }
  return report.damaged.empty() ? exit_done : exit_failed;
}

Outcome<int> verify(VerbCall& call) { return print_verified(call, TRY(verify_anyhow(call))); }

Outcome<int> store_verify(VerbCall& call) {
  if (!call.world().local.store_verify) return missing();
  return print_verified(call, TRY(told(call.world().local.store_verify(call.args().word(0)))));
}

Outcome<int> store_copy(VerbCall& call) {
  if (!call.world().local.store_copy) return missing();
  const bool is_watched = call.world().console.is_interactive() && !call.is_json();
  CopyLocally order{.from = call.args().word(0), .to = call.args().word(1), .on_progress = {}};
  if (is_watched) {
    order.on_progress = [&](const std::string& sentence) {
      call.world().console.err("\r\x1b[K" + clean_line(sentence));
    };
  }
  const auto copied = told(call.world().local.store_copy(order));
  if (is_watched) call.world().console.err("\r\x1b[K");
  const CopyReport report = TRY(copied);
  if (call.is_json()) {
    call.print_line(encode_fields(report));
  } else {
    call.print_line("copied and compared: " + std::to_string(report.sessions) + " sessions, " +
                    std::to_string(report.records) + " records, " + std::to_string(report.answers) +
                    " stored answers, " + std::to_string(report.blobs) + " blobs");
  }
  return exit_done;
}

// Whether a person agrees, or --yes was given.
Outcome<bool> is_agreed(VerbCall& call, const std::string& question) {
  if (call.args().has("yes")) return true;
  const auto typed = call.world().console.ask(question + " [y/N] ");
  if (!typed) return usage("Not a terminal: pass --yes to go on without confirmation.");
  if (*typed == "y" || *typed == "Y" || *typed == "yes") return true;
  call.remark("nothing was changed");
  return false;
}

Outcome<int> store_salvage(VerbCall& call) {
  if (!call.world().local.store_salvage) return missing();
  if (!TRY(
          is_agreed(call, "Recover what can be read? The damaged log is kept beside the store."))) {
    return exit_refused;
  }
  const SalvageReport report = TRY(told(call.world().local.store_salvage(call.args().word(0))));
  if (call.is_json()) {
    call.print_line(encode_fields(report));
    return report.damaged.empty() ? exit_done : exit_failed;
  }
  for (const std::string& path : report.kept) {
    call.print_line("the damaged log is kept: " + clean_line(path));
  }
  if (report.indexes_rebuilt > 0) {
    call.print_line("rebuilt the index, which was damaged for " +
                    std::to_string(report.indexes_rebuilt) + " sessions");
  }
  return print_verified(call, {report.sessions, report.records, report.damaged});
}

void print_report(VerbCall& call, std::string_view done, const FileReport& report) {
  if (call.is_json()) {
    call.print_line(encode_fields(report));
    return;
  }
  call.print_line(std::string(done) + " " + std::to_string(report.sessions) + " sessions, " +
                  std::to_string(report.bytes) + " bytes: " + clean_line(report.file));
  if (report.damaged.empty()) return;
  call.print_line(
      "Warning: some records are damaged. The sessions named here are read-only; the "
      "others are whole.");
  for (const DamagedSession& damaged : report.damaged) call.print_line(sentence_of(damaged));
}

// A running daemon makes the copy itself: no other process may open its store.
Outcome<int> backup(VerbCall& call) {
  const std::string path = call.whole_path(call.args().word(0));
  if (call.daemon()) {
    JsonWriter body;
    body.begin_object().key("path").string(path).end_object();
    const Answered answer =
        TRY(call.change({.path = "/api/backup", .body = std::move(body).take()}));
    if (!call.print_json(answer)) call.print_line("saved: " + clean_line(answer["path"].text()));
    return exit_done;
  }
  if (!call.world().local.backup) return missing();
  print_report(call, "saved", TRY(told(call.world().local.backup(path))));
  return exit_done;
}

Outcome<int> restore(VerbCall& call) {
  if (!call.world().local.restore) return missing();
  const RestoreLocally wanted{.file = call.args().word(0), .replace = call.args().has("replace")};
  if (wanted.replace &&
      !TRY(is_agreed(call, "Replace everything in the data folder with this backup?"))) {
    return exit_refused;
  }
  print_report(call, "restored", TRY(told(call.world().local.restore(wanted))));
  return exit_done;
}

// A running daemon does it itself: only it knows which sessions are being created.
Outcome<GcReport> collect(VerbCall& call, const GcLocally& order) {
  if (!call.daemon()) {
    if (!call.world().local.gc) return missing();
    return told(call.world().local.gc(order));
  }
  JsonWriter body;
  body.begin_object().key("dry_run").boolean(order.dry_run).end_object();
  const Answered answer = TRY(call.change({.path = "/api/gc", .body = std::move(body).take()}));
  GcReport report{.dry_run = order.dry_run};
  report.bytes = answer["bytes"].number();
  for (const JsonView line : answer["removed"].items()) report.removed.push_back(line.text());
  return report;
}

// D6: the running daemon restarts itself, and the verb waits for the new one.
Outcome<int> restart(VerbCall& call) {
  const std::string before = TRY(call.get("/api/daemon"))["boot_id"].text();
  TRY(call.change({.path = "/api/restart"}));
  for (int i = 0; i < restart_looks; ++i) {
    const auto now = call.get("/api/daemon");
    if (now && (*now)["boot_id"].text() != before) {
      if (!call.print_json(*now)) {
        call.print_line("restarted: perdure " + clean_line((*now)["version"].text()));
      }
      return exit_done;
    }
    std::this_thread::sleep_for(look_again);
  }
  return std::unexpected(
      Trouble::of(Error(Code::unavailable, "the daemon did not come back within 60 s")));
}

Outcome<int> gc(VerbCall& call) {
  const bool is_dry = call.args().has("dry-run");
  if (!is_dry && !call.args().has("yes")) {
    return usage("gc deletes files: check with --dry-run first, then pass --yes");
  }
  const GcReport report = TRY(collect(call, {.dry_run = is_dry}));
  if (call.is_json()) {
    call.print_line(encode_fields(report));
    return exit_done;
  }
  for (const std::string& line : report.removed) call.print_line(clean_line(line));
  call.print_line((report.dry_run ? "would free " : "freed ") + std::to_string(report.bytes) +
                  " bytes");
  return exit_done;
}

void print_sentences(VerbCall& call, const std::string& text) {
  if (call.is_json()) {
    JsonWriter out;
    out.begin_object().key("text").string(text).end_object();
    call.print_line(out.text());
  } else {
    call.print(text.ends_with('\n') || text.empty() ? text : text + "\n");
  }
}

Outcome<int> service_install(VerbCall& call) {
  if (!call.world().local.service_install) return missing();
  print_sentences(
      call, TRY(told(call.world().local.service_install({.enable = call.args().has("enable")}))));
  return exit_done;
}

Outcome<int> service_status(VerbCall& call) {
  if (!call.world().local.service_status) return missing();
  print_sentences(call, TRY(told(call.world().local.service_status())));
  return exit_done;
}

Outcome<int> config_show(VerbCall& call) {
  if (!call.world().local.config_show) return missing();
  print_sentences(call, TRY(told(call.world().local.config_show())));
  return exit_done;
}

std::vector<Verb> engine_verbs() {
  return {
      {.name = "store copy",
       .group = Group::care,
       .summary = "copy a store, optionally to another engine, and compare the two",
       .positionals = {{"FROM", Count::one, Completes::file}, {"TO", Count::one, Completes::file}},
       .detail = "FROM and TO are sqlite:FILE or files:FOLDER; FROM may also be a data folder. No "
                 "daemon may use either. TO must not exist yet.",
       .example = "perdure store copy ~/.local/state/perdure files:/srv/perdure",
       .needs = Needs::nothing,
       .run = store_copy},
      {.name = "store verify",
       .group = Group::care,
       .summary = "read every record of a store that no daemon uses",
       .positionals = {{"PLACE", Count::one, Completes::file}},
       .example = "perdure store verify files:/srv/perdure",
       .needs = Needs::nothing,
       .run = store_verify},
      {.name = "store salvage",
       .group = Group::care,
       .summary = "recover what can be read of a journal with a damaged log or index",
       .positionals = {{"PLACE", Count::optional, Completes::file}},
       .options = {{.name = "yes", .letter = 'y', .help = "do not ask"}},
       .detail = "For a daemon that does not start because its journal is damaged. Nothing is "
                 "deleted: the damaged log is kept beside the store, as -wal.damaged or "
                 "commits.damaged. A session that lost records is read-only up to them. Without "
                 "PLACE, it uses the journal of the data folder. No daemon may use it.",
       .example = "perdure store salvage",
       .needs = Needs::nothing,
       .run = store_salvage},
  };
}

std::vector<Verb> data_verbs() {
  return {
      {.name = "verify",
       .group = Group::care,
       .summary = "read every record and check it for damage",
       .positionals = {{"SESSION", Count::optional, Completes::session}},
       .example = "perdure verify",
       .needs = Needs::nothing,
       .run = verify},
      {.name = "backup",
       .group = Group::care,
       .summary = "save all sessions into one file",
       .positionals = {{"FILE", Count::one, Completes::file}},
       .example = "perdure backup perdure.backup",
       .needs = Needs::nothing,
       .run = backup},
      {.name = "restore",
       .group = Group::care,
       .summary = "restore a backup; stops this data folder's agents first",
       .positionals = {{"FILE", Count::one, Completes::file}},
       .options = {{.name = "replace", .help = "replace the current journal"},
                   {.name = "yes", .letter = 'y', .help = "do not ask"}},
       .example = "perdure restore perdure.backup --replace",
       .needs = Needs::nothing,
       .run = restore},
      {.name = "gc",
       .group = Group::care,
       .summary = "delete files that nothing refers to",
       .options = {{.name = "dry-run", .letter = 'n', .help = "only show what would be removed"},
                   {.name = "yes", .letter = 'y', .help = "do it"}},
       .example = "perdure gc --dry-run",
       .needs = Needs::nothing,
       .run = gc},
      {.name = "restart",
       .group = Group::care,
       .summary = "restart the daemon with the installed program; agents keep running",
       .detail = "Also works inside a session.",
       .example = "perdure restart",
       .run = restart},
      {.name = "service install",
       .group = Group::care,
       .summary = "run the daemon as a service of this user",
       .options = {{.name = "enable", .help = "start it now and at every login"}},
       .example = "perdure service install --enable",
       .needs = Needs::nothing,
       .run = service_install},
      {.name = "service status",
       .group = Group::care,
       .summary = "show whether it runs as a service",
       .example = "perdure service status",
       .needs = Needs::nothing,
       .run = service_status},
      {.name = "config show",
       .group = Group::care,
       .summary = "print the settings in effect",
       .example = "perdure config show",
       .needs = Needs::nothing,
       .run = config_show},
  };
}

}  // namespace

std::vector<Verb> store_verbs() {
  std::vector<Verb> verbs = data_verbs();
  for (Verb& verb : engine_verbs()) verbs.push_back(std::move(verb));
  return verbs;
}

}  // namespace perdure::cli
