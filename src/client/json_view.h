// The name that clients know the view by.
#pragma once

#include "base/json_view.h"

namespace perdure::client {

using perdure::JsonView;

}  // namespace perdure::client
