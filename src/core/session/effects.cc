// Instantiates once what every file that uses effects needs.
#include "core/session/effects.h"

#include "base/json/one_of_members.h"

namespace perdure {

template class OneOf<CommandKinds>;
template class OneOf<EffectKinds>;

}  // namespace perdure
