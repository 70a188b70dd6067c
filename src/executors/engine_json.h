// What is said to an engine and what it answers, as the Docker Engine API 1.41 has it; podman's
// service answers alike. Pure: bytes in, values out. Whatever is missing reads as its default.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "executors/container_engine.h"

namespace perdure {

std::string encode_container(const ContainerOrder& order);
// unavailable for what is no answer of an engine.
Result<std::string> decode_created(std::string_view body);
Result<ContainerSight> decode_container_sight(std::string_view body);
Result<EngineAbilities> decode_abilities(std::string_view body);
Result<std::vector<ListedContainer>> decode_list(std::string_view body);
// What the engine has to say to a refusal; the bare bytes, shortened, where it is no JSON.
std::string refusal_words(std::string_view body);
// The query that lists by a label, encoded.
std::string label_filter(const std::string& label);

}  // namespace perdure
