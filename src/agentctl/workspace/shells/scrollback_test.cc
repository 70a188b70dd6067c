// Compares a shell's ring with a simple model: the whole output in one string.
#include "agentctl/workspace/shells/scrollback.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

RC_GTEST_PROP(Scrollback, holds_exactly_the_last_bytes, ()) {
  const auto limit = *rc::gen::inRange<std::size_t>(1, 40);
  Scrollback ring(limit);
  std::string all;
  const auto sizes = *rc::gen::container<std::vector<std::size_t>>(
      rc::gen::inRange<std::size_t>(0, 3 * limit + 2));
  for (const std::size_t size : sizes) {
    std::string piece;
    for (std::size_t i = 0; i < size; ++i) {
      piece += static_cast<char>('a' + (all.size() + i) % 26);
    }
    all += piece;
    ring.append(piece);
    RC_ASSERT(ring.end() == all.size());
    RC_ASSERT(ring.begin() == all.size() - std::min(all.size(), limit));
    const auto from = *rc::gen::inRange<std::uint64_t>(ring.begin(), ring.end() + 1);
    const auto want = *rc::gen::inRange<std::size_t>(0, limit + 3);
    RC_ASSERT(ring.read(from, want) == all.substr(from, want));
  }
}

}  // namespace
}  // namespace perdure
