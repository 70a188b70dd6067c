#include "editor/lending.h"

#include <string_view>
#include <utility>

#include "base/json/json.h"

namespace perdure::face {

using client::JsonView;

Lending::Lending(Connection& connection, Setup setup)
    : connection_(connection), setup_(std::move(setup)) {}

void Lending::set_running(bool running) {
  is_running_ = running;
  if (running && setup_.abilities.any() && !is_waiting_) wait_for_request();
}

void Lending::wait_for_request() {
  is_waiting_ = true;
  JsonWriter body;
  body.begin_object().key("lender").string(setup_.lender).key("got").number_unsigned(got_);
  body.key("fs_read").boolean(setup_.abilities.fs_read);
  body.key("fs_write").boolean(setup_.abilities.fs_write);
  body.key("terminal").boolean(setup_.abilities.terminal).end_object();
  connection_.call_quietly(
      post_request({session_path(setup_.session, "/lend"), std::move(body).take()}),
      [this, alive = std::weak_ptr(alive_)](Result<client::ApiAnswer> answer) {
        if (alive.expired()) return;
        is_waiting_ = false;
        const auto body = body_of(std::move(answer));
        // If it is unavailable, the workspace serves the agent; the next turn tries again.
        if (!body) return;
        if (const JsonView request = JsonView(*body)["request"]; request.is_there()) {
          pass_on(request);
        }
        if (is_running_) wait_for_request();
      });
}

// The agent's own session id means nothing to the editor.
void Lending::pass_on(JsonView request) {
  const std::uint64_t id = request["id"].number();
  if (id <= got_) return;
  got_ = id;
  JsonWriter params;
  params.begin_object().key("sessionId").string(setup_.session);
  for (JsonWalk walk(request["params"].raw()); walk.next();) {
    const std::string key = json_string(walk.quoted_key()).value_or("");
    if (key != "sessionId") params.key(key).raw(walk.value());
  }
  params.end_object();
  const std::string method = request["method"].text();
  passed_.emplace(connection_.ask({method, params.text()}), id);
}

bool Lending::answer(const acp::AnswerGiven& given) {
  if (!passed_.contains(given.id)) return false;
  give_back(given.id, "result", given.result.text.empty() ? "null" : given.result.text);
  return true;
}

bool Lending::refuse(const acp::AnswerRefused& refused) {
  if (!passed_.contains(refused.id)) return false;
  give_back(refused.id, "error", acp::print_rpc_error(refused.error));
  return true;
}

void Lending::give_back(const acp::RpcId& asked, std::string_view member, std::string_view json) {
  const auto found = passed_.find(asked);
  JsonWriter body;
  body.begin_object().key("id").number_unsigned(found->second).key(member).raw(json).end_object();
  passed_.erase(found);
  connection_.call(post_request({session_path(setup_.session, "/lent"), std::move(body).take()}),
                   [](const Result<client::ApiAnswer>&) {});
}

}  // namespace perdure::face
