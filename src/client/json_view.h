// The alias under which clients use the JSON view.
#pragma once

#include "base/json/json_view.h"

namespace perdure::client {

using perdure::JsonView;

}  // namespace perdure::client
