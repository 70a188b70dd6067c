// One child of PosixProcesses: its pipes or terminal, and its end. All output first, then its end,
// then the exit; whoever else holds the pipes open delays that by output_drain_ms and no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/result.h"
#include "env/process.h"
#include "env_posix/fd.h"
#include "env_posix/loop.h"
#include "env_posix/spawn.h"

namespace perdure {

class PosixProcesses;

// Since the host's boot, the time that it slept included.
std::int64_t boottime_ms();

// Our ends of a child's stdio. With a terminal there is only `output`, until prepare() makes
// `input` another descriptor of the same.
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
  // Reaches what is left of the group also after the exit.
  void signal(int number) override;
  void resize(TerminalSize size) override;

  // SIGKILL was sent by us: not a sign of memory running out.
  void note_kill() { killed_by_us_ = true; }
  // How many oom kills were counted before it was born.
  void set_oom_kills_before(std::optional<std::uint64_t> count);

 private:
  enum class Stream : std::uint8_t { output, error_output };
  struct Channel {
    Fd fd;
    Watch watch;
    std::size_t owed_bytes = 0;  // in the pipe when the process ended, and not yet given
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
  // The last two looks at the counter: only a kill that is about as recent as our last sign of the
  // process can have been its own. Two, since its last words may be read after its death.
  std::optional<std::uint64_t> oom_kills_before_;
  std::optional<std::uint64_t> oom_kills_last_;
  std::int64_t oom_looked_ms_ = 0;
  std::optional<ProcessExit> exit_;  // it has ended
  bool exit_told_ = false;
  Loop::TimerId drain_timer_ = 0;
  bool* destroyed_ = nullptr;  // set while events are told, which may destroy us
};

}  // namespace perdure
