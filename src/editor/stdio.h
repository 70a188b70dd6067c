// `perdure acp`: the face on standard input and output, connected to the daemon by the HTTP client.
// It ends with the editor; the sessions continue.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "client/api.h"
#include "editor/face.h"

namespace perdure::face {

struct StdioWorld {
  client::DaemonApi& daemon;
  // Starts a missing daemon, if permitted. Blocks.
  std::function<Result<>()> revive;
};

// Blocks until the editor has closed its end, or has not read for face_write_ms. Returns the exit
// code. `setup` needs no key_prefix.
int serve_stdio(const StdioWorld& world, FaceSetup setup);

}  // namespace perdure::face
