// The action of each verb of a script. A streaming step runs one piece at a time, so that time,
// cancels and other sessions can interleave. Every chunk is numbered: <pPROMPT:CHUNK>.
#include <algorithm>
#include <utility>

#include "base/bytes/base64.h"
#include "base/check.h"
#include "testing/agent/test_agent.h"

namespace perdure::testagent {

using demo::Dialect;
using demo::Mention;

namespace {

constexpr std::int64_t flood_piece_bytes = 64L << 10;
constexpr int signal_abort = 6;
constexpr int signal_kill = 9;
constexpr int signal_segv = 11;

// Foreign text must not look like one of our markers.
std::string without_markers(std::string text) {
  std::ranges::replace(text, '<', '(');
  return text;
}

std::string filler(std::int64_t bytes) {
  return std::string(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)), '.');
}

struct OutputPiece {
  std::string tool;
  std::int64_t number = 0;
  std::string text;
};

// Version 1 like codex: pieces are next to the update, for clients that show a terminal. Version 2
// has updates for them: of the call and of the terminal with its name.
std::string print_piece(const OutputPiece& piece, Dialect dialect) {
  const auto& [tool, number, text] = piece;
  JsonWriter json;
  json.begin_object().key("sessionUpdate");
  if (dialect == Dialect::v1) {
    json.string("tool_call_update").key("toolCallId").string(tool);
    json.key("_meta").begin_object().key("terminal_output_delta").begin_object();
    json.key("data").string(text).key("terminal_id").string(tool).end_object().end_object();
  } else if (number % 2 == 1) {
    json.string("tool_call_content_chunk").key("toolCallId").string(tool);
    json.key("content").begin_object().key("type").string("content").key("content");
    json.begin_object().key("type").string("text").key("text").string(text).end_object();
    json.end_object();
  } else {
    json.string("terminal_output_chunk").key("terminalId").string(tool);
    json.key("data").string(base64_encode(text));
  }
  return std::move(json.end_object()).take();
}

}  // namespace

void TestAgent::state_update(const Session& session, std::string_view state) {
  if (dialect_ == Dialect::v1) return;
  JsonWriter json;
  json.begin_object().key("sessionUpdate").string("state_update").key("state").string(state);
  json.end_object();
  update(session, {std::move(json).take()});
}

void TestAgent::say(Session& session, Turn& turn, std::string_view payload) {
  const std::string text = "<p" + std::to_string(turn.number) + ":" +
                           std::to_string(++turn.chunks) + ">" +
                           without_markers(std::string(payload));
  const std::string id = "agent-" + std::to_string(turn.number);
  update(session, demo::chunk_update({demo::Speaker::agent, text, id}));
  session.kept.remember({"agent", id, text});
  turn.not_before_ms = now_ms_ + switches_.pace_ms;
}

// say, chunks, flood, huge: `progress` counts chunks; for a flood, bytes.
TestAgent::Progress TestAgent::stream(Session& session, Turn& turn, const Step& step) {
  const bool floods = step.verb == Verb::flood;
  if (turn.progress >= step.count) return Progress::next_step;
  if (step.verb == Verb::say) {
    say(session, turn, step.text.empty() || step.count != 1 ? "word " : step.text);
  } else {
    const std::int64_t size =
        floods ? std::min(flood_piece_bytes, step.count - turn.progress) : step.size;
    const std::string marker =
        "<p" + std::to_string(turn.number) + ":" + std::to_string(turn.chunks + 1) + ">";
    say(session, turn, filler(size - static_cast<std::int64_t>(marker.size())));
    if (floods) turn.progress += size - 1;
  }
  turn.progress += 1;
  return turn.progress < step.count ? Progress::again : Progress::next_step;
}

// Chunk n is due n periods after the step began, independent of earlier chunks: subtracting the
// time in the text measures every delay, including the agent's own.
TestAgent::Progress TestAgent::stream_paced(Session& session, Turn& turn, const Step& step) {
  if (turn.progress >= step.count) return Progress::next_step;
  if (turn.progress == 0) turn.paced_from_ms = now_ms_;
  const std::int64_t due_ms = turn.paced_from_ms + turn.progress * step.size;
  say(session, turn, "due=" + std::to_string(due_ms) + " ");
  turn.progress += 1;
  turn.not_before_ms = due_ms + step.size;
  return turn.progress < step.count ? Progress::again : Progress::next_step;
}

void TestAgent::open_tool(Session& session, Turn& turn) {
  const std::string name =
      "tool-" + std::to_string(turn.number) + "-" + std::to_string(++turn.tools);
  demo::ToolView tool{.id = name, .title = "run " + name, .kind = "execute"};
  tool.status = "in_progress";
  tool.raw_input.text = R"({"command":"true"})";
  update(session, demo::tool_update(tool, Mention::first, dialect_));
  turn.open_tool = name;
}

TestAgent::Progress TestAgent::run_tool(Session& session, Turn& turn, const Step& step) {
  const bool sleeps = step.verb == Verb::sleep_tool;
  if (turn.open_tool.empty()) {
    if (!sleeps && turn.progress >= step.count) return Progress::next_step;
    open_tool(session, turn);
    if (sleeps) turn.not_before_ms = now_ms_ + step.count;
    return Progress::again;
  }
  const std::string name = std::exchange(turn.open_tool, {});
  update(session, demo::tool_update({.id = name, .status = "completed", .text = "ok run " + name},
                                    Mention::later, dialect_));
  session.kept.remember({"tool", name, "run " + name});
  turn.progress += 1;
  return sleeps || turn.progress >= step.count ? Progress::next_step : Progress::again;
}

TestAgent::Progress TestAgent::run_output(Session& session, Turn& turn, const Step& step) {
  if (turn.open_tool.empty()) {
    open_tool(session, turn);
    return Progress::again;
  }
  if (turn.progress < step.count) {
    turn.progress += 1;
    const std::string text =
        "<p" + std::to_string(turn.number) + ":o" + std::to_string(turn.progress) + ">line\n";
    update(session, {print_piece({turn.open_tool, turn.progress, text}, dialect_)});
    turn.not_before_ms = now_ms_ + switches_.pace_ms;
    return Progress::again;
  }
  const std::string name = std::exchange(turn.open_tool, {});
  update(session, demo::tool_update({.id = name, .status = "completed"}, Mention::later, dialect_));
  session.kept.remember({"tool", name, "run " + name});
  return Progress::next_step;
}

// Like codex and auggie: the command outlives the cancel.
TestAgent::Progress TestAgent::run_command(Session& session, Turn& turn, const Step& step) {
  open_tool(session, turn);
  const ChildKind kind = step.text == "setsid"     ? ChildKind::setsid
                         : step.text == "stubborn" ? ChildKind::stubborn
                                                   : ChildKind::child;
  act(SpawnChild{kind});
  turn.hangs = true;
  return Progress::blocked;
}

void TestAgent::send_permission(Session& session, Turn& turn, const Step& step) {
  if (!step.reused_id || turn.tools == 0) ++turn.tools;
  demo::PermissionView ask;
  ask.session_id = session.kept.id;
  ask.tool = {.id = "tool-" + std::to_string(turn.number) + "-" + std::to_string(turn.tools),
              .title = "touch file-" + std::to_string(turn.tools),
              .kind = "edit",
              .status = "pending"};
  ask.choices = {{"allow_once", "Allow once", "allow_once"},
                 {"allow_always", "Allow always", "allow_always"},
                 {"reject_once", "Reject", "reject_once"}};
  update(session, demo::tool_update(ask.tool, Mention::first, dialect_));
  turn.open_tool = ask.tool.id;
  if (!step.reused_id || last_ask_ == 0) ++last_ask_;
  const demo::RequestId id{std::to_string(last_ask_)};
  asks_.emplace(id.json, Ask{session.kept.id, turn.number, ask.tool.id});
  turn.asks_open += 1;
  turn.progress += 1;
  frame(
      demo::request_line(id, "session/request_permission", demo::permission_params(ask, dialect_)));
}

TestAgent::Progress TestAgent::ask_permission(Session& session, Turn& turn, const Step& step) {
  if (turn.progress >= step.count) return Progress::next_step;
  state_update(session, "requires_action");
  do {
    send_permission(session, turn, step);
  } while (step.concurrent && turn.progress < step.count && !ended_);
  return Progress::blocked;
}

TestAgent::Progress TestAgent::call_client(Session& session, Turn& turn, const Step& step) {
  if (turn.progress > 0) return Progress::next_step;
  const std::size_t space = std::min(step.text.find(' '), step.text.size());
  const std::string method = step.text.substr(0, space);
  RawJson params;
  json_append_string(params.text, session.kept.id);
  params.text = "{\"sessionId\":" + params.text + "}";
  if (const std::size_t brace = step.text.find('{'); brace != std::string::npos) {
    const std::string given = step.text.substr(brace);
    std::string joined = params.text;
    joined.back() = ',';
    joined += std::string_view(given).substr(1);
    if (json_validate(joined)) params.text = std::move(joined);
  }
  const demo::RequestId id{std::to_string(++last_ask_)};
  asks_.emplace(id.json, Ask{session.kept.id, turn.number, {}});
  turn.asks_open += 1;
  turn.progress = 1;
  frame(demo::request_line(id, method, params));
  return Progress::blocked;
}

TestAgent::Progress TestAgent::run_plan(Session& session, Turn& turn) {
  std::vector<demo::PlanItem> items = {{"look"}, {"change"}, {"check"}};
  for (std::int64_t i = 0; i < 3; ++i) {
    demo::PlanItem& item = items[static_cast<std::size_t>(i)];
    if (i < turn.progress) item.status = "completed";
    if (i == turn.progress) item.status = "in_progress";
  }
  update(session, demo::plan_update(items, dialect_));
  turn.progress += 1;
  return turn.progress > 3 ? Progress::next_step : Progress::again;
}

TestAgent::Progress TestAgent::recall(Session& session, Turn& turn) {
  const std::vector<std::string> prompts = session.kept.prompts;
  const std::size_t earlier = prompts.empty() ? 0 : prompts.size() - 1;  // the last is the current
                                                                         // one
  say(session, turn, "I know " + std::to_string(earlier) + " earlier prompts\n");
  for (std::size_t i = 0; i < earlier; ++i) {
    say(session, turn, "recall " + std::to_string(i + 1) + ": " + prompts[i] + "\n");
  }
  return Progress::next_step;
}

TestAgent::Progress TestAgent::run_step(Session& session, Turn& turn, const Step& step) {
  switch (step.verb) {
    case Verb::say:
    case Verb::chunks:
    case Verb::flood:
    case Verb::huge: return stream(session, turn, step);
    case Verb::paced: return stream_paced(session, turn, step);
    case Verb::tool:
    case Verb::sleep_tool: return run_tool(session, turn, step);
    case Verb::output: return run_output(session, turn, step);
    case Verb::command: return run_command(session, turn, step);
    case Verb::permission: return ask_permission(session, turn, step);
    case Verb::call: return call_client(session, turn, step);
    case Verb::plan: return run_plan(session, turn);
    case Verb::recall: return recall(session, turn);
    case Verb::think: {
      if (turn.progress >= step.count) return Progress::next_step;
      const std::string text =
          "<p" + std::to_string(turn.number) + ":t" + std::to_string(++turn.thoughts) + ">thought ";
      const std::string id = "thought-" + std::to_string(turn.number);
      update(session, demo::chunk_update({demo::Speaker::thought, text, id}));
      session.kept.remember({"thought", id, text});
      turn.not_before_ms = now_ms_ + switches_.pace_ms;
      turn.progress += 1;
      return Progress::again;
    }
    case Verb::sleep: turn.not_before_ms = now_ms_ + step.count; return Progress::next_step;
    default: return run_other_step(session, turn, step);
  }
}

// Steps that complete at once.
TestAgent::Progress TestAgent::run_other_step(Session& session, Turn& turn, const Step& step) {
  KeptSession& kept = session.kept;
  switch (step.verb) {
    case Verb::usage:
      kept.tokens_used += step.count;
      update(session, demo::usage_update({.used = kept.tokens_used}));
      break;
    case Verb::title:
      kept.title = step.text;
      update(session, demo::title_update(step.text));
      break;
    case Verb::commands:
      update(session, demo::commands_update({{"clear", "Forget everything", ""},
                                             {"say", "Say something", "how often"}},
                                            dialect_));
      break;
    case Verb::mode: say(session, turn, "mode=" + kept.mode + " model=" + kept.model + " "); break;
    case Verb::spawn_child:
      act(SpawnChild{step.text == "child" ? ChildKind::child : ChildKind::setsid});
      say(session, turn, "a child was started ");
      break;
    case Verb::stderr_text: stderr_left_ += step.count; break;
    case Verb::background: turn.background += step.count; break;
    case Verb::clear: {
      const std::string current = kept.prompts.back();
      kept.forget();
      kept.prompts.push_back(current);
      say(session, turn, "cleared ");
      break;
    }
    case Verb::compact: {
      const std::string current = kept.prompts.back();
      kept.prompts.pop_back();
      kept.summarise();
      kept.prompts.push_back(current);
      update(session, {R"({"sessionUpdate":"compaction_update","compactionId":"compaction-)" +
                       std::to_string(turn.number) + R"(","status":"completed"})"});
      break;
    }
    case Verb::raw: act(WriteStdout{step.text + "\n"}); break;
    case Verb::broken_utf8: {
      std::string line = demo::update_line(
          kept.id, demo::chunk_update({demo::Speaker::agent, "broken @@ text", {}}));
      line.replace(line.find("@@"), 2, "\xff\xc3");
      frame(std::move(line));
      break;
    }
    case Verb::exit_asking:
      send_permission(session, turn, step);
      act(ExitProcess{0});
      break;
    default: return run_ending_step(turn, step);
  }
  return Progress::next_step;
}

TestAgent::Progress TestAgent::run_ending_step(Turn& turn, const Step& step) {
  switch (step.verb) {
    case Verb::hang: turn.hangs = true; return Progress::blocked;
    case Verb::crash:
      act(KillItself{step.text == "abort"  ? signal_abort
                     : step.text == "segv" ? signal_segv
                                           : signal_kill});
      break;
    case Verb::exit: act(ExitProcess{static_cast<int>(step.count)}); break;
    case Verb::error:
      turn.error = demo::RpcFault{step.count, step.text.empty() ? "Internal error" : step.text, {}};
      turn.steps.resize(1);  // the current step; no more follow
      break;
    case Verb::stop:
      turn.stop_reason = step.text.empty() ? "refusal" : step.text;
      turn.steps.resize(1);
      break;
    default: CHECK(false, "a verb without an act");
  }
  return Progress::next_step;
}

}  // namespace perdure::testagent
