// Makes a program independent: no parent, no terminal, no inherited descriptor or folder. The
// starting process waits for one answer; the answer or its absence shows whether the start worked.
#pragma once

#include <cstdint>
#include <string_view>

#include <sys/types.h>

#include "base/limits.h"
#include "base/result.h"
#include "env/posix/files/fd.h"

namespace perdure {

struct DetachSetting {
  // How long the starting process waits for the answer; then it exits as if there was none.
  std::int64_t answer_ms = executor_ready_ms;
  // Where it writes a refusal: stdout if a program reads it, stderr if a person does.
  int refusal_descriptor = 1;
};

// The process that continues.
class Detached {
 public:
  // Passes the answer to the starting process, which writes it to its stdout and exits with 0.
  // Once. limit_reached: longer than detach_answer_bytes_max; unavailable: the starter is gone. The
  // caller decides whether to continue without one.
  Result<> answer(std::string_view bytes);
  // The same for a failed start: the starting process writes it to refusal_descriptor and exits
  // with this code. No effect after an answer.
  void refuse(std::string_view bytes, int exit_code = 1);

  // The starter's own, for children that should have the user's umask.
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
// umask 077, default signals, none blocked. It does not return in the calling process, which waits
// for the answer and exits: with 0 after passing it on, or with 1 and a sentence on stderr if there
// was none. Call it with one thread and before creating a loop; take locks afterwards. After an
// error the caller is unchanged.
Result<Detached> detach(const DetachSetting& setting = {});

}  // namespace perdure
