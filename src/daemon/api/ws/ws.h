// GET /ws: one socket, many sessions. A request is {id, type: "request", action, payload, key?} and
// gets one response or error with its id; events are {type: "event", action, payload}. Requests use
// the same commands as the routes. Closing a socket closes nothing else (U1, U2, U18).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "daemon/api/gate/route.h"
#include "daemon/api/routes/session/commands.h"
#include "daemon/api/streams/streams.h"

namespace perdure {

class WsConnection;

class WsServer {
 public:
  // Both must outlive it. A socket counts as a stream: it ends with its principal's right to read.
  WsServer(Streams& streams, SessionCommands& commands);
  ~WsServer();
  WsServer(const WsServer&) = delete;
  WsServer& operator=(const WsServer&) = delete;

  // Takes an admitted call with `Upgrade: websocket`. limit_reached if its principal has too many.
  void accept(const Call& call);
  std::size_t connections() const { return connections_.size(); }

  ApiWorld& world() { return streams_.world(); }
  SessionCommands& commands() { return commands_; }

 private:
  friend class WsConnection;
  void session_changed(SessionId session);
  void forget_later(std::uint64_t number);

  Streams& streams_;
  SessionCommands& commands_;
  std::map<std::uint64_t, std::shared_ptr<WsConnection>> connections_;
  std::uint64_t last_connection_ = 0;
  std::uint64_t runtime_watch_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

void add_ws_route(Router& router, WsServer& server);

}  // namespace perdure
