// GET /acp: the ACP face for editors over a WebSocket, with one message per text frame. It runs the
// same core as `perdure acp` over the same routes, as the principal that the gate admitted. Closing
// the socket stops nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "daemon/api/gate/route.h"
#include "daemon/api/streams/streams.h"
#include "daemon/local_calls.h"

namespace perdure {

class AcpConnection;

class AcpServer {
 public:
  // Both must outlive it. A socket counts as a stream: it ends with its principal's right to read.
  AcpServer(Streams& streams, LocalApi api, std::string version);
  ~AcpServer();
  AcpServer(const AcpServer&) = delete;
  AcpServer& operator=(const AcpServer&) = delete;

  void add_to(Router& router);
  std::size_t connections() const { return connections_.size(); }

 private:
  friend class AcpConnection;
  void accept(const Call& call);
  void forget_later(std::uint64_t number);

  Streams& streams_;
  LocalApi api_;
  std::string version_;
  std::map<std::uint64_t, std::shared_ptr<AcpConnection>> connections_;
  std::uint64_t last_connection_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
