// Verbs on agents: list them, and probe what one can really do.
#include <chrono>
#include <thread>

#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

constexpr auto look_again = std::chrono::milliseconds(200);

// A probe on this machine overrides a measurement made elsewhere.
std::string measured_words(JsonView agent) {
  if (const JsonView probe = agent["probe"]; probe.is_there()) {
    const std::string version = clean_line(probe["program_version"].text());
    return "here" + (version.empty() ? "" : ", " + version);
  }
  const std::string version = clean_line(agent["measured_version"].text());
  if (!agent["measured"].flag()) return "no";
  return version.empty() ? "yes" : version;
}

Outcome<int> agents_ls(VerbCall& call) {
  const Answered answer = TRY(call.get("/api/agents"));
  if (call.print_json(answer)) return exit_done;
  call.print_line(pad("NAME", 12) + pad("INSTALLED", 11) + pad("RESUMES", 9) + pad("MEASURED", 16) +
                  "COMMAND");
  for (const JsonView agent : answer["agents"].items()) {
    std::string command;
    for (const JsonView word : agent["command"].items()) {
      command += (command.empty() ? "" : " ") + clean_line(word.text());
    }
    const std::string presence = agent["presence"].text();
    if (presence == "missing") command = "→ " + clean_line(agent["install"].text());
    call.print_line(
        pad(clean_line(agent["name"].text()) + (agent["default"].flag() ? " *" : ""), 12) +
        pad(presence == "installed" ? "yes"
            : presence == "npx"     ? "by npx"
                                    : "no",
            11) +
        pad(agent["native_session_resume"].flag() ? "itself" : "history", 9) +
        pad(measured_words(agent), 16) + command);
  }
  return exit_done;
}

void print_step(VerbCall& call, JsonView step) {
  const std::string outcome = step["outcome"].text();
  const Ink ink = outcome == "yes"       ? Ink::green
                  : outcome == "failed"  ? Ink::red
                  : outcome == "skipped" ? Ink::dim
                                         : Ink::yellow;
  const std::uint64_t ms = step["ms"].number();
  call.print_line(pad(clean_line(step["name"].text()), 12) +
                  call.style().paint(ink, pad(clean_line(outcome), 9)) +
                  pad(ms == 0 ? "" : std::to_string(ms) + " ms", 10) +
                  clean_line(step["says"].text()));
}

void print_result(VerbCall& call, JsonView report) {
  const std::string rung = report["rung"].text();
  call.print_line("");
  call.print_line(rung == "inject"
                      ? "Its ended sessions get their history as text with the next prompt."
                      : "Its ended sessions are resumed by session/" + clean_line(rung) +
                            ", with their whole context.");
}

bool is_usable(JsonView report) {
  for (const JsonView step : report["steps"].items()) {
    if (step["name"].text() == "prompt") {
      return step["outcome"].text() == "yes" || step["outcome"].text() == "partly";
    }
  }
  return false;
}

Outcome<int> probe_one(VerbCall& call, const std::string& name) {
  const std::string path = "/api/agents/" + encode_segment(name) + "/probe";
  Answered answer = TRY(call.change({.path = path}));
  for (std::size_t shown = 0;;) {
    const std::vector<JsonView> steps = answer["steps"].items();
    for (; shown < steps.size() && !call.is_json(); ++shown) print_step(call, steps[shown]);
    if (!answer["running"].flag()) break;
    std::this_thread::sleep_for(look_again);
    answer = TRY(call.get(path));
  }
  if (const std::string error = answer["error"].text(); !error.empty()) {
    return std::unexpected(Trouble::of(Error(Code::unavailable, error)));
  }
  const JsonView report = answer["report"];
  if (call.is_json()) {
    call.print_line(report.raw());
  } else {
    print_result(call, report);
  }
  return is_usable(report) ? exit_done : exit_failed;
}

Outcome<int> agents_probe(VerbCall& call) {
  const std::vector<std::string>& names = call.args().words();
  int code = exit_done;
  for (const std::string& name : names) {
    if (names.size() > 1 && !call.is_json()) {
      call.print_line((&name == &names.front() ? "" : "\n") +
                      call.style().paint(Ink::bold, clean_line(name)));
    }
    if (TRY(probe_one(call, name)) != exit_done) code = exit_failed;
  }
  return code;
}

}  // namespace

std::vector<Verb> agent_verbs() {
  return {
      {.name = "agents ls",
       .group = Group::care,
       .summary = "list the known agents",
       .example = "perdure agents ls",
       .run = agents_ls},
      {.name = "agents probe",
       .group = Group::care,
       .summary = "start an agent and test what it can do",
       .positionals = {{"AGENT", Count::at_least_one, Completes::agent}},
       .detail = "In a scratch folder, with a few short prompts that its maker may charge for. "
                 "Kills it in the middle of a turn and sees what it still knows. Takes a minute "
                 "or two; the report is kept, and shown by agents ls, doctor and the web page.",
       .example = "perdure agents probe codex",
       .run = agents_probe},
  };
}

}  // namespace perdure::cli
