// The words by which a record can be found: what people and agents said, not how it was kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace perdure {

// Nothing for a record that holds no words, or that cannot be read.
std::optional<std::string> search_text(std::string_view record);

}  // namespace perdure
