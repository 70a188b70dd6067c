// The route table and what a handler gets. A route says who may call it; the gate has checked that
// before the handler runs, so that a handler only translates (O25).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "auth/pipeline.h"
#include "auth/principal.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "http/message.h"
#include "http/server.h"

namespace perdure {

enum class Access {
  open,     // no principal at all: health, the static shell, login
  observe,  // reads
  operate,  // changes sessions and tasks
  answer,   // operate, and never from inside a hosted session (TOK3)
  admin,    // tokens, rules, import
};

// One admitted request.
struct Call {
  HttpRequest request;
  std::shared_ptr<HttpExchange> exchange;
  Principal principal;
  std::vector<std::string> arguments;  // what stood for {…} in the pattern, in order

  // The idempotency key, scoped to the principal; empty without one.
  std::string key() const;
  // Tells a repeat from a reuse of the key: over method, path and body.
  Hash body_hash() const;
  // Errors: {"error":{"code","message","actions":[…]}} with the status of the code.
  void fail(const Error& error) const;
  // 200, or another status, with application/json.
  void answer(std::string json) const;
  void answer(int status, std::string json) const;
  // The body as one JSON object; an empty body is {}. Unknown members are the caller's to refuse.
  Result<JsonObject> body() const;
};

// The HTTP status that a code is sent with.
int status_of(Code code);
// What a person can do about it, in words of verbs: ["resume","fresh"]. Often none.
std::vector<std::string> actions_of(Code code);
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
  BodyType body_type = BodyType::json;  // `any`: an upload, whose type the handler looks at
  // Files, processes and folders of the session in the first argument are needed: only the daemon
  // whose session it is can do it.
  bool at_owner = false;
  // The answer is a WebSocket: the handler only sees requests that want one, others get 426.
  bool is_socket = false;
  // Of an open route that is not for everybody: who may come is seen by the head alone.
  std::function<Result<>(const HttpRequest& head)> check_head = {};
};

class Router {
 public:
  void add(Route route);
  struct Match {
    Route* route = nullptr;  // null: no such path, or not by this method
    std::vector<std::string> arguments;
    std::vector<std::string> allowed;  // methods of the path, for a 405
  };
  Match find(std::string_view method, std::string_view path);
  // Calls the handler, unless the call is about a session of another daemon and goes there.
  void serve(Route& route, Call call);
  // Calls the handler here. The one way to it: what every handler may rely on is checked here.
  static void run(Route& route, Call call);
  // Takes the calls of routes `at_owner` whose session is elsewhere; false: it is here.
  void set_elsewhere(std::move_only_function<bool(Route&, Call&)> take) {
    elsewhere_ = std::move(take);
  }
  const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }

 private:
  std::vector<std::unique_ptr<Route>> routes_;
  std::move_only_function<bool(Route&, Call&)> elsewhere_;
};

}  // namespace perdure
