#include "probe/probing.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <utility>

#include <sys/types.h>

#include "base/json/json.h"

namespace perdure::probe {
namespace {

constexpr std::int64_t call_ms = 60'000;
constexpr std::int64_t turn_ms = 180'000;
constexpr std::int64_t cancel_ms = 30'000;
constexpr std::int64_t quiet_ms = 1'000;  // without an update for this long, a replay is over
constexpr std::int64_t end_ms = 5'000;
constexpr std::string_view made_file = "probe-made.txt";

std::string prompt_params(std::string_view session, std::string_view text) {
  JsonWriter json;
  json.begin_object().key("sessionId").string(session).key("prompt").begin_array();
  json.begin_object().key("type").string("text").key("text").string(text).end_object();
  json.end_array().end_object();
  return std::move(json).take();
}

std::string session_params(std::string_view session) {
  JsonWriter json;
  json.begin_object().key("sessionId").string(session).end_object();
  return std::move(json).take();
}

std::string remember(std::string_view word) {
  return "Remember this word: " + std::string(word) +
         ". Answer with that word only, and use no tools.";
}

constexpr std::string_view recall_prompt =
    "Which word did I ask you to remember? Answer with that word only, and use no tools.";
constexpr std::string_view count_prompt =
    "Count from 1 to 300, one number on each line, and use no tools.";
constexpr std::string_view tool_prompt =
    "Use your shell tool to run exactly this command, and nothing else: touch probe-made.txt";

std::int64_t wall_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string count_of(std::size_t count, std::string_view what) {
  const std::string_view plural = what.ends_with('s') ? "es" : "s";
  return std::to_string(count) + " " + std::string(what) + std::string(count == 1 ? "" : plural);
}

}  // namespace

Probing::Probing(AgentTalk::Ports ports, const ProbeOrder& order, Setting setting, OnStep on_step)
    : ports_(ports),
      order_(order),
      setting_(std::move(setting)),
      on_step_(std::move(on_step)),
      report_{.agent = order.agent, .at = setting_.now, .rung = "inject"} {}

Probing::~Probing() { end_life(); }

ProbeReport Probing::run() {
  if (add(initialize()) && add(open()) && add(prompt())) {
    first_life();
    reopen("session/resume", session_);
    reopen("session/load", other_);
    last_life();
  }
  end_life();
  constexpr std::string_view all[] = {"initialize", "new",  "prompt", "permission",
                                      "cancel",     "kill", "resume", "load",
                                      "unknown id", "two",  "end"};
  for (const std::string_view name : all) {
    const bool is_there = std::ranges::any_of(
        report_.steps, [&](const ProbeStep& step) { return step.name == name; });
    if (!is_there) add({.name = std::string(name), .says = "not tried"});
  }
  for (const std::string_view method : {"session/load", "session/resume"}) {
    if (std::ranges::find(report_.abilities, method) != report_.abilities.end()) {
      report_.rung = method.substr(method.find('/') + 1);
    }
  }
  return report_;
}

void Probing::first_life() {
  const Answer second = talk_->call({"session/new", open_params(), call_ms});
  other_ = second.view()["sessionId"].text();
  if (other_.empty() || !turn(other_, remember(setting_.word)).answer.is_good()) other_ = session_;
  add(permission());
  add(cancel());
  add(kill());
  end_life();
}

void Probing::reopen(std::string_view method, const std::string& session) {
  add(come_back(method, session));
  end_life();
}

void Probing::last_life() {
  if (!begin_life()) return;
  add(unknown_id());
  if (talk_->is_gone() && !begin_life()) return;
  add(two_at_once());
  if (talk_->is_gone() && !begin_life()) return;
  add(end_of_input());
}

// Returns whether the step succeeded.
bool Probing::add(ProbeStep step) {
  const bool is_good = step.outcome == ProbeOutcome::yes || step.outcome == ProbeOutcome::partly;
  on_step_(step);
  report_.steps.push_back(std::move(step));
  return is_good;
}

Answer Probing::start_program() {
  end_life();
  SpawnSpec spec{.command = order_.command, .cwd = setting_.folder};
  for (const auto& [name, value] : order_.environment) {
    spec.environment.push_back(name + "=" + value);
  }
  spec.environment.push_back(setting_.mark);
  Result<std::unique_ptr<AgentTalk>> started = AgentTalk::start(ports_, spec);
  if (!started) {
    return {.kind = Answer::Kind::error, .error = {.message = started.error().message()}};
  }
  talk_ = std::move(*started);
  JsonWriter json;
  json.begin_object().key("protocolVersion").number(1).key("clientCapabilities").begin_object();
  json.key("fs").raw(R"({"readTextFile":false,"writeTextFile":false})");
  json.key("terminal").boolean(false).end_object().key("clientInfo").begin_object();
  json.key("name").string("perdure-probe").key("version").string("1").end_object().end_object();
  return talk_->call({"initialize", std::move(json).take(), std::max(order_.start_ms, call_ms)});
}

bool Probing::begin_life() { return start_program().is_good(); }

// Also ends everything that the program started: a probe leaves nothing behind.
void Probing::end_life() {
  if (!talk_) return;
  talk_.reset();
  (void)ports_.processes.kill_marked(setting_.mark);
}

void Probing::read_abilities(JsonView result) {
  report_.program = result["agentInfo"]["name"].text();
  report_.program_version = result["agentInfo"]["version"].text();
  report_.protocol_version = result["protocolVersion"].signed_number();
  const JsonView capabilities = result["agentCapabilities"];
  if (capabilities["loadSession"].flag()) report_.advertised.push_back("session/load");
  for (JsonWalk walk(capabilities["sessionCapabilities"].raw()); walk.next();) {
    if (!JsonView(walk.value()).is_there()) continue;
    report_.advertised.push_back("session/" + json_string(walk.quoted_key()).value_or(""));
  }
}

bool Probing::is_advertised(std::string_view method) const {
  return std::ranges::find(report_.advertised, method) != report_.advertised.end();
}

ProbeStep Probing::initialize() {
  const Answer answer = start_program();
  ProbeStep step{.name = "initialize", .outcome = ProbeOutcome::failed, .ms = answer.ms};
  if (!answer.is_good()) {
    step.says = answer.trouble();
    if (talk_ && !talk_->last_words().empty()) step.says += "; it says: " + talk_->last_words();
    return step;
  }
  read_abilities(answer.view());
  step.outcome = ProbeOutcome::yes;
  step.says = (report_.program.empty() ? "it has no name" : report_.program) + " " +
              report_.program_version + ", protocol " + std::to_string(report_.protocol_version);
  return step;
}

std::string Probing::open_params() const {
  JsonWriter json;
  json.begin_object().key("cwd").string(setting_.folder).key("mcpServers").raw("[]").end_object();
  return std::move(json).take();
}

std::string Probing::reopen_params(std::string_view session) const {
  JsonWriter json;
  json.begin_object().key("sessionId").string(session).key("cwd").string(setting_.folder);
  json.key("mcpServers").raw("[]").end_object();
  return std::move(json).take();
}

ProbeStep Probing::open() {
  const Answer answer = talk_->call({"session/new", open_params(), call_ms});
  opened_wall_ms_ = wall_ms();
  session_ = answer.view()["sessionId"].text();
  ProbeStep step{.name = "new", .outcome = ProbeOutcome::yes, .ms = answer.ms};
  if (answer.is_good() && !session_.empty()) {
    step.says = "a session was made";
    return step;
  }
  step.outcome = ProbeOutcome::failed;
  step.says = answer.is_good() ? "it gave no session id" : answer.trouble();
  if (answer.error.code == acp::rpc_code::auth_required) step.says = "it wants a login first";
  return step;
}

Probing::Turn Probing::turn(const std::string& session, std::string_view text) {
  talk_->heard(session) = {};
  const Answer answer = talk_->call({"session/prompt", prompt_params(session, text), turn_ms});
  return {.answer = answer, .heard = talk_->heard(session)};
}

ProbeStep Probing::prompt() {
  const Turn said = turn(session_, remember(setting_.word));
  ProbeStep step{.name = "prompt", .outcome = ProbeOutcome::failed, .ms = said.answer.ms};
  if (!said.answer.is_good()) {
    step.says = said.answer.trouble();
    return step;
  }
  const bool obeys = said.heard.text.find(setting_.word) != std::string::npos;
  step.outcome = obeys ? ProbeOutcome::yes : ProbeOutcome::partly;
  step.says = (obeys ? "answered in " : "answered something else in ") +
              count_of(said.heard.chunks, "piece") + ", stop reason " +
              said.answer.view()["stopReason"].text();
  return step;
}

ProbeStep Probing::permission() {
  talk_->set_permission_answer(PermissionAnswer::refuse);
  const Turn said = turn(session_, tool_prompt);
  ProbeStep step{.name = "permission", .outcome = ProbeOutcome::failed, .ms = said.answer.ms};
  std::error_code error;
  const bool was_made = std::filesystem::exists(
      std::filesystem::path(setting_.folder) / std::string(made_file), error);
  const bool was_asked = said.heard.questions > 0;
  if (was_asked) {
    step.outcome = was_made ? ProbeOutcome::failed : ProbeOutcome::yes;
    step.says = was_made ? "asked, was refused, and did it all the same"
                         : "asked; refused, it did not do it";
  } else if (was_made) {
    step.outcome = ProbeOutcome::no;
    step.says = "ran the command without asking";
  } else if (!said.answer.is_good()) {
    step.says = said.answer.trouble();
  } else {
    step.outcome = ProbeOutcome::no;
    step.says = "did not ask, and ran nothing";
  }
  return step;
}

ProbeStep Probing::cancel() {
  talk_->heard(session_) = {};
  const acp::RpcId id = talk_->ask("session/prompt", prompt_params(session_, count_prompt));
  const bool began = talk_->wait_until([&] { return talk_->heard(session_).chunks > 0; }, turn_ms);
  ProbeStep step{.name = "cancel", .outcome = ProbeOutcome::failed};
  if (!began) {
    step.says = "it never began to answer";
    return step;
  }
  talk_->notify("session/cancel", session_params(session_));
  const Answer answer = talk_->wait(id, cancel_ms);
  step.ms = answer.ms;
  const std::string reason = answer.view()["stopReason"].text();
  if (!answer.is_good()) {
    step.says = answer.trouble();
  } else {
    step.outcome = reason == "cancelled" ? ProbeOutcome::yes : ProbeOutcome::partly;
    step.says = "the turn ended with " + reason;
  }
  return step;
}

// Kills only the program, as the kernel would: its children may survive.
ProbeStep Probing::kill() {
  talk_->heard(session_) = {};
  (void)talk_->ask("session/prompt", prompt_params(session_, count_prompt));
  const bool began = talk_->wait_until([&] { return talk_->heard(session_).chunks > 0; }, turn_ms);
  const std::int64_t began_ms = steady_ms();
  const std::int64_t pid = talk_->pid();
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  const bool is_gone = talk_->wait_gone(end_ms);
  const std::size_t left = ports_.processes.offspring({.root = pid, .mark = setting_.mark}).size();
  ProbeStep step{.name = "kill", .outcome = ProbeOutcome::yes, .ms = steady_ms() - began_ms};
  step.says = began ? "killed in the middle of a turn" : "killed before it said anything";
  if (left > 0) {
    step.outcome = ProbeOutcome::partly;
    step.says += "; " + count_of(left, "process") + " of it lived on";
  } else if (!is_gone) {
    step.outcome = ProbeOutcome::partly;
    step.says += "; its output stayed open";
  }
  return step;
}

// An agent that names its files by the minute loses a session that is opened twice in one minute.
void Probing::wait_for_slot() {
  const std::int64_t slot = order_.quirks.load_slot_ms;
  if (slot <= 0) return;
  constexpr std::int64_t rounding_ms = 1'000;
  const std::int64_t next = (opened_wall_ms_ / slot + 1) * slot + rounding_ms;
  while (wall_ms() < next) (void)talk_->wait_until([] { return false; }, next - wall_ms());
}

// Returns how many updates arrived after the answer.
std::size_t Probing::settle_replay(const std::string& session) {
  Heard& heard = talk_->heard(session);
  const std::size_t before = heard.updates;
  const std::int64_t wait = std::max(quiet_ms, order_.quirks.load_settle_ms);
  for (std::size_t seen = before;; seen = heard.updates) {
    if (!talk_->wait_until([&] { return heard.updates > seen; }, wait)) break;
  }
  return heard.updates - before;
}

ProbeStep Probing::come_back(std::string_view method, const std::string& session) {
  const std::string name(method.substr(method.find('/') + 1));
  ProbeStep step{.name = name, .outcome = ProbeOutcome::failed};
  if (!begin_life()) {
    step.says = "it did not start again";
    return step;
  }
  wait_for_slot();
  const Answer answer = talk_->call({method, reopen_params(session), call_ms});
  opened_wall_ms_ = wall_ms();
  step.ms = answer.ms;
  if (!answer.is_good()) {
    const bool is_missing = answer.error.code == acp::rpc_code::method_not_found;
    if (is_missing || !is_advertised(method)) step.outcome = ProbeOutcome::no;
    step.says = is_missing ? "it does not have that" : answer.trouble();
    return step;
  }
  const std::size_t late = settle_replay(session);
  const std::size_t replayed = talk_->heard(session).updates;
  const Turn said = turn(session, recall_prompt);
  const bool knows = said.heard.text.find(setting_.word) != std::string::npos;
  if (!said.answer.is_good()) {
    step.says = "reopened, but then: " + said.answer.trouble();
    return step;
  }
  step.outcome = knows ? ProbeOutcome::yes : ProbeOutcome::no;
  step.says = knows ? "it knows what was said" : "it says yes, and has forgotten everything";
  if (replayed > 0) step.says += "; " + count_of(replayed, "update") + " replayed";
  if (late > 0) step.says += ", " + std::to_string(late) + " of them after its answer";
  if (knows) report_.abilities.emplace_back(method);
  return step;
}

ProbeStep Probing::unknown_id() {
  ProbeStep step{.name = "unknown id", .outcome = ProbeOutcome::skipped, .says = "no way back"};
  constexpr std::string_view nobody = "019a0000-0000-7000-8000-00000000dead";
  for (const std::string_view method : {"session/resume", "session/load"}) {
    if (!is_advertised(method) &&
        std::ranges::find(report_.abilities, method) == report_.abilities.end()) {
      continue;
    }
    const Answer answer = talk_->call({method, reopen_params(nobody), call_ms});
    step.ms = answer.ms;
    if (answer.kind == Answer::Kind::error) {
      if (step.outcome == ProbeOutcome::skipped) step = {step.name, ProbeOutcome::yes, step.ms, ""};
      step.says += (step.says.empty() ? "" : "; ") + std::string(method) + ": " + answer.trouble();
      continue;
    }
    step.outcome = answer.is_good() ? ProbeOutcome::no : ProbeOutcome::failed;
    step.says = std::string(method) + (answer.is_good() ? " says yes to a session that never was"
                                                        : ": " + answer.trouble());
    return step;
  }
  return step;
}

ProbeStep Probing::two_at_once() {
  ProbeStep step{.name = "two", .outcome = ProbeOutcome::failed};
  std::string sessions[2];
  for (std::string& session : sessions) {
    const Answer answer = talk_->call({"session/new", open_params(), call_ms});
    session = answer.view()["sessionId"].text();
    if (!session.empty()) continue;
    step.says = "a second session is refused: " + answer.trouble();
    step.outcome = ProbeOutcome::no;
    return step;
  }
  const std::int64_t began = steady_ms();
  const std::string words[] = {setting_.word + "-one", setting_.word + "-two"};
  const acp::RpcId first =
      talk_->ask("session/prompt", prompt_params(sessions[0], remember(words[0])));
  const acp::RpcId second =
      talk_->ask("session/prompt", prompt_params(sessions[1], remember(words[1])));
  const Answer answers[] = {talk_->wait(first, turn_ms), talk_->wait(second, turn_ms)};
  step.ms = steady_ms() - began;
  for (std::size_t at = 0; at < 2; ++at) {
    if (!answers[at].is_good()) {
      step.says = answers[at].trouble();
      return step;
    }
    const Heard& heard = talk_->heard(sessions[at]);
    if (heard.text.find(words[1 - at]) == std::string::npos) continue;
    step.says = "it mixed the two sessions up";
    return step;
  }
  step.outcome = ProbeOutcome::yes;
  step.says = "two sessions of one program answered at once";
  return step;
}

ProbeStep Probing::end_of_input() {
  const std::int64_t began = steady_ms();
  talk_->close_input();
  const bool ended = talk_->wait_gone(end_ms);
  return {.name = "end",
          .outcome = ended ? ProbeOutcome::yes : ProbeOutcome::partly,
          .ms = steady_ms() - began,
          .says = ended ? "ends with its input" : "stays when its input ends; needs a signal"};
}

}  // namespace perdure::probe
