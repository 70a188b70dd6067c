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
  std::vector<std::string> environment;  // NAME=value, complete: nothing is inherited
  std::string cwd;                       // absolute; must exist
  // If set: stdin, stdout and stderr are one terminal of this size, and all data comes as output.
  std::optional<TerminalSize> terminal;
};

// Evidence for the kernel's out-of-memory killer, in addition to a SIGKILL that was not ours: it
// was active shortly before.
enum class OomEvidence {
  none,
  machine,  // anywhere on the machine; groups are not counted separately
  group     // in the memory group of the process
};

struct ProcessExit {
  std::optional<int> code;
  std::optional<int> signal;
  OomEvidence oom = OomEvidence::none;
  bool operator==(const ProcessExit&) const = default;
};

// Called on the loop, never within a call to the process.
class ProcessEvents {
 public:
  virtual ~ProcessEvents() = default;
  virtual void on_output(std::string_view bytes) = 0;  // stdout, or the terminal
  virtual void on_error_output(std::string_view bytes) = 0;
  // The process has closed its output; on_exit follows once it has ended.
  virtual void on_output_end() = 0;
  // The last call. All earlier output was delivered, unless reading stays paused.
  virtual void on_exit(const ProcessExit& exit) = 0;
};

// One child. Destroying it kills and drops its group; no event follows.
class Process {
 public:
  virtual ~Process() = default;
  virtual std::int64_t pid() const = 0;
  // Queues bytes for its stdin, written as it reads. Silently dropped once it has ended.
  virtual void write(std::string_view bytes) = 0;
  // Bytes queued and not yet read by the process; the caller bounds them.
  virtual std::size_t unwritten_bytes() const = 0;
  // EOF on its stdin, after queued bytes. With a terminal: no effect.
  virtual void close_input() = 0;
  // Stop and continue reading stdout; until then the process blocks once its pipe is full. stderr
  // is always read.
  virtual void pause_output() = 0;
  virtual void resume_output() = 0;
  // To the whole group; no effect once it has ended.
  virtual void signal(int number) = 0;
  virtual void resize(TerminalSize size) = 0;
};

// A process by its number and its start time, in the host's ticks since boot: a number is reused,
// but not with the same time.
struct ProcessBirth {
  std::int64_t pid = 0;
  std::uint64_t started = 0;
  auto operator<=>(const ProcessBirth&) const = default;
};
using ProcessSet = std::set<ProcessBirth>;

// A child and its descendants, and processes left behind by descendants that ended: these carry the
// mark, NAME=value in the environment.
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
  // Kills (SIGKILL) every process but this one whose environment has NAME=value, anywhere in the
  // tree. Returns how many do not end: 0 proves that no visible one is left.
  virtual std::size_t kill_marked(const std::string& mark) = 0;
  // Limits on spawned processes that have rejected or ended something, for people; empty: none.
  virtual std::string limits_met() const { return {}; }
  // Kills all descendants; processes without a parent belong to a subreaper.
  virtual std::size_t kill_descendants() = 0;
  // The living members of a family, without its root. Of processes without a parent only those that
  // this process adopted (as a subreaper) are seen.
  virtual ProcessSet offspring(const Family& family) = 0;
  // Sends a signal to those that are still alive, and to all their descendants; 0 only checks.
  // Returns those reached. Never hits a later owner of a number.
  virtual ProcessSet signal_each(const ProcessSet& processes, int number) = 0;
};

}  // namespace perdure
