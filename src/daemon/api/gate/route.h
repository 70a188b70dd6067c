// The route table and what a handler receives. A route declares who may call it, and the gate
// checks that before the handler runs, so that a handler only translates (O25).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/json/json.h"
#include "base/result.h"
#include "core/auth/pipeline.h"
#include "core/auth/principal.h"
#include "net/message.h"
#include "net/server/server.h"

namespace perdure {

enum class Access {
  open,     // no principal at all: health, the static shell, login
  observe,  // reads
  operate,  // changes sessions and tasks
  answer,   // operate, but never from inside a hosted session (TOK3)
  admin,    // tokens, rules, import
};

// One admitted request.
struct Call {
  HttpRequest request;
  std::shared_ptr<HttpExchange> exchange;
  Principal principal;
  std::vector<std::string> arguments;  // the values of {…} in the pattern, in order

  // The idempotency key, scoped to the principal; empty if absent.
  std::string key() const;
  // Covers method, path and body; distinguishes a repeat from a reuse of the key.
  Hash body_hash() const;
  // Sends {"error":{"code","message","actions":[…]}} with the code's status.
  void fail(const Error& error) const;
  // Sends application/json with 200 or the given status.
  void answer(std::string json) const;
  void answer(int status, std::string json) const;
  // The body as one JSON object; an empty body is {}. The caller must reject unknown members.
  Result<JsonObject> body() const;
};

HttpResponse error_response(const Error& error);
// The same, for what passes in a moment: with Retry-After.
HttpResponse busy_response(const Error& error);
// Whether the principal may call a route of this access. Admin is over everything, so never for one
// that is bound to some sessions.
bool has_access(const Principal& principal, Access access);

using RouteHandler = std::move_only_function<void(Call)>;

struct Route {
  std::string method;
  std::string pattern;  // "/api/sessions/{id}/prompt"; a last "{path...}" takes the rest
  Access access = Access::admin;
  std::string summary;  // one line, for /openapi.json
  RouteHandler handler;
  std::size_t body_bytes_max = 16UL << 20;
  BodyType body_type = BodyType::json;  // `any`: an upload, whose type the handler checks
  // Needs files, processes or folders of the session in the first argument, so only the session's
  // owner can serve it.
  bool at_owner = false;
  // The answer is a WebSocket: the handler only sees requests that want one, others get 426.
  bool is_socket = false;
  // For an open route that is not for everybody: decides by the head alone who may use it.
  std::function<Result<>(const HttpRequest& head)> check_head = {};
};

class Router {
 public:
  void add(Route route);
  struct Match {
    Route* route = nullptr;  // null: no such path, or not for this method
    std::vector<std::string> arguments;
    std::vector<std::string> allowed;  // methods of the path, for a 405
  };
  Match find(std::string_view method, std::string_view path);
  // Calls the handler, or forwards the call if another daemon owns its session.
  void serve(Route& route, Call call);
  // Calls the handler here. The only way to a handler: every precondition is checked here.
  static void run(Route& route, Call call);
  // `take` gets the calls of routes `at_owner` and returns false if the session is here.
  void set_elsewhere(std::move_only_function<bool(Route&, Call&)> take) {
    elsewhere_ = std::move(take);
  }
  const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }

 private:
  std::vector<std::unique_ptr<Route>> routes_;
  std::move_only_function<bool(Route&, Call&)> elsewhere_;
};

}  // namespace perdure
