// How the test agent opens sessions: session/new, load and resume, with every way in which real
// agents get the last two wrong. Everything is sent in time order, including the answer.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "testing/agent/test_agent.h"

namespace perdure::testagent {

using demo::ClientMessage;
using demo::Dialect;
using demo::LooseObject;

namespace {

constexpr std::int64_t minute_ms = 60'000;

std::string hex_name(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "ta-%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

std::string TestAgent::unused_id(const std::string& taken) {
  while (true) {
    const std::string id = hex_name(random());
    if (id != taken && !home_.get(id) && !sessions_.contains(id)) return id;
  }
}

bool TestAgent::refuses_servers(const ClientMessage& message) {
  const LooseObject params(message.params.text);
  const std::string_view servers = params.raw("mcpServers");
  if (!switches_.mcp_refused || servers.empty() || servers == "[]") return false;
  frame(demo::error_line(message.id, {-32602, "Invalid params: mcpServers must be empty", {}}));
  return true;
}

bool TestAgent::take_lock(const std::string& name) {
  if (home_.lock(name)) return true;
  home_.report_violation("PROC1 two processes at once for " + name);
  act(WriteStderr{"PROC1: another process has " + name + "\n"});
  act(ExitProcess{exit_violation});
  return false;
}

RawJson TestAgent::opened_result(const KeptSession& kept, const Shown& shown) const {
  const std::vector<demo::OptionView> options = session_options(kept);
  JsonWriter json;
  json.begin_object();
  if (!shown.session_id.empty()) json.key("sessionId").string(shown.session_id);
  if (dialect_ == Dialect::v1) json.key("modes").raw(demo::modes_object(options.front()).text);
  json.key("configOptions").raw(demo::options_array(options, dialect_).text).end_object();
  return {std::move(json).take()};
}

void TestAgent::open_new(const ClientMessage& message) {
  if (switches_.auth_required == "new" && !authenticated_) {
    return frame(demo::error_line(message.id, {-32000, "Authentication required", {}}));
  }
  if (refuses_servers(message)) return;
  const LooseObject params(message.params.text);
  Session session;
  session.kept.id = unused_id({});
  session.kept.cwd = params.text("cwd");
  session.kept.created_ms = now_ms_;
  if (!take_lock(session.kept.id)) return;
  const std::string id = session.kept.id;
  const Session& opened = sessions_.emplace(id, std::move(session)).first->second;
  const demo::Update commands =
      demo::commands_update({{"clear", "Forget everything", ""}}, dialect_);
  if (switches_.updates_before_new) update(opened, commands);
  frame(demo::result_line(message.id, opened_result(opened.kept, {id})));
  if (!switches_.updates_before_new) update(opened, commands);
  if (switches_.persist_unprompted) save(opened);
}

// If it refuses, sends the reason, or nothing at all, and returns true.
bool TestAgent::refuses_to_open(const ClientMessage& message, const OpenFaults& faults) {
  if (switches_.auth_required == "new" && !authenticated_) {
    frame(demo::error_line(message.id, {-32000, "Authentication required", {}}));
    return true;
  }
  if (refuses_servers(message)) return true;
  const LooseObject params(message.params.text);
  const std::string id = params.text("sessionId");
  if (switches_.same_minute_destroy) {
    const auto text = home_.get(id);
    const auto kept = text ? decode_session(*text) : std::nullopt;
    if (kept && kept->created_ms / minute_ms == now_ms_ / minute_ms) home_.remove(id);
  }
  const bool takes_any_id = faults.error || faults.empty_success || faults.other_id;
  if (takes_any_id || home_.get(id)) return false;
  JsonWriter details;
  details.begin_object().key("sessionId").string(id).end_object();
  frame(demo::error_line(message.id, {-32002, "Resource not found", {std::move(details).take()}}));
  return true;
}

// The restored session; absent: there is nothing to restore.
std::optional<KeptSession> TestAgent::restored(const std::string& session_id,
                                               const OpenFaults& faults) {
  const auto text = home_.get(session_id);
  auto kept = text ? decode_session(*text) : std::nullopt;
  if (faults.empty_success) {
    kept.emplace();
    kept->id = session_id;
    kept->created_ms = now_ms_;
  }
  if (kept && switches_.mode_reset_on_load) {
    kept->mode = KeptSession{}.mode;
    kept->model = KeptSession{}.model;
  }
  return kept;
}

void TestAgent::reopen(const ClientMessage& message, Opening opening) {
  const OpenFaults& faults = opening == Opening::load ? switches_.load : switches_.resume;
  if (refuses_to_open(message, faults)) return;
  const LooseObject params(message.params.text);
  const std::string asked = params.text("sessionId");
  auto kept = restored(asked, faults);
  if (!kept) kept.emplace();  // only an error follows
  if (faults.other_id) kept->id = unused_id(asked);
  const bool opens = !faults.error && !faults.hang;
  if (opens) {
    if (!take_lock(kept->id)) return;
    if (const std::string cwd = params.text("cwd"); !cwd.empty()) kept->cwd = cwd;
  } else {
    kept->id = asked;
  }
  answer_opening(message, *kept, faults, opening);
  if (!opens) return;
  Session session;
  session.kept = std::move(*kept);
  const std::string id = session.kept.id;
  sessions_.insert_or_assign(id, std::move(session));
}

void TestAgent::answer_opening(const ClientMessage& message, const KeptSession& kept,
                               const OpenFaults& faults, Opening opening) {
  const LooseObject params(message.params.text);
  const bool replays = opening == Opening::load || !params.raw("replayFrom").empty();
  std::int64_t delay_ms = 0;
  const auto send_replay = [&] {
    if (!replays) return;
    auto updates = replay_updates(kept, faults.replay, dialect_);
    if (switches_.usage_replay) updates.push_back(replayed_usage(kept));
    for (const demo::Update& one : updates) {
      frame_later(delay_ms, demo::update_line(kept.id, one));
      delay_ms += faults.replay.gap_ms;
    }
  };
  if (!faults.replay.after_answer) send_replay();
  if (faults.hang) return;
  if (faults.error) {
    frame_later(delay_ms, demo::error_line(message.id, *faults.error));
  } else {
    if (dialect_ == Dialect::v2) {
      frame_later(delay_ms, demo::update_line(kept.id, {R"({"sessionUpdate":"state_update",)"
                                                        R"("state":"idle"})"}));
    }
    const bool shows_id = !faults.without_session_id;
    const RawJson result =
        faults.null_result ? RawJson{"null"} : opened_result(kept, {shows_id ? kept.id : ""});
    frame_later(delay_ms, demo::result_line(message.id, result));
  }
  if (faults.replay.after_answer) send_replay();
  OpenFaults::Replay late;
  late.frames = faults.late_frames;
  for (const demo::Update& one : replay_updates(kept, late, dialect_)) {
    frame_later(delay_ms + faults.late_ms, demo::update_line(kept.id, one));
  }
}

}  // namespace perdure::testagent
