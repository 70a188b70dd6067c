// Bytes as an imported foreign journal, and as later events in it: see
// core/session/foreign_journal_for_test.h. Ends the process on a broken CHECK.
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/session/foreign_journal_for_test.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace perdure;
  constexpr std::size_t inputs_max = 200;
  const std::span all(bytes, size);
  const std::size_t third = size / 3;
  (void)live_in_foreign_journal({.life = Dice(all.first(third)),
                                 .disorder = Dice(all.subspan(third, third)),
                                 .after = Dice(all.subspan(2 * third))},
                                size % 2 == 0 ? CopyKind::imported : CopyKind::forked, inputs_max);
  return 0;
}
