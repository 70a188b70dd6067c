#include "editor/face.h"

#include "base/json/json.h"
#include "base/limits.h"
#include "client/json_view.h"

namespace perdure::face {
namespace {

acp::AgentSetup agent_setup(const FaceSetup& setup) {
  return {.name = "perdure",
          .title = "Perdure",
          .version = setup.version,
          .abilities = {.load = true,
                        .resume = true,
                        .list = true,
                        .close = true,
                        .fork = true,
                        .image = true,
                        .embedded_context = true},
          .line_bytes_max = face_line_bytes_max};
}

}  // namespace

Face::Face(FaceSetup setup) : setup_(std::move(setup)), agent_(agent_setup(setup_)) {}
Face::~Face() = default;

void Face::on_bytes(std::string_view bytes) {
  closed_.clear();
  std::vector<acp::AgentEvent> events;
  agent_.feed(bytes, events);
  for (acp::AgentEvent& event : events) handle(event);
}

void Face::handle(acp::AgentEvent& event) {
  std::visit([this](const auto& one) { on(one); }, event);
}

void Face::on_answer(std::uint64_t number, Result<client::ApiAnswer> answer) {
  closed_.clear();
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  client::OnApiAnswer done = std::move(found->second);
  calls_.erase(found);
  quiet_.erase(number);
  done(std::move(answer));
}

void Face::on_state(const std::string& session, std::string_view json) {
  closed_.clear();
  if (OpenSession* const open = find(session)) open->on_state(json);
}

void Face::on_record(const std::string& session, std::uint64_t seq, std::string_view json) {
  closed_.clear();
  if (OpenSession* const open = find(session)) open->on_record(seq, json);
}

void Face::on_reset(const std::string& session) {
  closed_.clear();
  if (OpenSession* const open = find(session)) open->on_reset();
}

void Face::on_refused(const std::string& session, const client::Refusal& refusal) {
  closed_.clear();
  OpenSession* const open = find(session);
  if (!open) return;
  remark(session + " is no longer followed: " + refusal.message);
  open->on_refused(refusal);
  close(session);
}

bool Face::is_waiting() const {
  if (has_calls()) return true;
  for (const auto& [id, session] : sessions_) {
    if (session->has_prompts()) return true;
  }
  return false;
}

void Face::update(std::string_view session, std::string_view update) {
  agent_.update_raw(output_, session, update);
}
acp::RpcId Face::ask(const acp::RpcCall& call) { return agent_.ask(output_, call); }
void Face::tell(const acp::RpcCall& call) { agent_.tell(output_, call); }
void Face::give_result(const acp::RpcId& id, std::string_view result) {
  agent_.give_result(output_, id, result);
}
void Face::give_error(const acp::RpcId& id, const acp::RpcError& error) {
  agent_.give_error(output_, id, error);
}
void Face::remark(std::string text) { remarks_.push_back(std::move(text)); }

void Face::call(client::ApiRequest request, client::OnApiAnswer done) {
  calls_.emplace(++last_call_, std::move(done));
  wishes_.emplace_back(CallWish{last_call_, std::move(request)});
}

void Face::call_quietly(client::ApiRequest request, client::OnApiAnswer done) {
  calls_.emplace(++last_call_, std::move(done));
  quiet_.insert(last_call_);
  wishes_.emplace_back(CallWish{last_call_, std::move(request), true});
}

std::string Face::next_key() { return setup_.key_prefix + "-" + std::to_string(++last_key_); }

OpenSession* Face::find(const std::string& session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second.get();
}

OpenSession* Face::find_for(const acp::RpcId& id, const std::string& session) {
  OpenSession* const open = find(session);
  if (open && open->is_caught_up() && has_room(id)) return open;
  if (!open || !open->is_caught_up()) {
    give_error(id, {.code = acp::rpc_code::not_found,
                    .message = "the session is not open here; load or resume it first"});
  }
  return nullptr;
}

bool Face::has_room(const acp::RpcId& id) {
  if (calls_.size() < face_calls_open_max) return true;
  give_error(id, {.message = "too many requests at once"});
  return false;
}

void Face::close(const std::string& session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  closed_.push_back(std::move(found->second));
  sessions_.erase(found);
  wishes_.emplace_back(UnfollowWish{session});
}

void Face::on(const acp::InitializeAsked& asked) {
  lent_ = {.fs_read = asked.fs_read, .fs_write = asked.fs_write, .terminal = asked.terminal};
  agent_.answer_initialize(output_, asked.id, {});
}
// The daemon already knows every client that reaches it: no login is needed.
void Face::on(const acp::AuthenticateAsked& asked) { agent_.answer_empty(output_, asked.id); }

void Face::on(const acp::SessionAsked& asked) {
  if (!has_room(asked.id)) return;
  if (sessions_.size() >= face_sessions_max && !find(asked.session_id)) {
    return give_error(asked.id, {.message = "too many sessions are open on this connection; close "
                                            "one first"});
  }
  switch (asked.call) {
    case acp::Call::open_new: return setup_.session.empty() ? open_new(asked) : open_given(asked);
    case acp::Call::fork: return fork(asked);
    default: return reopen(asked);
  }
}

// The editor detaches; the session's agent and turn continue.
void Face::on(const acp::SessionEndAsked& asked) {
  if (asked.call != acp::Call::close) {
    return give_error(asked.id,
                      {acp::rpc_code::method_not_found, "Method not found: session/delete", {}});
  }
  if (OpenSession* const open = find(asked.session_id)) {
    open->give_up({.code = acp::rpc_code::cancelled,
                   .message = "the session was closed here; what runs goes on"});
    close(asked.session_id);
  }
  agent_.answer_empty(output_, asked.id);
}

void Face::on(const acp::ListAsked& asked) {
  if (has_room(asked.id)) list(asked);
}

void Face::on(const acp::PromptAsked& asked) {
  if (OpenSession* const open = find_for(asked.id, asked.session_id)) {
    open->prompt(asked, next_key());
  }
}

void Face::on(const acp::CancelTold& told) {
  if (OpenSession* const open = find(told.session_id)) open->cancel();
}

void Face::on(const acp::OptionAsked& asked) {
  if (OpenSession* const open = find_for(asked.id, asked.session_id)) open->set_option(asked);
}

void Face::on(const acp::OtherAsked& asked) {
  // For editors older than the protocol's options.
  if (asked.method == "session/set_model") {
    const client::JsonView params(asked.params.text);
    return on(acp::OptionAsked{
        asked.id, params["sessionId"].text(), {"model", params["modelId"].text()}, true});
  }
  give_error(asked.id, {acp::rpc_code::method_not_found, "Method not found: " + asked.method, {}});
}

void Face::on(const acp::OtherTold&) {}

void Face::on(const acp::RequestTakenBack& taken) {
  for (const auto& [id, session] : sessions_) session->cancel_prompt(taken.id);
}

void Face::on(const acp::BadRequest& bad) { give_error(bad.id, bad.error); }

// An answer without an open question is too late: another client answered first.
void Face::on(const acp::PermissionAnswered& answered) {
  for (const auto& [id, session] : sessions_) {
    if (session->answer(answered)) return;
  }
}

void Face::on(const acp::AnswerGiven& given) {
  for (const auto& [id, session] : sessions_) {
    if (session->lending().answer(given)) return;
  }
}

void Face::on(const acp::AnswerRefused& refused) {
  for (const auto& [id, session] : sessions_) {
    if (session->lending().refuse(refused)) return;
    if (!session->refuse(refused.id)) continue;
    if (refused.error.code != acp::rpc_code::cancelled) {
      remark("the editor could not ask for permission: " + refused.error.message);
    }
    return;
  }
}

void Face::on(const acp::Noise& noise) {
  if (noise.kind == acp::NoiseKind::repaired) return;
  const bool is_json = noise.kind == acp::NoiseKind::not_message ||
                       noise.kind == acp::NoiseKind::batch ||
                       noise.kind == acp::NoiseKind::oversize;
  give_error({}, {.code = is_json ? acp::rpc_code::invalid_request : acp::rpc_code::parse_error,
                  .message = noise.why});
}

}  // namespace perdure::face
