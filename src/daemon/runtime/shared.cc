#include "daemon/runtime/shared.h"

namespace perdure {

std::string make_wait_secret(const std::string& wait_key, WaitTokenId token) {
  return hmac_sha256(wait_key, token.text()).hex();
}

}  // namespace perdure
