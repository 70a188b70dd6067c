// Plays the demo agent's turn: one beat after another, each at its time. A beat that waits (for an
// answer or a command) pauses the turn; the end of a turn first closes the open tool call.
#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "demo/demo_agent.h"

namespace perdure::demo {
namespace {

constexpr std::size_t waiting_prompts_max = 20;
constexpr std::size_t title_chars = 48;
constexpr std::int64_t output_gap_ms = 150;  // between two updates of a command's output

// At most about four words per chunk; never splits a word or a character.
std::string_view next_piece(std::string_view rest, std::uint64_t wanted) {
  std::string_view piece = utf8_prefix(rest, 6 + wanted % 14);
  if (piece.size() == rest.size()) return piece;
  const std::size_t space = piece.find_last_of(" \n");
  return space == std::string_view::npos || space == 0 ? piece : piece.substr(0, space + 1);
}

std::string title_of(std::string_view prompt) {
  std::string title(utf8_prefix_chars(prompt, title_chars));
  std::ranges::replace(title, '\n', ' ');
  if (title.size() < prompt.size()) title += "…";
  return title;
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string fenced(std::string_view output) {
  return "```console\n" + utf8_scrub(output) + (output.ends_with('\n') ? "```" : "\n```");
}

// The text that plan mode shows instead of acting. Empty: the beat may run.
std::string only_planned(const Beat& beat) {
  switch (beat.kind) {
    case BeatKind::write:
      return "*Plan mode: I would write `" + std::string(demo_folder) + "/" + beat.file +
             "` now.*\n\n";
    case BeatKind::run: return "*Plan mode: I would run `" + joined(beat.command) + "` now.*\n\n";
    default: return {};
  }
}

std::vector<PermissionView::Choice> choices_to_write() {
  return {{"allow_once", "Allow once", "allow_once"},
          {"allow_always", "Always, in this session", "allow_always"},
          {"reject_once", "Reject", "reject_once"}};
}

}  // namespace

void DemoAgent::save(const Session& session) {
  world_.store_session(session.kept.id, encode_session(session.kept));
}

void DemoAgent::accept_prompt(Session& session, const RequestId& request, std::string prompt) {
  if (!session.turn) return start_turn(session, request, prompt);
  if (session.waiting.size() < waiting_prompts_max) {
    session.waiting.emplace_back(request, std::move(prompt));
  } else {
    output_ += error_line(request, {-32600, "Too many prompts are waiting", {}});
  }
}

void DemoAgent::start_turn(Session& session, const RequestId& request, const std::string& prompt) {
  KeptSession& kept = session.kept;
  Turn turn;
  turn.request = request;
  turn.due_ms = now_ms_;
  const Story story = tell_story({prompt, kept.prompts()});
  turn.beats.assign(story.begin(), story.end());
  kept.turns += 1;
  kept.remember({"user", "prompt-" + std::to_string(kept.turns), prompt, {}, {}});
  if (kept.title.empty() && !prompt.empty()) {
    kept.title = title_of(prompt);
    update(session, title_update(kept.title));
  }
  save(session);
  session.turn = std::move(turn);
}

void DemoAgent::play(Session& session) {
  while (session.turn && !session.turn->question && session.turn->due_ms <= now_ms_) {
    Turn& turn = *session.turn;
    if (turn.command != 0) {
      if (now_ms_ >= turn.command_until_ms) {
        turn.output += "(killed after " + std::to_string(demo_command_ms / 1000) + " s)\n";
        world_.kill_command(turn.command);
        turn.command_until_ms = now_ms_ + demo_command_ms;
      }
      if (turn.has_news) show_output(session, turn);
      turn.due_ms = now_ms_ + output_gap_ms;
      return;
    }
    if (turn.beats.empty()) return end_turn(session, "end_turn");
    const Beat beat = turn.beats.front();
    const bool skips = (beat.only == Only::after_yes && !turn.said_yes) ||
                       (beat.only == Only::after_no && turn.said_yes);
    if (skips) {
      next_beat(turn);
    } else {
      play_beat(session, turn, beat);
    }
  }
}

void DemoAgent::next_beat(Turn& turn) {
  turn.beats.pop_front();
  turn.offset = 0;
}

void DemoAgent::play_beat(Session& session, Turn& turn, const Beat& beat) {
  if (session.kept.mode == "plan") {
    if (std::string instead = only_planned(beat); !instead.empty()) {
      turn.beats.front() = say(std::move(instead));
      turn.said_yes = true;
      return;
    }
  }
  switch (beat.kind) {
    case BeatKind::say:
    case BeatKind::think: return stream(session, turn, beat);
    case BeatKind::plan:
      turn.plan = beat.plan;
      if (!turn.plan.empty()) turn.plan.front().status = "in_progress";
      update(session, plan_update(turn.plan, Dialect::v1));
      return next_beat(turn);
    case BeatKind::plan_next: advance_plan(session, turn); return next_beat(turn);
    case BeatKind::write: return begin_write(session, turn, beat);
    case BeatKind::read: return begin_read(session, turn, beat);
    case BeatKind::run: return begin_run(session, turn, beat);
    case BeatKind::ask: return begin_ask(session, turn, beat);
    case BeatKind::pause: turn.due_ms = now_ms_ + beat.ms; return next_beat(turn);
    case BeatKind::finish: turn.beats.clear(); return;
  }
}

void DemoAgent::stream(Session& session, Turn& turn, const Beat& beat) {
  const bool thinks = beat.kind == BeatKind::think;
  if (turn.offset == 0 && (!beat.continues || turn.messages == 0)) turn.messages += 1;
  const std::string_view piece =
      next_piece(std::string_view(beat.text).substr(turn.offset), random());
  const std::string id =
      "message-" + std::to_string(session.kept.turns) + "-" + std::to_string(turn.messages);
  update(session, chunk_update({thinks ? Speaker::thought : Speaker::agent, piece, id}));
  session.kept.remember({thinks ? "thought" : "agent", id, std::string(piece), {}, {}});
  turn.offset += piece.size();
  const std::int64_t pace_ms = session.kept.model == "brisk" ? 10 : 19;
  turn.due_ms = now_ms_ + pace_ms + static_cast<std::int64_t>(random() % 9);
  if (turn.offset < beat.text.size()) return;
  next_beat(turn);
  save(session);
}

void DemoAgent::advance_plan(Session& session, Turn& turn) {
  const auto current = std::ranges::find(turn.plan, "in_progress", &PlanItem::status);
  if (current == turn.plan.end()) return;
  current->status = "completed";
  if (const auto next = current + 1; next != turn.plan.end()) next->status = "in_progress";
  update(session, plan_update(turn.plan, Dialect::v1));
}

void DemoAgent::open_tool(Session& session, Turn& turn, ToolView tool) {
  turn.tools += 1;
  tool.id = "tool-" + std::to_string(session.kept.turns) + "-" + std::to_string(turn.tools);
  update(session, tool_update(tool, Mention::first, Dialect::v1));
  session.kept.remember({"tool", tool.id, tool.title, tool.kind, {}});
  turn.tool = std::move(tool);
}

void DemoAgent::close_tool(Session& session, Turn& turn, ToolView change) {
  change.id = turn.tool.id;
  update(session, tool_update(change, Mention::later, Dialect::v1));
  session.kept.remember({"tool", change.id, {}, turn.tool.kind, change.status});
  turn.said_yes = change.status == "completed";
  turn.tool = {};
  if (!turn.beats.empty()) next_beat(turn);
  turn.due_ms = now_ms_ + 250;
  save(session);
}

void DemoAgent::ask(Session& session, Turn& turn) {
  turn.question = RequestId{std::to_string(++last_question_)};
  PermissionView view{session.kept.id, turn.tool, choices_to_write()};
  output_ += request_line(*turn.question, "session/request_permission",
                          permission_params(view, Dialect::v1));
}

void DemoAgent::begin_write(Session& session, Turn& turn, const Beat& beat) {
  const std::string path = session.kept.cwd + "/" + std::string(demo_folder) + "/" + beat.file;
  const auto old_text = world_.read_file(path);
  ToolView tool{
      .title = (old_text ? "Edit " : "Write ") + std::string(demo_folder) + "/" + beat.file,
      .kind = "edit",
      .status = "pending",
      .diff = FileDiff{path, old_text, beat.text},
      .path = path};
  open_tool(session, turn, std::move(tool));
  if (session.kept.mode == "ask" && !session.kept.may_always_write) {
    ask(session, turn);
  } else {
    do_write(session, turn);
  }
}

void DemoAgent::do_write(Session& session, Turn& turn) {
  const FileDiff diff = *turn.tool.diff;
  if (diff.old_text && diff.old_text->find(demo_mark) == std::string::npos) {
    return close_tool(session, turn,
                      {.status = "failed",
                       .text = "A file of yours is in the way; it was left "
                               "alone."});
  }
  const Result<> written = world_.write_file(diff.path, diff.new_text);
  if (!written) {
    return close_tool(session, turn, {.status = "failed", .text = written.error().message()});
  }
  close_tool(session, turn, {.status = "completed", .diff = diff});
}

void DemoAgent::begin_read(Session& session, Turn& turn, const Beat& beat) {
  const std::string path = session.kept.cwd + "/" + std::string(demo_folder) + "/" + beat.file;
  open_tool(session, turn,
            {.title = "Read " + beat.file, .kind = "read", .status = "in_progress", .path = path});
  const auto text = world_.read_file(path);
  close_tool(session, turn,
             {.status = text ? "completed" : "failed",
              .text = text ? fenced(*text) : "That file does not exist."});
}

void DemoAgent::begin_run(Session& session, Turn& turn, const Beat& beat) {
  JsonWriter input;
  input.begin_object().key("command").string(joined(beat.command)).end_object();
  open_tool(session, turn,
            {.title = "`" + joined(beat.command) + "`",
             .kind = "execute",
             .status = "in_progress",
             .raw_input = {std::move(input).take()}});
  turn.output.clear();
  turn.has_news = false;
  turn.command = ++last_command_;
  turn.command_until_ms = now_ms_ + demo_command_ms;
  turn.due_ms = now_ms_ + output_gap_ms;
  world_.start_command({turn.command, session.kept.cwd, beat.command});
}

void DemoAgent::begin_ask(Session& session, Turn& turn, const Beat& beat) {
  open_tool(session, turn, {.title = beat.text, .kind = "other", .status = "pending"});
  ask(session, turn);
}

void DemoAgent::on_answer(const ClientMessage& message) {
  for (auto& [id, session] : sessions_) {
    if (!session.turn || session.turn->question != message.id) continue;
    Turn& turn = *session.turn;
    turn.question.reset();
    const std::string chosen = chosen_option(message);
    const bool allowed = chosen.starts_with("allow");
    turn.due_ms = now_ms_;
    if (!allowed) {
      close_tool(session, turn, {.status = "failed", .text = "Not allowed."});
    } else if (turn.tool.diff) {
      if (chosen == "allow_always") session.kept.may_always_write = true;
      do_write(session, turn);
    } else {
      close_tool(session, turn, {.status = "completed", .text = "Allowed."});
    }
    return;
  }
}

std::pair<DemoAgent::Session*, DemoAgent::Turn*> DemoAgent::turn_of_command(std::int64_t number) {
  for (auto& [id, session] : sessions_) {
    if (session.turn && session.turn->command == number) return {&session, &*session.turn};
  }
  return {nullptr, nullptr};  // cancelled in the meantime
}

void DemoAgent::command_output(std::int64_t number, std::string_view bytes) {
  const auto [session, turn] = turn_of_command(number);
  if (!turn || turn->output.size() >= demo_command_output_bytes) return;
  turn->output += bytes.substr(0, demo_command_output_bytes - turn->output.size());
  turn->has_news = true;
}

void DemoAgent::show_output(Session& session, Turn& turn) {
  turn.has_news = false;
  update(session, tool_update({.id = turn.tool.id, .text = fenced(turn.output)}, Mention::later,
                              Dialect::v1));
}

void DemoAgent::command_ended(std::int64_t number, int code) {
  const auto [session, turn] = turn_of_command(number);
  if (!turn) return;
  turn->command = 0;
  JsonWriter result;
  result.begin_object().key("exitCode").number(code).end_object();
  const std::string shown = turn->output.empty() ? "(no output)\n" : turn->output;
  close_tool(*session, *turn,
             {.status = code == 0 ? "completed" : "failed",
              .text = fenced(shown),
              .raw_output = {std::move(result).take()}});
}

void DemoAgent::cancel(Session& session) {
  if (!session.turn) return;
  Turn& turn = *session.turn;
  if (turn.command != 0) world_.kill_command(std::exchange(turn.command, 0));
  turn.question.reset();
  if (!turn.tool.id.empty()) {
    close_tool(session, turn, {.status = "failed", .text = "Cancelled."});
  }
  for (const auto& [request, prompt] : std::exchange(session.waiting, {})) {
    output_ += result_line(request, {R"({"stopReason":"cancelled"})"});
  }
  end_turn(session, "cancelled");
}

void DemoAgent::end_turn(Session& session, std::string_view stop_reason) {
  const RequestId request = session.turn->request;
  session.turn.reset();
  save(session);
  update(session, usage_update(session_usage(session.kept)));
  JsonWriter json;
  json.begin_object().key("stopReason").string(stop_reason).end_object();
  output_ += result_line(request, {std::move(json).take()});
  if (session.waiting.empty()) return;
  const auto [next, prompt] = std::move(session.waiting.front());
  session.waiting.pop_front();
  start_turn(session, next, prompt);
}

}  // namespace perdure::demo
