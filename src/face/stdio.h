// `perdure acp`: the face on standard input and output, with the daemon behind the HTTP client. It
// ends with the editor; the sessions do not.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "client/api.h"
#include "face/face.h"

namespace perdure::face {

struct StdioWorld {
  client::DaemonApi& daemon;
  // Starts a daemon that is gone, where that is allowed. Blocks.
  std::function<Result<>()> revive;
};

// Blocks until the editor has closed its end, or has not read for face_write_ms. Gives the exit
// code. `setup` needs no key_prefix.
int serve_stdio(const StdioWorld& world, FaceSetup setup);

}  // namespace perdure::face
