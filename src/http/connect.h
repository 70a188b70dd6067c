// Reaching an endpoint: looking its name up, trying its addresses in turn, and TLS over it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/byte_stream.h"
#include "http/client.h"
#include "http/reactor.h"

namespace perdure {

// An attempt under way; dropping it gives it up, and nothing is told.
class Connecting {
 public:
  virtual ~Connecting() = default;
};

using OnConnected = std::move_only_function<void(Result<std::shared_ptr<ByteStream>>)>;

// `done` is told once, from the loop. How long it may take is the caller's business.
std::unique_ptr<Connecting> connect_to(HttpReactor& reactor, const HttpEndpoint& to,
                                       OnConnected done);

// What stands in Host: "localhost" for a unix socket, else the host, and the port where it is not
// the usual one.
std::string host_header(const HttpEndpoint& to);

}  // namespace perdure
