#include "agentctl/workspace/shells/scrollback.h"

#include <algorithm>

#include "base/check.h"

namespace perdure {

Scrollback::Scrollback(std::size_t bytes_max) : bytes_max_(bytes_max) { CHECK(bytes_max > 0); }

void Scrollback::append(std::string_view bytes) {
  if (bytes.size() > bytes_max_) {
    // Bytes that this same call would overwrite only advance the numbers. The ring must be full for
    // a byte's place to be defined, so its old contents serve as filling.
    const std::size_t skipped = bytes.size() - bytes_max_;
    kept_.resize(bytes_max_);
    end_ += skipped;
    bytes.remove_prefix(skipped);
  }
  while (!bytes.empty()) {
    const auto at = static_cast<std::size_t>(end_ % bytes_max_);
    const std::size_t length = std::min(bytes.size(), bytes_max_ - at);
    if (kept_.size() < bytes_max_) {
      CHECK(at == kept_.size());
      kept_.append(bytes.substr(0, length));
    } else {
      bytes.copy(kept_.data() + at, length);
    }
    end_ += length;
    bytes.remove_prefix(length);
  }
}

std::string Scrollback::read(std::uint64_t offset, std::size_t bytes_max) const {
  CHECK(offset >= begin() && offset <= end_);
  std::string out;
  std::size_t left = std::min<std::uint64_t>(bytes_max, end_ - offset);
  out.reserve(left);
  while (left > 0) {
    const auto at = static_cast<std::size_t>(offset % bytes_max_);
    const std::size_t length = std::min(left, bytes_max_ - at);
    out.append(kept_, at, length);
    offset += length;
    left -= length;
  }
  return out;
}

}  // namespace perdure
