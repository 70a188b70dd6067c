// What a program does to belong to nobody: no parent, no terminal, no descriptor, no folder.
// Whoever started it waits for one answer and learns by it, or by its absence, whether the start
// worked.
#pragma once

#include <cstdint>
#include <string_view>

#include <sys/types.h>

#include "base/limits.h"
#include "base/result.h"
#include "env_posix/fd.h"

namespace perdure {

struct DetachSetting {
  // How long the starting process waits for the answer; then it exits as if there was none.
  std::int64_t answer_ms = executor_ready_ms;
  // Where it writes a refusal: stdout where a program reads it, stderr where a person does.
  int refusal_descriptor = 1;
};

// The side that goes on.
class Detached {
 public:
  // Hands the answer to the starting process, which writes it to its stdout and exits with 0. Once.
  // limit_reached: longer than detach_answer_bytes_max; unavailable: nobody waits any more. Whether
  // to go on unknown to all is for the caller to say.
  Result<> answer(std::string_view bytes);
  // The same for a start that did not work: the starting process writes it to refusal_descriptor
  // and exits with this code. Does nothing where an answer was given before.
  void refuse(std::string_view bytes, int exit_code = 1);

  // As the starter had it: for the children that are not ours to narrow.
  mode_t umask_before() const { return umask_before_; }

 private:
  friend Result<Detached> detach(const DetachSetting& setting);
  Result<> send(std::string_view bytes, int exit_code);
  Detached(Fd pipe, mode_t umask_before) : pipe_(std::move(pipe)), umask_before_(umask_before) {}
  Fd pipe_;
  mode_t umask_before_;
};

// Returns in a new process: child of init (or of a subreaper), in a session that it does not lead
// and that has no terminal, stdio at /dev/null, all other descriptors closed, in the folder /,
// umask 077, default signals, none blocked. In the process that called it does not return: that one
// waits for the answer and exits, with 0 when it has passed it on, with 1 and a sentence on stderr
// when there was none. Call it with one thread and before there is a loop; locks are taken
// afterwards. After an error the caller is still what it was.
Result<Detached> detach(const DetachSetting& setting = {});

}  // namespace perdure
