// Instantiates once what every file that holds a state needs: copying, comparing and destroying a
// dozen containers.
#include "core/session/state.h"

namespace perdure {

State::State() = default;
State::State(const State&) = default;
State::State(State&&) noexcept = default;
State& State::operator=(const State&) = default;
State& State::operator=(State&&) noexcept = default;
State::~State() = default;
bool State::operator==(const State&) const = default;

}  // namespace perdure
