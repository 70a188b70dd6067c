// A program of one's own folder: whoever can write the place that it was installed to changes
// nothing of what is started from here on.
#pragma once

#include <string>

#include "base/result.h"

namespace perdure {

struct KeptProgram {
  std::string from;  // as installed; symlinks are followed
  std::string to;    // in a folder that nobody else can write
};

// Copies it, whole or not at all. Equal bytes stay the same file, so that processes of several
// daemon lives share its pages. After an error `to` is what it was before.
// denied: nothing in that folder can be started.
Result<> keep_program(const KeptProgram& program);

}  // namespace perdure
