// What every file that passes inputs around needs, made once.
#include "session/inputs.h"

#include "base/one_of_members.h"

namespace perdure {

template class OneOf<FrameKinds>;
template class OneOf<InputKinds>;

}  // namespace perdure
