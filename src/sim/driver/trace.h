// The events of a run in order: always as a hash, and as a table for people. Equal seeds must give
// equal hashes (J5), so everything relevant goes through note().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perdure::sim {

class Trace {
 public:
  // Prints each note as a line of the table.
  void set_printing(bool on) { printing_ = on; }
  bool is_printing() const { return printing_; }

  // A step begins at this virtual time.
  void begin_step(std::uint64_t step, std::int64_t now_ms) {
    step_ = step;
    now_ms_ = now_ms;
    mix(static_cast<std::uint64_t>(now_ms));
  }

  // `who` names the actor (daemon, disk, link, agent, client …); `text` is only called when needed.
  template <class Text>
  void note(std::string_view who, std::uint64_t value, const Text& text) {
    mix_text(who);
    mix(value);
    if (printing_) print(who, text());
  }

  std::uint64_t hash() const { return hash_; }
  std::uint64_t step() const { return step_; }

  void mix(std::uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15ULL;
    hash_ ^= hash_ >> 29;
  }
  void mix_text(std::string_view text);

 private:
  void print(std::string_view who, const std::string& text) const;

  bool printing_ = false;
  std::uint64_t step_ = 0;
  std::int64_t now_ms_ = 0;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

// A fast 64-bit hash of bytes, to detect changes.
std::uint64_t hash64(std::string_view bytes);

}  // namespace perdure::sim
