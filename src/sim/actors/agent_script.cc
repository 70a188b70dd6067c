// The agent: how it opens sessions and executes prompts, with every misbehaviour seen in real
// agents, drawn from the seed.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "sim/actors/agentctl.h"

namespace perdure::sim {
namespace {

// The agent is not read while this many of its frames wait for the daemon.
constexpr FrameNo spool_frames_max = 2 * frames_unacked_max;

}  // namespace

std::string Agentctl::unique(const char* what) {
  return std::string(what) + "-" + tail(key_.exec) + "-" + std::to_string(++names_);
}

void Agentctl::act(const OpenSession& command) {
  if (!agent_.alive) return;
  agent_later(universe_.delay(2000), [this, command] { answer_open(command); });
}

void Agentctl::open_failed(OpenMethod method, OpenFailure failure) {
  write(FrameOpenFailed{method, failure, "simulated"}, {});
}

void Agentctl::answer_open(const OpenSession& command) {
  const bool is_odd = universe_.prng.chance(universe_.faults.open_odd) ||
                      (universe_.agents_are_busy && universe_.meddler_prng.chance(300'000));
  if (is_odd && answer_open_oddly(command)) return;
  if (universe_.prng.chance(universe_.faults.agent_forgets)) home_.sessions.clear();
  if (command.method == OpenMethod::fresh) {
    open_fresh(command);
  } else {
    open_native(command);
  }
}

// Lies and failures. Returns false if it behaves this time.
bool Agentctl::answer_open_oddly(const OpenSession& command) {
  static constexpr OpenFailure failures[] = {OpenFailure::capability_missing,
                                             OpenFailure::session_unknown,
                                             OpenFailure::not_restored,
                                             OpenFailure::transport,
                                             OpenFailure::timeout,
                                             OpenFailure::cancelled,
                                             OpenFailure::auth,
                                             OpenFailure::startup,
                                             OpenFailure::other};
  const bool native = command.method != OpenMethod::fresh;
  switch (universe_.prng.below(8)) {
    case 0:
      open_failed(command.method, failures[universe_.prng.below(std::size(failures))]);
      return true;
    case 1:  // hangs; agentctl gives up after session_open_ms
      agent_later(session_open_ms,
                  [this, command] { open_failed(command.method, OpenFailure::timeout); });
      return true;
    case 2: agent_exits(1, std::nullopt, "crashed"); return true;
    case 3:
      if (native) {
        opened(command, {.method = command.method, .agent_session_id = unique("other")});
        return true;
      }
      write(FrameSessionOpened{.method = command.method}, {});  // gives no id
      return true;
    case 4:  // gives no id, which is allowed for a session that was named
      if (!native) return false;
      opened(command, {.method = command.method, .replayed_prompts = 1});
      return true;
    case 5:  // "restored", but the session is empty
      if (!native) return false;
      opened(command, {.method = command.method, .agent_session_id = command.agent_session_id});
      return true;
    case 6:  // answers a different call
      write(FrameSessionOpened{.method = native ? OpenMethod::fresh : OpenMethod::load,
                               .agent_session_id = "stray"},
            {});
      return false;
    default:
      if (native) open_failed(command.method, OpenFailure::session_unknown);
      return native;
  }
}

void Agentctl::open_fresh(const OpenSession& command) {
  const std::string id = "as-" + tail(key_.session) + "-" + std::to_string(++home_.last_session);
  home_.sessions[id] = {};
  opened(command, {.method = OpenMethod::fresh, .agent_session_id = id});
}

void Agentctl::open_native(const OpenSession& command) {
  const auto kept = home_.sessions.find(command.agent_session_id);
  const bool can =
      command.method == OpenMethod::resume ? home_.abilities.resume : home_.abilities.load;
  if (!can) return open_failed(command.method, OpenFailure::capability_missing);
  if (kept == home_.sessions.end())
    return open_failed(command.method, OpenFailure::session_unknown);
  FrameSessionOpened frame{.method = command.method, .agent_session_id = command.agent_session_id};
  if (command.method == OpenMethod::load) {
    frame.replayed_prompts = kept->second.prompts;
    frame.replayed_updates = kept->second.prompts * 3;
    if (frame.replayed_prompts > 1 && odd()) frame.replayed_prompts -= 1;  // killed before it saved
  }
  opened(command, frame);
}

void Agentctl::opened(const OpenSession& command, FrameSessionOpened frame) {
  agent_.session_id =
      frame.agent_session_id.empty() ? command.agent_session_id : frame.agent_session_id;
  write(std::move(frame), {});
  for (const auto& [name, value] : command.options) write(Mode{.option = name, .value = value}, {});
  if (odd()) write(Mode{.option = "mode", .value = unique("mode")}, {});
  if (odd()) write(AgentUpdate{RawJson{R"({"background":true})"}}, {});
}

void Agentctl::begin_prompt(const SendPrompt& prompt) {
  agent_.run = prompt.run;
  agent_.cancelled = agent_.ignores_cancel = agent_.hangs = false;
  agent_.tools.clear();
  home_.sessions[agent_.session_id].prompts += 1;
  draw_script();
  keep_ticking();
}

void Agentctl::draw_script() {
  Prng& prng = universe_.prng;
  std::uint64_t length = prng.below(7);
  if (prng.chance(universe_.faults.long_turns)) length = 400;  // more than a window of frames
  static constexpr Act usual[] = {Act::say,   Act::say,         Act::think,     Act::call_tool,
                                  Act::plan,  Act::usage,       Act::set_mode,  Act::list_commands,
                                  Act::other, Act::finish_tool, Act::fail_tool, Act::ask};
  agent_.script.clear();
  for (std::uint64_t i = 0; i < length; ++i) {
    agent_.script.push_back(length > 100 ? Act::say : usual[prng.below(std::size(usual))]);
  }
  if (odd()) agent_.script.push_back(Act::withdraw);
  if (odd()) agent_.script.push_back(prng.chance(500'000) ? Act::clear : Act::compact);
  Act end = Act::finish;
  if (universe_.agents_are_busy) {
    static constexpr Act ends[] = {Act::finish, Act::finish, Act::fail, Act::crash};
    agent_.script = {Act::say, Act::say};
    if (universe_.meddler_prng.chance(700'000)) agent_.script.push_back(Act::ask);
    end = ends[universe_.meddler_prng.below(std::size(ends))];
  }
  if (universe_.agents_are_deaf) {
    end = Act::hang;
    agent_.ignores_cancel = prng.chance(700'000);
  }
  if (odd()) {
    static constexpr Act ends[] = {
        Act::fail, Act::crash, Act::exit_clean, Act::hang, Act::finish_cancelled,
        Act::hang, Act::crash};
    end = ends[prng.below(std::size(ends))];
    agent_.ignores_cancel = prng.chance(300'000);
  }
  agent_.script.push_back(end);
}

void Agentctl::keep_ticking() {
  if (!alive_ || !agent_.alive || agent_.ticking || !agent_.run || agent_.hangs) return;
  if (!agent_.requests.empty()) return;                     // waits for its answers
  if (frames_.size() - acked_ >= spool_frames_max) return;  // unread
  agent_.ticking = true;
  agent_later(universe_.delay(1000), [this] {
    agent_.ticking = false;
    tick();
  });
}

void Agentctl::tick() {
  if (agent_.script.empty()) {
    if (!agent_.run) return;
    agent_.script.push_back(Act::finish);
  }
  const Act act = agent_.script.front();
  agent_.script.pop_front();
  if (play(act)) keep_ticking();
}

// One action of the agent. Returns false if the agent or its turn has ended.
bool Agentctl::play(Act act) {
  switch (act) {
    case Act::say: write_here(MessageAgent{.text = unique("text")}); return true;
    case Act::think: write_here(MessageThought{.text = unique("thought")}); return true;
    case Act::call_tool:
      agent_.tools.push_back(unique("tool"));
      write_here(ToolCall{.tool_call_id = agent_.tools.back(), .title = "t", .status = "pending"});
      return true;
    case Act::finish_tool:
    case Act::fail_tool: {
      const std::string id = agent_.tools.empty() ? unique("tool") : agent_.tools.back();
      if (!agent_.tools.empty()) agent_.tools.pop_back();
      write_here(
          ToolUpdate{.tool_call_id = id, .status = act == Act::fail_tool ? "failed" : "completed"});
      return true;
    }
    case Act::plan: write_here(Plan{.text = unique("plan")}); return true;
    case Act::usage: write_here(Usage{.used = 1, .size = 2}); return true;
    case Act::set_mode: write_here(Mode{.option = "mode", .value = unique("mode")}); return true;
    case Act::list_commands: write_here(Commands{RawJson{"[]"}}); return true;
    case Act::other: write_here(AgentUpdate{RawJson{R"({"x":1})"}}); return true;
    case Act::ask: ask(); return true;
    case Act::withdraw:
      write_here(
          FramePermissionGone{agent_.requests.empty() ? "never-asked" : *agent_.requests.begin()});
      return true;
    case Act::clear: write_here(FrameContextChanged{BoundaryHow::cleared}); return true;
    case Act::compact: write_here(FrameContextChanged{BoundaryHow::compacted}); return true;
    case Act::say_late: write(MessageAgent{.text = unique("late")}, agent_.last_run); return true;
    case Act::finish: end_prompt(FrameRunFinished{agent_.run, "end_turn"}); return false;
    case Act::finish_cancelled: end_prompt(FrameRunFinished{agent_.run, "cancelled"}); return false;
    case Act::fail: end_prompt(FrameRunFailed{agent_.run, draw_failure()}); return false;
    case Act::crash: agent_exits(std::nullopt, 11, "crashed"); return false;
    case Act::exit_clean: agent_exits(0, std::nullopt, "exited"); return false;
    case Act::hang:
      agent_.hangs = !universe_.healed || universe_.agents_are_deaf;
      return !agent_.hangs;
  }
  return false;
}

// Some failures are provider limits, of which some say when they end.
RunFailed Agentctl::draw_failure() {
  Prng& prng = universe_.prng;
  if ((universe_.healed && !universe_.agents_are_busy) || prng.chance(500'000)) {
    return {.code = "agent_error", .message = "simulated"};
  }
  RunFailed failed{.code = "rate_limited", .message = "simulated"};
  if (prng.chance(800'000)) {
    const auto wait_ms = static_cast<std::int64_t>(prng.between(0, 60'000));
    failed.reset_at = Timestamp{universe_.clock.now().wall.ms + wait_ms};
  }
  return failed;
}

// One to three questions at once; occasionally one is withdrawn before it is answered.
void Agentctl::ask() {
  const std::uint64_t count = 1 + universe_.prng.below(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string request = unique("ask");
    agent_.requests.insert(request);
    write_here(FramePermission{
        .request = request,
        .tool_call_id = "t",
        .title = "may I?",
        .options = {{"allow", "Allow", "allow_once"}, {"deny", "Deny", "reject_once"}}});
  }
  if (!universe_.prng.chance(100'000) && !odd()) return;
  agent_later(universe_.delay(5000), [this] {
    if (agent_.requests.empty()) return;
    const std::string request = *agent_.requests.begin();
    agent_.requests.erase(agent_.requests.begin());
    write_here(FramePermissionGone{request});
    keep_ticking();
  });
}

void Agentctl::end_prompt(FrameBody body) {
  write_here(body);
  if (odd()) write_here(std::move(body));  // repeats it
  agent_.last_run = std::exchange(agent_.run, {});
  agent_.requests.clear();
  if (odd()) play(Act::say_late);
  if (odd())
    write(ToolUpdate{.tool_call_id = unique("tool"), .status = "pending"}, agent_.last_run);
  if (odd()) write(MessageAgent{.text = unique("background")}, {});
  if (odd()) write(FrameRunStalled{agent_.last_run, 1000}, agent_.last_run);
  if (odd() || (universe_.agents_are_busy && universe_.meddler_prng.chance(300'000))) {
    // A question outside of any run.
    write(FramePermission{.request = unique("ask"),
                          .title = "later?",
                          .options = {{"allow", "Allow", "allow_once"}}},
          universe_.prng.chance(500'000) ? agent_.last_run : RunId());
  }
  if (odd() || (universe_.agents_are_busy && universe_.meddler_prng.chance(150'000))) {
    return agent_exits(0, std::nullopt, "exited");
  }
  if (agent_.prompts.empty()) return;
  const SendPrompt next = agent_.prompts.front();
  agent_.prompts.pop_front();
  begin_prompt(next);
}

}  // namespace perdure::sim
