// The parts of a connection that an open session uses.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "client/api.h"
#include "core/acp/rpc.h"

namespace perdure::face {

class Connection {
 public:
  virtual ~Connection() = default;

  // To the editor, in order. `update` and `result` are JSON.
  virtual void update(std::string_view session, std::string_view update) = 0;
  virtual acp::RpcId ask(const acp::RpcCall& call) = 0;
  virtual void tell(const acp::RpcCall& call) = 0;
  virtual void give_result(const acp::RpcId& id, std::string_view result) = 0;
  virtual void give_error(const acp::RpcId& id, const acp::RpcError& error) = 0;

  // To the daemon. `done` is called once, later.
  virtual void call(client::ApiRequest request, client::OnApiAnswer done) = 0;
  // The same for a slow request that no caller waits for.
  virtual void call_quietly(client::ApiRequest request, client::OnApiAnswer done) = 0;

  // A message for the operator: a line on stderr, or in the log.
  virtual void remark(std::string text) = 0;
};

// The daemon's error in ACP's form; `data` has its code and possible remedies.
acp::RpcError rpc_error_of(const client::Refusal& refusal);
// The response's body, or the error. The argument is what a call's `done` receives.
std::expected<std::string, acp::RpcError> body_of(Result<client::ApiAnswer> answer);

struct Post {
  std::string path;
  std::string body = "{}";
  std::string key = {};  // empty: one is generated
};
client::ApiRequest post_request(Post post);
client::ApiRequest get_request(std::string path);
// /api/sessions/<id> followed by `rest`.
std::string session_path(std::string_view id, std::string_view rest = {});

}  // namespace perdure::face
