// Bytes as a life of a session: the decoder of the random driver draws each step from them; it is
// decided, folded and checked. Ends the process on a broken invariant, and if the journal folds to
// another state than the live one.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "core/session/machine_checker_for_test.h"
#include "core/session/random_inputs_for_test.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace perdure;
  constexpr std::size_t inputs_max = 400;
  RandomInputs inputs{Dice(std::span(bytes, size))};
  MachineChecker machine(16);
  (void)machine.feed(inputs.create());
  for (std::size_t i = 0; i < inputs_max && !inputs.exhausted(); ++i) {
    (void)machine.feed(inputs.next(machine.state()));
    if (machine.violation()) check_failed(__FILE__, __LINE__, "violation", *machine.violation());
  }
  machine.check_replay();
  CHECK(!machine.violation(), *machine.violation());
  return 0;
}
