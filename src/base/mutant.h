// Switches for mutation testing. Only the copies that tools/mutate.py makes include this; the
// product contains no switch.
#pragma once

namespace perdure {

// The active mutant; 0: none.
inline int active_mutant = 0;
inline bool canary_is_on = false;

inline bool mutant(int number, bool condition) { return condition != (active_mutant == number); }
inline bool mutant_skips(int number) { return active_mutant == number; }
inline bool canary_sings() { return canary_is_on; }

}  // namespace perdure
