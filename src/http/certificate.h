// A certificate that signs itself, for a server whose clients know it by its fingerprint and not by
// its name.
#pragma once

#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "http/server.h"

namespace perdure {

// Writes a new P-256 key (0600) and its certificate, which does not expire in practice. What is
// there is replaced; after an error there may be a key without a certificate. May block: it writes
// files.
Result<> make_certificate(const TlsFiles& files, const std::string& name);

// SHA-256 of the certificate in the file, in its DER form.
Result<Hash> certificate_fingerprint(const std::string& file);

}  // namespace perdure
