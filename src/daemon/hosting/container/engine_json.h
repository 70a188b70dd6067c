// Requests to an engine and its answers, as in the Docker Engine API 1.41; podman's service answers
// alike. Pure: bytes in, values out. Missing members have their defaults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/hosting/container/container_engine.h"

namespace perdure {

std::string encode_container(const ContainerOrder& order);
// unavailable if the text is not an engine's answer.
Result<std::string> decode_created(std::string_view body);
Result<ContainerSight> decode_container_sight(std::string_view body);
Result<EngineAbilities> decode_abilities(std::string_view body);
Result<std::vector<ListedContainer>> decode_list(std::string_view body);
// The engine's message in a refusal; if it is not JSON, the shortened bytes.
std::string refusal_words(std::string_view body);
// The query that lists by a label, encoded.
std::string label_filter(const std::string& label);

}  // namespace perdure
