// A Link over TCP and TLS 1.3, both ends of it. Who calls knows the peer by the fingerprint of its
// certificate; who is called knows nobody: proof is the business of whoever gets the link.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "env/link.h"
#include "http/io.h"
#include "http/server.h"

namespace perdure {

class SecureLink : public Link {
 public:
  // Why it was closed, where that is known.
  virtual std::string trouble() const = 0;
  // Of one that called us: whose connections are counted together.
  virtual const std::string& source() const = 0;
};

struct SecurePeer {
  std::string host;  // a name or an address
  std::uint16_t port = 0;
  Hash fingerprint;
  std::int64_t connect_ms = 10'000;  // then it is closed
  std::int64_t silence_ms = 15'000;  // the other host not heard for so long: closed
};

// Gives a link at once; what is sent waits until the peer has shown its certificate, and is dropped
// if that is another one: on_closed follows then. The io outlives the link.
std::unique_ptr<SecureLink> dial(HttpIo& io, const SecurePeer& peer);

struct SecureListenSetting {
  std::string host;        // numeric
  std::uint16_t port = 0;  // 0: any
  TlsFiles files;
  std::int64_t handshake_ms = 10'000;  // for the whole of it; then the caller is cut
  std::int64_t silence_ms = 15'000;
};

class SecureListener {
 public:
  using OnLink = std::move_only_function<void(std::unique_ptr<SecureLink>)>;
  virtual ~SecureListener() = default;
  // invalid_argument: no address, or no certificate in the files; unavailable: it is taken. A link
  // is handed over before its handshake is done.
  static Result<std::unique_ptr<SecureListener>> listen(HttpIo& io,
                                                        const SecureListenSetting& setting,
                                                        OnLink on_link);
  virtual std::uint16_t port() const = 0;
};

}  // namespace perdure
