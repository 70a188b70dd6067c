#include "agentctl/workspace/git/git_runner.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::size_t error_text_bytes_max = 8UL << 10;

// Makes output independent of user settings, and prevents programs from running unasked.
constexpr std::string_view always[] = {
    "core.fsmonitor=false",  // may be a program; run by every status
    "core.quotePath=false",
    "core.pager=cat",
    "color.ui=false",
    "i18n.logOutputEncoding=UTF-8",
    "safe.bareRepository=explicit",  // ignores files that imitate a bare repository
    "submodule.recurse=false",
    "status.submoduleSummary=false",
    "diff.submodule=short",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
};
// Repository settings that name a program which a reading command would run.
constexpr std::string_view reading[] = {
    "log.showSignature=false", "gpg.program=false",
    "gpg.ssh.program=false",   "gpg.x509.program=false",
    "core.sshCommand=false",   "core.gitProxy=false",
    "core.askPass=",           "core.alternateRefsCommand=true",
    "credential.helper=",      "diff.external=",
    "protocol.allow=never",
};

// An inherited GIT_… variable could point git elsewhere or make it run programs. These may stay.
bool passes_on(std::string_view variable) {
  if (!variable.starts_with("GIT_")) {
    return !variable.starts_with("LC_ALL=") && !variable.starts_with("PAGER=");
  }
  constexpr std::string_view kept[] = {"GIT_AUTHOR_",          "GIT_COMMITTER_",
                                       "GIT_CONFIG_GLOBAL=",   "GIT_CONFIG_SYSTEM=",
                                       "GIT_CONFIG_NOSYSTEM=", "GIT_CEILING_DIRECTORIES="};
  return std::ranges::any_of(kept, [&](auto prefix) { return variable.starts_with(prefix); });
}

}  // namespace

SpawnSpec git_spawn_spec(const GitJob& job, const std::vector<std::string>& environment) {
  const bool reads = job.access == GitAccess::read;
  const bool runs_nothing = reads || job.access == GitAccess::write_without_programs;
  SpawnSpec spec{.cwd = job.cwd};
  spec.command = {"git", "--no-pager"};
  if (reads) spec.command.emplace_back("--no-optional-locks");
  if (job.pathspecs == GitJob::Pathspecs::literal) {
    spec.command.emplace_back("--literal-pathspecs");
  }
  const auto set = [&](std::string_view value) {
    spec.command.emplace_back("-c");
    spec.command.emplace_back(value);
  };
  for (const auto value : always) set(value);
  if (runs_nothing) {
    for (const auto value : reading) set(value);
  }
  // A commit runs the user's hooks; a read or a stage runs none.
  if (job.access != GitAccess::write_with_hooks) set("core.hooksPath=/dev/null");
  for (const auto& value : job.settings) set(value);
  spec.command.insert(spec.command.end(), job.arguments.begin(), job.arguments.end());
  std::ranges::copy_if(environment, std::back_inserter(spec.environment), passes_on);
  for (const auto* variable : {"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat",
                               "GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_NO_LAZY_FETCH=1"}) {
    spec.environment.emplace_back(variable);
  }
  // A partial clone would fetch missing objects through a transport, which may be any program.
  if (runs_nothing) spec.environment.emplace_back("GIT_ALLOW_PROTOCOL=none");
  std::ranges::copy(job.environment, std::back_inserter(spec.environment));
  return spec;
}

std::string git_complaint(const GitOutput& output) {
  std::string text = utf8_scrub(output.error_text.empty() ? output.output : output.error_text);
  text = utf8_prefix(text, 1000);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "git ended with " + std::to_string(output.exit_code) : text;
}

struct GitRunner::Waiting {
  JobId id = 0;
  GitJob job;
  Done done;
};

class GitRunner::Running final : public ProcessEvents {
 public:
  Running(GitRunner& runner, Waiting waiting) : runner_(runner), waiting_(std::move(waiting)) {}

  Result<> start() {
    GitJob& job = waiting_.job;
    process_ =
        TRY(runner_.setup_.processes.spawn(git_spawn_spec(job, runner_.setup_.environment), *this));
    process_->write(job.input);
    process_->close_input();
    const std::int64_t limit = job.access == GitAccess::read ? git_read_ms : git_write_ms;
    const std::int64_t time_ms = job.time_ms == 0 ? limit : job.time_ms;
    timer_ = runner_.setup_.loop.after_ms(time_ms, [this, time_ms] {
      timer_ = 0;
      runner_.finish(*this, fail(Code::unavailable,
                                 "git took longer than " + std::to_string(time_ms) + " ms"));
    });
    return {};
  }
  ~Running() override { cancel_timer(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  JobId id() const { return waiting_.id; }
  bool writes() const { return waiting_.job.access != GitAccess::read; }
  Done take_done() { return std::exchange(waiting_.done, nullptr); }
  // After this it may briefly outlive the runner and must not access it.
  void end() {
    ended_ = true;
    cancel_timer();
  }

  void on_output(std::string_view bytes) override {
    if (ended_) return;
    GitJob& job = waiting_.job;
    if (job.sink) {
      if (!job.sink(bytes)) finish_cut();
      return;
    }
    const std::size_t room = job.output_bytes_max - out_.output.size();
    out_.output += bytes.substr(0, room);
    if (bytes.size() > room) finish_cut();
  }
  void on_error_output(std::string_view bytes) override {
    const std::size_t room = error_text_bytes_max - out_.error_text.size();
    out_.error_text += bytes.substr(0, room);
  }
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override {
    if (ended_) return;
    if (!exit.code) { return runner_.finish(*this, fail(Code::unavailable, "a signal ended git")); }
    out_.exit_code = *exit.code;
    runner_.finish(*this, std::move(out_));
  }

 private:
  void finish_cut() {
    out_.cut = true;
    runner_.finish(*this, std::move(out_));
  }

  void cancel_timer() {
    if (timer_ != 0) runner_.setup_.loop.cancel(timer_);
    timer_ = 0;
  }

  GitRunner& runner_;
  Waiting waiting_;
  GitOutput out_;
  bool ended_ = false;
  Loop::TimerId timer_ = 0;
  std::unique_ptr<Process> process_;
};

GitRunner::GitRunner(Setup setup) : setup_(std::move(setup)) {}
GitRunner::~GitRunner() = default;

GitRunner::JobId GitRunner::run(GitJob job, Done done) {
  if (queue_.size() >= git_queue_max) {
    done(fail(Code::limit_reached, "too many git calls are waiting"));
    return 0;
  }
  const JobId id = ++last_id_;
  queue_.push_back({id, std::move(job), std::move(done)});
  start_next();
  return id;
}

void GitRunner::cancel(JobId id) {
  std::erase_if(queue_, [&](const Waiting& waiting) { return waiting.id == id; });
  const auto at = running_.find(id);
  if (at == running_.end()) return;
  (void)at->second->take_done();
  finish(*at->second, GitOutput{});
}

void GitRunner::start_next() {
  while (!queue_.empty() && running_.size() < git_processes_max) {
    const bool writes = queue_.front().job.access != GitAccess::read;
    // Two writers would collide at the index lock. Order is kept: no job overtakes another.
    if (writes && writing_ > 0) return;
    Waiting next = std::move(queue_.front());
    queue_.pop_front();
    start(std::move(next));
  }
}

void GitRunner::start(Waiting waiting) {
  const JobId id = waiting.id;
  auto running = std::make_unique<Running>(*this, std::move(waiting));
  if (auto started = running->start(); !started) {
    Done done = running->take_done();
    running.reset();
    const bool no_git = started.error().code() == Code::not_found;
    done(no_git ? fail(Code::unavailable, "git is not installed on this host")
                : Result<GitOutput>(std::unexpected(std::move(started).error())));
    return;
  }
  if (running->writes()) ++writing_;
  running_.emplace(id, std::move(running));
}

void GitRunner::finish(Running& running, Result<GitOutput> outcome) {
  const auto at = running_.find(running.id());
  CHECK(at != running_.end());
  running.end();
  if (running.writes()) --writing_;
  Done done = running.take_done();
  // We may be inside one of its events: destroy it after that event returns.
  setup_.loop.post([gone = std::shared_ptr<Running>(std::move(at->second))] {});
  running_.erase(at);
  setup_.loop.post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) start_next();
  });
  if (done) done(std::move(outcome));
}

}  // namespace perdure
