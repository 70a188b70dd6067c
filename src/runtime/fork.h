// Runs a fork: copies page by page, so that a long session needs no more memory than a short one.
// The new session is listed by its last commit; before that nobody sees it.
#pragma once

#include <string>

#include "runtime/shared.h"

namespace perdure {

struct ForkOrder {
  SessionId from;
  Seq at = 0;  // 0: all
  SessionId to;
  std::string by;
};

// Answers once, when the whole copy is durable. not_found, cursor_invalid or conflict change
// nothing.
void start_fork(ActorShared& shared, ForkOrder order, ReplyFn reply);

}  // namespace perdure
