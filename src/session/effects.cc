// Instantiates once what every file that uses effects needs.
#include "session/effects.h"

#include "base/one_of_members.h"

namespace perdure {

template class OneOf<CommandKinds>;
template class OneOf<EffectKinds>;

}  // namespace perdure
