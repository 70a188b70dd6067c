// Instantiates once what every file that uses inputs needs.
#include "core/session/inputs.h"

#include "base/json/one_of_members.h"

namespace perdure {

template class OneOf<FrameKinds>;
template class OneOf<InputKinds>;

}  // namespace perdure
