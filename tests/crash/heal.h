// After the faults: brings every session to rest by answering what is asked and letting go what is
// held, as a person would. What is not at rest then will never be (Q1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api_client.h"

namespace perdure {

// Empty when every session has come to rest; else what the last one looked like.
std::string heal(ApiClient& api, const std::vector<std::string>& sessions,
                 std::int64_t wait_ms = 90'000);

}  // namespace perdure
