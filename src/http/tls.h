// TLS 1.2 and later over any ByteStream, by OpenSSL with its bytes in memory: plain connections pay
// nothing for it. Up to 64 KiB that are encrypted already may wait inside of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "http/byte_stream.h"
#include "http/reactor.h"
#include "http/server.h"

namespace perdure {

// Certificate and key of a server. Holds them in memory: the files are not read again.
class TlsIdentity;

enum class TlsFloor { tls12, tls13 };

// invalid_argument names what is wrong with the files.
Result<std::shared_ptr<TlsIdentity>> load_tls_identity(const TlsFiles& files,
                                                       TlsFloor floor = TlsFloor::tls12);

// A peer whose part of the handshake is not complete by then, however it cuts it into pieces, is
// cut off.
std::shared_ptr<ByteStream> make_tls_server_stream(HttpReactor& reactor,
                                                   const TlsIdentity& identity,
                                                   std::shared_ptr<ByteStream> inner,
                                                   std::int64_t handshake_ms);

// The peer must show a certificate for this name or address that the system's store trusts; else
// the stream breaks, and its trouble() says so.
Result<std::shared_ptr<ByteStream>> make_tls_client_stream(HttpReactor& reactor,
                                                           std::shared_ptr<ByteStream> inner,
                                                           const std::string& host);

// TLS 1.3; the peer must show the one certificate with this SHA-256, whoever signed it and for
// whatever name; else the stream breaks before anything of ours was sent, and trouble() says so.
std::shared_ptr<ByteStream> make_tls_pinned_stream(HttpReactor& reactor,
                                                   std::shared_ptr<ByteStream> inner,
                                                   const Hash& fingerprint);

}  // namespace perdure
