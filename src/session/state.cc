// What every file that keeps a state needs, made once: a dozen containers are copied, compared and
// ended here.
#include "session/state.h"

namespace perdure {

State::State() = default;
State::State(const State&) = default;
State::State(State&&) noexcept = default;
State& State::operator=(const State&) = default;
State& State::operator=(State&&) noexcept = default;
State::~State() = default;
bool State::operator==(const State&) const = default;

}  // namespace perdure
