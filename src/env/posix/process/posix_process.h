// One child of PosixProcesses: its pipes or terminal, and its end. Reports all output, its end,
// then the exit. If others hold the pipes open, that is delayed by at most output_drain_ms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"
#include "env/posix/files/fd.h"
#include "env/posix/loop/loop.h"
#include "env/posix/process/spawn.h"
#include "env/process.h"

namespace perdure {

class PosixProcesses;

// Since the host's boot, including the time that it slept.
std::int64_t boottime_ms();

// Our ends of a child's stdio. With a terminal there is only `output` until prepare() copies it to
// `input`.
struct ProcessEnds {
  Fd input;
  Fd output;
  Fd error_output;
  bool terminal = false;

  Result<> prepare();
};

class PosixProcess final : public Process {
 public:
  PosixProcess(PosixProcesses& owner, ProcessEvents& events, SpawnedChild child, ProcessEnds ends);
  ~PosixProcess() override;

  std::int64_t pid() const override { return pid_; }
  void write(std::string_view bytes) override;
  std::size_t unwritten_bytes() const override { return queue_.size() - queue_written_; }
  void close_input() override;
  void pause_output() override;
  void resume_output() override;
  // Reaches the rest of the group even after the exit.
  void signal(int number) override;
  void resize(TerminalSize size) override;

  // We sent SIGKILL, so it is not a sign of memory exhaustion.
  void note_kill() { killed_by_us_ = true; }
  // The number of oom kills before its start.
  void set_oom_kills_before(std::optional<std::uint64_t> count);

 private:
  enum class Stream : std::uint8_t { output, error_output };
  struct Channel {
    Fd fd;
    Watch watch;
    std::size_t owed_bytes = 0;  // bytes left in the pipe when the process ended
  };
  enum class Got { bytes, nothing_now, end, destroyed };

  Channel& channel(Stream stream) { return stream == Stream::output ? output_ : error_output_; }
  void start_reading(Stream stream);
  Got read_some(Stream stream);
  Got end_stream(Stream stream);
  void write_queued();
  void drop_input();
  void on_ended();
  ProcessExit exit_status();
  void look_at_oom_kills();
  OomEvidence oom_evidence() const;
  void finish_if_drained();
  void wait_for_drain();
  void cut_streams();

  PosixProcesses& owner_;
  EpollLoop& loop_;
  ProcessEvents& events_;
  const pid_t pid_;
  Fd pidfd_;
  Watch pidfd_watch_;
  const bool terminal_;
  Fd input_;
  Watch input_watch_;
  Channel output_;
  Channel error_output_;
  std::string queue_;
  std::size_t queue_written_ = 0;
  bool closing_input_ = false;
  bool paused_ = false;
  bool killed_by_us_ = false;
  // The last two readings of the counter: only a kill about as recent as the last sign of the
  // process can be its own. Two, since its last output may be read after its death.
  std::optional<std::uint64_t> oom_kills_before_;
  std::optional<std::uint64_t> oom_kills_last_;
  std::int64_t oom_looked_ms_ = 0;
  std::optional<ProcessExit> exit_;  // set after it has ended
  bool exit_told_ = false;
  Loop::TimerId drain_timer_ = 0;
  bool* destroyed_ = nullptr;  // set during event callbacks, which may destroy this object
};

}  // namespace perdure
