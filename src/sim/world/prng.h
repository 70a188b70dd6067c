// The simulator's only source of randomness: xoshiro256**, seeded by splitmix64. Implemented here
// so that a seed gives the same run with every compiler and library.
#pragma once

#include <array>
#include <cstdint>

#include "base/check.h"

namespace perdure::sim {

class Prng {
 public:
  explicit Prng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = splitmix(seed);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // 0 … n - 1. The bias of the remainder is negligible here.
  std::uint64_t below(std::uint64_t n) {
    CHECK(n > 0);
    return next() % n;
  }
  // Both ends inclusive.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    CHECK(low <= high);
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  // True with this probability in parts per million. Integers: rounding cannot change a run.
  bool chance(std::uint64_t per_million) { return below(1'000'000) < per_million; }

  // A new stream, independent of later use of this one.
  Prng fork() { return Prng(next()); }

 private:
  static std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  static std::uint64_t splitmix(std::uint64_t& x) {
    x += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = x;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace perdure::sim
