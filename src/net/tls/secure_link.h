// Both ends of a Link over TCP and TLS 1.3. The caller identifies the peer by its certificate's
// fingerprint. The listener does not authenticate callers; the receiver of the link must do that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "env/link.h"
#include "net/io.h"
#include "net/server/server.h"

namespace perdure {

class SecureLink : public Link {
 public:
  // Why it was closed, if known.
  virtual std::string trouble() const = 0;
  // For an accepted link: the source with which its connections are counted.
  virtual const std::string& source() const = 0;
};

struct SecurePeer {
  std::string host;  // a name or an address
  std::uint16_t port = 0;
  Hash fingerprint;
  std::int64_t connect_ms = 10'000;  // limit for connecting
  std::int64_t silence_ms = 15'000;  // closes if the other host is silent this long
};

// Returns a link at once. Sent data waits until the peer has shown its certificate. If that is the
// wrong one, the data is dropped and on_closed follows. The io must outlive the link.
std::unique_ptr<SecureLink> dial(HttpIo& io, const SecurePeer& peer);

struct SecureListenSetting {
  std::string host;        // numeric
  std::uint16_t port = 0;  // 0: any
  TlsFiles files;
  std::int64_t handshake_ms = 10'000;  // limit for the whole handshake
  std::int64_t silence_ms = 15'000;
};

class SecureListener {
 public:
  using OnLink = std::move_only_function<void(std::unique_ptr<SecureLink>)>;
  virtual ~SecureListener() = default;
  // invalid_argument: not an address, or no certificate in the files; unavailable: the address is
  // taken. A link is passed on before its handshake has finished.
  static Result<std::unique_ptr<SecureListener>> listen(HttpIo& io,
                                                        const SecureListenSetting& setting,
                                                        OnLink on_link);
  virtual std::uint16_t port() const = 0;
};

}  // namespace perdure
