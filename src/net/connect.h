// Connects to an endpoint: resolves its name, tries its addresses in turn, and adds TLS.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/byte_stream.h"
#include "net/client.h"
#include "net/reactor.h"

namespace perdure {

// An attempt in progress. Destroying it cancels it without a callback.
class Connecting {
 public:
  virtual ~Connecting() = default;
};

using OnConnected = std::move_only_function<void(Result<std::shared_ptr<ByteStream>>)>;

// `done` is called once, from the loop. The caller must limit the time.
std::unique_ptr<Connecting> connect_to(HttpReactor& reactor, const HttpEndpoint& to,
                                       OnConnected done);

// The Host header: "localhost" for a unix socket, otherwise the host, with the port if it is not
// the default.
std::string host_header(const HttpEndpoint& to);

}  // namespace perdure
