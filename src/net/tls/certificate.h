// A self-signed certificate, for a server whose clients identify it by its fingerprint instead of
// its name.
#pragma once

#include <string>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "net/server/server.h"

namespace perdure {

// Writes a new P-256 key (0600) and its certificate, which practically never expires. Existing
// files are replaced; after an error there may be a key without a certificate. May block, because
// it writes files.
Result<> make_certificate(const TlsFiles& files, const std::string& name);

// SHA-256 of the file's certificate in DER form.
Result<Hash> certificate_fingerprint(const std::string& file);

}  // namespace perdure
