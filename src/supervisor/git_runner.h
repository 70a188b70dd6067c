// Runs git: few at once, in order, with a limit of time and output each. A repository's own
// settings may name programs; a reading job runs none of them, whatever the repository says.
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

// What a job does to the repository. Writing jobs run one at a time and may run filters, as a user
// who types the command expects; `write_with_hooks` runs hooks too, `write_without_programs` no
// program at all.
enum class GitAccess { read, write, write_with_hooks, write_without_programs };

struct GitJob {
  std::vector<std::string> arguments;  // the subcommand first
  std::vector<std::string> settings;   // more `-c` values: name=value
  std::string cwd;                     // absolute
  std::string input;                   // for its stdin
  GitAccess access = GitAccess::read;
  enum class Pathspecs { literal, patterns } pathspecs = Pathspecs::literal;
  std::size_t output_bytes_max = git_output_bytes_max;
  std::int64_t time_ms = 0;                   // 0: the limit of its access
  std::vector<std::string> environment = {};  // more of it: NAME=value
  // Takes the output as it comes instead of keeping it; false: it wants no more.
  std::move_only_function<bool(std::string_view)> sink;
};

struct GitOutput {
  int exit_code = 0;
  std::string output;
  std::string error_text;  // its beginning
  bool cut = false;        // ended by us: at the limit of output, or because the sink had enough
};

class GitRunner {
 public:
  using Done = std::move_only_function<void(Result<GitOutput>)>;
  using JobId = std::uint64_t;

  struct Setup {
    Loop& loop;
    Processes& processes;
    std::vector<std::string> environment;  // NAME=value: PATH, HOME and what else the user has
  };
  explicit GitRunner(Setup setup);
  // Kills what runs; nobody is told.
  ~GitRunner();
  GitRunner(const GitRunner&) = delete;
  GitRunner& operator=(const GitRunner&) = delete;

  // `done` is called once, from the loop or before this returns. limit_reached: the queue is full.
  // unavailable: there is no git, it took too long, or a signal ended it. What git itself refuses
  // is no error here: look at the exit code.
  JobId run(GitJob job, Done done);
  // Takes it from the queue or kills it; its `done` is never called.
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

// The environment and the arguments of a job, as a spawn has them; apart so that a test sees them.
SpawnSpec git_spawn_spec(const GitJob& job, const std::vector<std::string>& environment);

// What git said when it refused, on one line, for a person.
std::string git_complaint(const GitOutput& output);

}  // namespace perdure
