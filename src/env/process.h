// Child processes as the supervisor sees them: spawned in a session and group of their own, read
// through pipes or a terminal, ended as a whole tree. env_posix has the real ones, sim scripted
// ones.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace perdure {

struct TerminalSize {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;
};

struct SpawnSpec {
  std::vector<std::string> command;      // command[0] is looked up in the PATH of `environment`
  std::vector<std::string> environment;  // NAME=value, the whole of it: nothing is inherited
  std::string cwd;                       // absolute; must exist
  // Given: stdin, stdout and stderr are one terminal of this size, and everything comes as output.
  std::optional<TerminalSize> terminal;
};

// What speaks for the kernel's out-of-memory killer, besides a SIGKILL that nobody of us sent: it
// was at work shortly before.
enum class OomEvidence {
  none,
  machine,  // somewhere on the machine; groups do not count here
  group     // in the memory group of the process
};

struct ProcessExit {
  std::optional<int> code;
  std::optional<int> signal;
  OomEvidence oom = OomEvidence::none;
  bool operator==(const ProcessExit&) const = default;
};

// Told on the loop, never from inside a call to the process.
class ProcessEvents {
 public:
  virtual ~ProcessEvents() = default;
  virtual void on_output(std::string_view bytes) = 0;  // stdout, or the terminal
  virtual void on_error_output(std::string_view bytes) = 0;
  // The process has closed its output; on_exit follows once it is gone too.
  virtual void on_output_end() = 0;
  // The last call. Every byte it wrote before was given, unless reading is paused for ever.
  virtual void on_exit(const ProcessExit& exit) = 0;
};

// One child. Destroying it kills its group and forgets it: no event comes afterwards.
class Process {
 public:
  virtual ~Process() = default;
  virtual std::int64_t pid() const = 0;
  // Queues bytes for its stdin; they are written as it reads. Silently dropped once it is gone.
  virtual void write(std::string_view bytes) = 0;
  // Bytes queued and not yet taken by the process: the caller's business to bound.
  virtual std::size_t unwritten_bytes() const = 0;
  // EOF on its stdin, behind what is queued. With a terminal: nothing.
  virtual void close_input() = 0;
  // Stops reading stdout, so that the process blocks when its pipe is full; and goes on. stderr is
  // always read.
  virtual void pause_output() = 0;
  virtual void resume_output() = 0;
  // To the whole group; nothing once it is gone.
  virtual void signal(int number) = 0;
  virtual void resize(TerminalSize size) = 0;
};

// A process by its number and the time of its start, in the host's ticks since boot: a number is
// used again, but not with the same time.
struct ProcessBirth {
  std::int64_t pid = 0;
  std::uint64_t started = 0;
  auto operator<=>(const ProcessBirth&) const = default;
};
using ProcessSet = std::set<ProcessBirth>;

// A child with everything below it, and with what its processes left behind when they ended: that
// carries the mark, NAME=value in its environment.
struct Family {
  std::int64_t root = 0;
  std::string mark;
};

class Processes {
 public:
  virtual ~Processes() = default;
  // not_found: no such program; invalid_argument: no such folder; limit_reached: no more processes.
  // `events` outlives the process. May block for the length of a spawn, no longer.
  virtual Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) = 0;
  // Kills (SIGKILL) every process but this one whose environment has NAME=value, wherever in the
  // tree it hides. Gives how many do not end: 0 is proof that none is left that can be seen.
  virtual std::size_t kill_marked(const std::string& mark) = 0;
  // What the limits of the spawned have refused or ended so far, for people; empty: nothing.
  virtual std::string limits_met() const { return {}; }
  // Kills everything that is under this process; what its parents left falls to a subreaper.
  virtual std::size_t kill_descendants() = 0;
  // Who of a family lives now, its root not among them. Of those left behind only such as fell to
  // this process (a subreaper's) are seen.
  virtual ProcessSet offspring(const Family& family) = 0;
  // Sends a signal to those of them that still live, and to all that is below these; 0 is only a
  // look. Gives whom it reached. Never hits a later owner of a number.
  virtual ProcessSet signal_each(const ProcessSet& processes, int number) = 0;
};

}  // namespace perdure
