// Instantiates once what every file that uses inputs needs.
#include "session/inputs.h"

#include "base/one_of_members.h"

namespace perdure {

template class OneOf<FrameKinds>;
template class OneOf<InputKinds>;

}  // namespace perdure
