// TLS 1.2 and later over any ByteStream, by OpenSSL with in-memory buffers, so plain connections
// have no cost. It can hold up to 64 KiB of encrypted output.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/reactor.h"
#include "net/server/server.h"

namespace perdure {

// Certificate and key of a server, in memory: the files are read once.
class TlsIdentity;

enum class TlsFloor { tls12, tls13 };

// invalid_argument names the problem with the files.
Result<std::shared_ptr<TlsIdentity>> load_tls_identity(const TlsFiles& files,
                                                       TlsFloor floor = TlsFloor::tls12);

// Disconnects a peer whose handshake is not complete after handshake_ms, even if it keeps sending.
std::shared_ptr<ByteStream> make_tls_server_stream(HttpReactor& reactor,
                                                   const TlsIdentity& identity,
                                                   std::shared_ptr<ByteStream> inner,
                                                   std::int64_t handshake_ms);

// The peer must show a certificate for this name or address that the system's store trusts;
// otherwise the stream breaks, and its trouble() gives the reason.
Result<std::shared_ptr<ByteStream>> make_tls_client_stream(HttpReactor& reactor,
                                                           std::shared_ptr<ByteStream> inner,
                                                           const std::string& host);

// TLS 1.3. The peer must show the certificate with this SHA-256, with any signer and name;
// otherwise the stream breaks before it sends any of our data, and trouble() gives the reason.
std::shared_ptr<ByteStream> make_tls_pinned_stream(HttpReactor& reactor,
                                                   std::shared_ptr<ByteStream> inner,
                                                   const Hash& fingerprint);

}  // namespace perdure
