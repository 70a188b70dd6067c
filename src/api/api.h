// The API as the HTTP server calls it: each request passes the gate, finds its route and reaches a
// handler, in this order and no other. Until the daemon has reconciled, requests wait.
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

#include "api/gate.h"
#include "api/route.h"
#include "api/stream_slots.h"
#include "env/env.h"
#include "http/server.h"
#include "runtime/audit.h"

namespace perdure {

// Put on every answer that does not say otherwise itself: nothing is framed, sniffed, embedded by
// another origin or kept by a cache.
void add_safe_headers(HttpResponse& response);

class Api final : public HttpHandler {
 public:
  struct Options {
    std::function<bool()> is_ready;  // Runtime::is_ready()
    // The page's files, which are public: nothing for a path that is none. Never asked for /api/….
    std::function<std::optional<HttpResponse>(const HttpRequest&)> shell;
    // Where refusals are counted. May be null.
    Audit* audit = nullptr;
  };
  // Node, clock, random and loop outlive it. /healthz and /readyz are routes of its own.
  Api(Gate::World world, Loop& loop, GateConfig gate, Options options);
  ~Api() override;
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  Router& router() { return router_; }
  Gate& gate() { return gate_; }
  // One count for everything that stays open: SSE and sockets.
  StreamSlots& streams() { return streams_; }

  std::string on_accept(int descriptor, HttpPeer& peer) override;
  HttpAdmission on_head(const HttpRequest& head) override;
  void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override;

 private:
  struct Examined {
    Route* route = nullptr;  // null: of the shell
    std::vector<std::string> arguments;
    Principal principal;
  };
  struct Waiting {
    HttpRequest request;
    std::shared_ptr<HttpExchange> exchange;
    BootTime until;
  };

  // Everything before the handler. The head is looked at first, and all of it again at the request:
  // only then is known for certain where a caller over TCP comes from.
  enum class Stage { head, request };
  Result<Examined> examine(const HttpRequest& request, Gate::Ticket ticket, Stage stage);
  void look_where_from(HttpRequest request, std::shared_ptr<HttpExchange> exchange);
  // Notes a refusal and passes it on. `principal` null: nobody was identified.
  std::unexpected<Error> refused(const HttpRequest& request, const Route* route,
                                 const Principal* principal, Error error);
  // Notes the first use of a token from an address in this life of the daemon.
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
