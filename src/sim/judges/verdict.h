// A run's first violation. Later ones are mostly its consequences, so only the first is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace perdure::sim {

enum class Phase { safety, liveness };

struct Violation {
  std::string invariant;  // J1, ACK2 … as in docs/invariants.md
  std::string what;
  std::uint64_t step = 0;
  Phase phase = Phase::safety;
};

class Verdict {
 public:
  bool is_bad() const { return first_.has_value(); }
  const std::optional<Violation>& first() const { return first_; }

  void set_step(std::uint64_t step) { step_ = step; }
  void set_phase(Phase phase) { phase_ = phase; }
  void fail(std::string invariant, std::string what) {
    if (!first_) first_ = Violation{std::move(invariant), std::move(what), step_, phase_};
  }
  // Fails unless the condition holds.
  template <class What>
  bool expect(bool condition, const char* invariant, const What& what) {
    if (!condition && !first_) fail(invariant, what());
    return condition;
  }

 private:
  std::uint64_t step_ = 0;
  Phase phase_ = Phase::safety;
  std::optional<Violation> first_;
};

}  // namespace perdure::sim
