// After the faults: brings every session to rest by answering questions and releasing held prompts,
// as a person would. A session that is not at rest then never will be (Q1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api_client.h"

namespace perdure {

// Empty if every session has come to rest; otherwise the state of the last one.
std::string heal(ApiClient& api, const std::vector<std::string>& sessions,
                 std::int64_t wait_ms = 90'000);

}  // namespace perdure
