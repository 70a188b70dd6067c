// Exchanges with real agents: eight agents, two protocol versions. The golden files are shortened
// recordings, each next to the expected events; if PERDURE_ACP_RECORDINGS names the folder of the
// full recordings, they are played, too. No line may be lost, and no agent prints noise.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/acp/golden_for_test.h"
#include "core/acp/replay_for_test.h"

namespace perdure::acp {
namespace {

std::string shown(const std::string& text) {
  std::string out;
  json_append_string(out, text);
  return out;
}
std::string shown(const std::optional<std::string>& text) { return text ? shown(*text) : "-"; }

// Writes the fields of each body that people care about.
struct BodyLine {
  std::string operator()(const UnknownUpdate&) { return "unknown"; }
  std::string operator()(const MessageChunk& it) {
    return speaker(it.speaker) + "chunk " + it.message_id + ' ' + shown(it.text);
  }
  std::string operator()(const MessageWhole& it) {
    return speaker(it.speaker) + "whole " + it.message_id + ' ' + shown(it.text);
  }
  std::string operator()(const ToolUpserted& it) {
    return std::string(it.announced ? "tool_call " : "tool_update ") + it.tool_call_id +
           " kind=" + it.kind.value_or("-") + " status=" + it.status.value_or("-") +
           " title=" + shown(it.title) + " input=" + shown(it.input) +
           " text=" + (it.content ? shown(it.content->text) : "-") +
           " diffs=" + (it.content ? std::to_string(it.content->diffs.size()) : "-") +
           " output=" + shown(it.output) + " added=" + shown(it.output_added);
  }
  std::string operator()(const ToolContentAdded& it) { return "tool_content " + it.tool_call_id; }
  std::string operator()(const PlanShown& it) {
    return "plan " + std::to_string(it.entries.size());
  }
  std::string operator()(const PlanRemoved& it) { return "plan_removed " + it.plan_id; }
  std::string operator()(const CommandsOffered& it) {
    return "commands " + std::to_string(it.commands.size()) + ' ' +
           (it.commands.empty() ? "" : it.commands[0].name);
  }
  std::string operator()(const OptionsShown& it) { return "options " + values(it.options); }
  std::string operator()(const ModeShown& it) { return "mode " + it.mode; }
  std::string operator()(const TitleShown& it) { return "title " + shown(it.title); }
  std::string operator()(const UsageShown& it) {
    return "usage " + std::to_string(it.used) + '/' + std::to_string(it.size) + ' ' + it.cost;
  }
  std::string operator()(const NoticeShown& it) { return "notice " + it.severity; }
  std::string operator()(const CompactionShown& it) { return "compaction " + it.status; }
  std::string operator()(const CompactionChunk&) { return "compaction_chunk"; }
  std::string operator()(const StateShown& it) {
    return "state " + it.state + ' ' + it.stop_reason;
  }
  std::string operator()(const TerminalShown& it) {
    return "terminal " + it.terminal_id + " command=" + shown(it.command) +
           " output=" + shown(it.output) + (it.ended ? " ended" : "");
  }
  std::string operator()(const TerminalOutput& it) { return "terminal_chunk " + shown(it.bytes); }
  std::string operator()(const SubagentShown& it) { return "subagent " + it.session_id; }
  std::string operator()(const SessionMessage&) { return "session_message"; }
  std::string operator()(const SessionMessageChunk&) { return "session_message_chunk"; }

  static std::string speaker(Speaker speaker) {
    return speaker == Speaker::user ? "user_" : speaker == Speaker::agent ? "agent_" : "thought_";
  }
  static std::string values(const std::vector<ConfigOption>& options) {
    return values(option_values(options));
  }
  static std::string values(const std::vector<OptionValue>& options) {
    std::string out;
    for (const OptionValue& option : options) out += option.option + '=' + option.value + ' ';
    return out;
  }
};

struct EventLine {
  std::string operator()(const Initialized& it) {
    const AgentAbilities& can = it.abilities;
    return "initialized v" + std::to_string(it.protocol_version) + ' ' + it.agent_name + ' ' +
           it.agent_version + (can.load ? " load" : "") + (can.resume ? " resume" : "") +
           (can.list ? " list" : "") + (can.close ? " close" : "") + (can.remove ? " delete" : "") +
           (can.fork ? " fork" : "") + (can.image ? " image" : "") + (can.audio ? " audio" : "") +
           (can.embedded_context ? " context" : "");
  }
  std::string operator()(const SessionOpened& it) {
    return "opened " + it.session_id + " asked=" + it.asked_session_id + ' ' +
           BodyLine::values(it.options);
  }
  std::string operator()(const Updated& it) {
    return it.session_id + ' ' + std::visit(BodyLine(), it.update.body);
  }
  std::string operator()(const PermissionAsked& it) {
    std::string line = "permission " + it.id.text + ' ' + it.tool_call_id + ' ' + shown(it.title);
    for (const PermissionChoice& choice : it.choices) {
      line += ' ' + choice.option_id + ':' + choice.kind;
    }
    return line;
  }
  std::string operator()(const Asked& it) { return "asked " + it.id.text + ' ' + it.method; }
  std::string operator()(const AskedNoMore& it) { return "asked_no_more " + it.id.text; }
  std::string operator()(const TurnEnded& it) { return "turn_ended " + it.stop_reason; }
  std::string operator()(const CallFailed& it) {
    return "failed " + std::to_string(it.error.code) + ' ' + std::string(failure_name(it.failure));
  }
  std::string operator()(const OptionSet& it) {
    return "option_set " + BodyLine::values(it.options);
  }
  std::string operator()(const Answered& it) { return "answered " + it.method; }
  std::string operator()(const Noise& it) { return "noise " + shown(it.text); }
  std::string operator()(const Notified& it) { return "notified " + it.method; }
};

}  // namespace

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> golden_lines(const std::string& name) {
  return lines_of(std::string(PERDURE_SOURCE_DIR "/tests/golden/acp/") + name);
}

std::string event_line(const Event& event) {
  std::string line = std::visit(EventLine(), event);
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

void Replay::say(const RpcMessage& message) {
  const Slices params(message.params);
  const std::string session = params.text("sessionId");
  const SessionSetup setup{.cwd = params.text("cwd")};
  std::string out;
  if (message.method == "initialize") {
    if (params.number_if("protocolVersion") == 2) client_ = Client({.protocol_version = 2});
    client_.initialize(out);
  } else if (message.method == "session/new") {
    client_.open_new(out, setup);
  } else if (message.method == "session/load" || params.has("replayFrom")) {
    client_.load(out, session, setup);
  } else if (message.method == "session/resume") {
    client_.resume(out, session, setup);
  } else if (message.method == "session/prompt") {
    client_.prompt(out, session, params.has("prompt") ? params.raw("prompt") : "[]");
  } else if (message.method == "session/set_mode") {
    if (!client_.set_option(out, session, {"mode", params.text("modeId")})) {
      client_.call(out, message.method, message.params);
    }
  } else {
    client_.call(out, message.method, message.params);
  }
  const auto said = parse_rpc(out);
  ASSERT_TRUE(said) << out;
  our_ids_[message.id.text] = said->id.text;
}

std::vector<Event> Replay::play(std::string_view line) {
  const Slices recorded(line);
  std::vector<Event> events;
  if (recorded.has("restart")) {
    *this = Replay();
    return events;
  }
  const auto message = parse_rpc(recorded.raw("msg"));
  if (recorded.text("dir") == "out") {
    if (message && message->kind == RpcMessage::Kind::request) say(*message);
    return events;
  }
  std::string bytes(recorded.raw("msg"));
  bytes += '\n';
  if (message && message->method.empty()) {
    const auto ours = our_ids_.find(message->id.text);
    const RpcId id{ours == our_ids_.end() ? message->id.text : ours->second};
    bytes.clear();
    if (message->kind == RpcMessage::Kind::result) append_result(bytes, id, message->result);
    if (message->kind == RpcMessage::Kind::error) {
      append_error(bytes, id, parse_rpc_error(message->error));
    }
  }
  fed_ += bytes;
  client_.feed(bytes, events);
  return events;
}

namespace {

class GoldenReplay : public testing::TestWithParam<std::string> {};

TEST_P(GoldenReplay, X25_P8_every_line_becomes_the_events_it_must) {
  Replay replay;
  std::vector<std::string> events;
  for (const std::string& line : golden_lines(GetParam() + ".jsonl")) {
    for (const Event& event : replay.play(line)) events.push_back(event_line(event));
  }
  EXPECT_EQ(replay.client().lines_dropped(), 0U);
  EXPECT_EQ(events, golden_lines(GetParam() + ".events"));
}

INSTANTIATE_TEST_SUITE_P(Agents, GoldenReplay,
                         testing::Values("opencode", "codex-acp", "codex-zed", "claude", "gemini",
                                         "qwen", "copilot", "auggie", "claude-v2", "codex-acp-v2"));

struct Counts {
  std::size_t files = 0;
  std::size_t lines = 0;
  std::size_t bytes = 0;
  std::map<std::string, std::size_t> events;  // by the first word of their lines
};

// The expected result of an agent's line: everything is reported, once, and typed.
void check_line(const std::string& line, const std::vector<Event>& events, bool has_noise) {
  const auto message = parse_rpc(Slices(line).raw("msg"));
  ASSERT_TRUE(message) << line;
  if (message->method == "session/update") {
    ASSERT_GE(events.size(), 1U) << line;
    const auto& updated = std::get<Updated>(events[0]);
    EXPECT_EQ(updated.update.raw.text, Slices(message->params).raw("update"));
    EXPECT_FALSE(std::holds_alternative<UnknownUpdate>(updated.update.body)) << line;
    EXPECT_LE(events.size(), 2U) << line;  // a state may end the turn
    return;
  }
  const bool is_acknowledged = Slices(message->result).has("messageId");
  ASSERT_EQ(events.size(), is_acknowledged ? 0U : 1U) << line;
  if (!has_noise && !is_acknowledged) {
    EXPECT_FALSE(std::holds_alternative<Noise>(events[0])) << line;
  }
}

void play_file(const std::filesystem::path& path, Counts& counts) {
  const bool has_noise = path.filename().string().find("-bad-input") != std::string::npos;
  Replay replay;
  for (const std::string& line : lines_of(path)) {
    const std::vector<Event> events = replay.play(line);
    for (const Event& event : events) {
      std::istringstream words(event_line(event));
      std::string word;
      words >> word;
      if (std::holds_alternative<Updated>(event)) words >> word;
      ++counts.events[word];
    }
    if (Slices(line).text("dir") != "in") continue;
    ++counts.lines;
    check_line(line, events, has_noise);
  }
  EXPECT_EQ(replay.client().lines_dropped(), 0U) << path;
  counts.bytes += replay.fed().size();
  ++counts.files;
}

TEST(RecordedReplay, X25_P8_no_line_of_any_recording_is_lost) {
  const char* folder = std::getenv("PERDURE_ACP_RECORDINGS");
  if (folder == nullptr) GTEST_SKIP() << "PERDURE_ACP_RECORDINGS names no folder of recordings";
  Counts counts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl") play_file(entry.path(), counts);
  }
  EXPECT_GT(counts.files, 0U);
  std::ostringstream told;
  for (const auto& [word, count] : counts.events) told << ' ' << word << '=' << count;
  RecordProperty("counts", told.str());
  GTEST_LOG_(INFO) << counts.files << " files, " << counts.lines << " lines of agents, "
                   << counts.bytes << " bytes:" << told.str();
}

// An agent's whole output, split after each byte, means the same as in one piece.
TEST(RecordedReplay, P8_a_recording_cut_anywhere_means_the_same) {
  for (const char* name : {"claude.jsonl", "qwen.jsonl"}) {
    Replay replay;
    for (const std::string& line : golden_lines(name)) {
      if (Slices(line).has("restart")) break;
      replay.play(line);
    }
    const auto events_of = [&](std::size_t piece_bytes) {
      Client client({});
      std::string out;
      client.initialize(out);
      std::vector<Event> events;
      for (std::size_t at = 0; at < replay.fed().size(); at += piece_bytes) {
        client.feed(std::string_view(replay.fed()).substr(at, piece_bytes), events);
      }
      std::vector<std::string> lines;
      for (const Event& event : events) lines.push_back(event_line(event));
      return lines;
    };
    const auto whole = events_of(replay.fed().size());
    EXPECT_GT(whole.size(), 10U);
    EXPECT_EQ(events_of(1), whole);
    EXPECT_EQ(events_of(7), whole);
  }
}

}  // namespace
}  // namespace perdure::acp
