// Runs git: a few jobs at once, in order, each with a time and output limit. A repository's
// settings may name programs; a reading job never runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "env/env.h"
#include "env/process.h"

namespace perdure {

// The effect of a job on the repository. Writing jobs run one at a time and may run filters, as
// users expect of the same command; `write_with_hooks` also runs hooks, `write_without_programs`
// runs no program at all.
enum class GitAccess { read, write, write_with_hooks, write_without_programs };

struct GitJob {
  std::vector<std::string> arguments;  // the subcommand first
  std::vector<std::string> settings;   // additional `-c` values: name=value
  std::string cwd;                     // absolute
  std::string input;                   // for its stdin
  GitAccess access = GitAccess::read;
  enum class Pathspecs { literal, patterns } pathspecs = Pathspecs::literal;
  std::size_t output_bytes_max = git_output_bytes_max;
  std::int64_t time_ms = 0;                   // 0: the default of its access
  std::vector<std::string> environment = {};  // additional: NAME=value
  // Receives the output instead of keeping it; returns false to stop the job.
  std::move_only_function<bool(std::string_view)> sink;
};

struct GitOutput {
  int exit_code = 0;
  std::string output;
  std::string error_text;  // the beginning of stderr
  bool cut = false;        // we ended it: output limit reached, or the sink returned false
};

class GitRunner {
 public:
  using Done = std::move_only_function<void(Result<GitOutput>)>;
  using JobId = std::uint64_t;

  struct Setup {
    Loop& loop;
    Processes& processes;
    std::vector<std::string> environment;  // NAME=value: the user's PATH, HOME, …
  };
  explicit GitRunner(Setup setup);
  // Kills running jobs without calling their `done`.
  ~GitRunner();
  GitRunner(const GitRunner&) = delete;
  GitRunner& operator=(const GitRunner&) = delete;

  // `done` is called once, from the loop or before this returns. limit_reached: the queue is full.
  // unavailable: git is missing, timed out or was ended by a signal. A failure of git itself is not
  // an error here: check the exit code.
  JobId run(GitJob job, Done done);
  // Removes it from the queue or kills it; its `done` is never called.
  void cancel(JobId id);

 private:
  struct Waiting;
  class Running;

  void start_next();
  void start(Waiting waiting);
  void finish(Running& running, Result<GitOutput> outcome);

  Setup setup_;
  JobId last_id_ = 0;
  std::size_t writing_ = 0;
  std::deque<Waiting> queue_;
  std::map<JobId, std::unique_ptr<Running>> running_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// The environment and arguments of a job; a separate function so that tests can check them.
SpawnSpec git_spawn_spec(const GitJob& job, const std::vector<std::string>& environment);

// Git's error output, on one line, for a person.
std::string git_complaint(const GitOutput& output);

}  // namespace perdure
