#include "sim/driver/trace.h"

#include <cstdio>
#include <cstring>

namespace perdure::sim {

std::uint64_t hash64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL ^ bytes.size();
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash ^ (hash >> 29);
}

void Trace::mix_text(std::string_view text) { mix(hash64(text)); }

void Trace::print(std::string_view who, const std::string& text) const {
  std::printf("%6llu %8lld.%03lld  %-9.*s %s\n", static_cast<unsigned long long>(step_),
              static_cast<long long>(now_ms_ / 1000), static_cast<long long>(now_ms_ % 1000),
              static_cast<int>(who.size()), who.data(), text.c_str());
}

}  // namespace perdure::sim
