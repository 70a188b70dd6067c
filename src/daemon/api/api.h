// The API as the HTTP server calls it. Each request passes the gate, is matched to a route and
// reaches a handler, always in this order. Requests wait until the daemon has reconciled.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/api/gate/gate.h"
#include "daemon/api/gate/route.h"
#include "daemon/api/streams/stream_slots.h"
#include "daemon/runtime/audit/audit.h"
#include "env/env.h"
#include "net/server/server.h"

namespace perdure {

// Adds the headers that the response does not set itself: they forbid framing, MIME sniffing,
// embedding by another origin, and caching.
void add_safe_headers(HttpResponse& response);

class Api final : public HttpHandler {
 public:
  struct Options {
    std::function<bool()> is_ready;  // Runtime::is_ready()
    // The page's files, which are public; nullopt for an unknown path. Never called for /api/….
    std::function<std::optional<HttpResponse>(const HttpRequest&)> shell;
    // Counts refusals. May be null.
    Audit* audit = nullptr;
  };
  // Node, clock, random and loop must outlive it. It adds /healthz and /readyz itself.
  Api(Gate::World world, Loop& loop, GateConfig gate, Options options);
  ~Api() override;
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  Router& router() { return router_; }
  Gate& gate() { return gate_; }
  // One count for all long-lived connections: SSE and sockets.
  StreamSlots& streams() { return streams_; }

  std::string on_accept(int descriptor, HttpPeer& peer) override;
  HttpAdmission on_head(const HttpRequest& head) override;
  void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override;

 private:
  struct Examined {
    Route* route = nullptr;  // null: the request is for the page
    std::vector<std::string> arguments;
    Principal principal;
  };
  struct Waiting {
    HttpRequest request;
    std::shared_ptr<HttpExchange> exchange;
    BootTime until;
  };

  // Everything before the handler. The head is checked first and the whole request again, because
  // only then is the origin of a TCP caller known for certain.
  enum class Stage { head, request };
  Result<Examined> examine(const HttpRequest& request, Gate::Ticket ticket, Stage stage);
  void look_where_from(HttpRequest request, std::shared_ptr<HttpExchange> exchange);
  // Records a refusal and returns it. `principal` null: the caller was not identified.
  std::unexpected<Error> refused(const HttpRequest& request, const Route* route,
                                 const Principal* principal, Error error);
  // Records a token's first use from an address during this life of the daemon.
  void note_token_use(const HttpRequest& request, const Principal& principal);
  bool is_of_shell(const HttpRequest& request) const;
  void add_health_routes();
  void wait(HttpRequest request, std::shared_ptr<HttpExchange> exchange);
  void look_again();
  void serve_shell(const HttpRequest& request, HttpExchange& exchange);

  Loop& loop_;
  Clock& clock_;
  Options options_;
  Router router_;
  Gate gate_;
  StreamSlots streams_;
  std::set<std::pair<std::string, std::string>> token_uses_;  // token and address
  std::deque<Waiting> waiting_;
  Loop::TimerId timer_ = 0;
};

}  // namespace perdure
