#include "agentctl/client/worktree.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "core/wire/agentctl/worktree.h"

namespace perdure {
namespace {

constexpr std::size_t answer_bytes_max = 64UL << 10;

}  // namespace

// One `perdure-agentctl worktree` process.
class Worktrees::Making final : public ProcessEvents {
 public:
  Making(Worktrees& owner, std::uint64_t number, Order order, OnWorktree done)
      : owner_(owner), number_(number), order_(std::move(order)), done_(std::move(done)) {}
  ~Making() override { owner_.ports_.loop.cancel(timer_); }

  void start() {
    if (mkdir(order_.path.c_str(), 0700) != 0 && errno != EEXIST) {
      return finish(fail(Code::unavailable, order_.path + ": " + std::strerror(errno)));
    }
    SpawnSpec spec{.command = owner_.setting_.agentctl_command,
                   .environment = owner_.setting_.environment,
                   .cwd = "/"};
    spec.command.emplace_back("worktree");
    Result<std::unique_ptr<Process>> spawned = owner_.ports_.processes.spawn(spec, *this);
    if (!spawned) return finish(std::unexpected(spawned.error()));
    process_ = std::move(*spawned);
    process_->write(encode_worktree_request({.session = order_.session,
                                             .repository = order_.repository,
                                             .path = order_.path,
                                             .branch = order_.branch,
                                             .git_folder = order_.git_folder,
                                             .hide = owner_.setting_.hide}) +
                    "\n");
    process_->close_input();
    timer_ = owner_.ports_.loop.after_ms(git_write_ms, [this] {
      timer_ = 0;
      process_->signal(SIGKILL);
    });
  }

 private:
  void on_output(std::string_view bytes) override {
    output_ += bytes.substr(0, answer_bytes_max - std::min(answer_bytes_max, output_.size()));
  }
  void on_error_output(std::string_view) override {}
  void on_output_end() override {}
  void on_exit(const ProcessExit&) override {
    owner_.ports_.loop.cancel(std::exchange(timer_, 0));
    const Result<WorktreeAnswer> answer = decode_worktree_answer(output_);
    if (!answer) return finish(fail(Code::unavailable, "git took too long to make the worktree"));
    if (!answer->code.empty()) { return finish(fail(parse_code(answer->code), answer->message)); }
    finish(Workspace{.cwd = order_.path,
                     .worktree_id = std::filesystem::path(order_.path).filename(),
                     .worktree_path = order_.path,
                     .worktree_branch = order_.branch,
                     .worktree_repository = answer->git_folder});
  }
  void finish(Result<Workspace> result) {
    // Removes only an empty folder, since other contents are not ours.
    if (!result) rmdir(order_.path.c_str());
    owner_.ports_.loop.post([&owner = owner_, exists = owner_.exists_, number = number_,
                             done = std::exchange(done_, {}), result = std::move(result)] mutable {
      if (!*exists) return;
      owner.running_.erase(number);
      done(std::move(result));
    });
  }

  Worktrees& owner_;
  std::uint64_t number_;
  Order order_;
  OnWorktree done_;
  std::unique_ptr<Process> process_;
  std::string output_;
  Loop::TimerId timer_ = 0;
};

Worktrees::Worktrees(Ports ports, Setting setting) : ports_(ports), setting_(std::move(setting)) {}

Worktrees::~Worktrees() { *exists_ = false; }

void Worktrees::add(Order order, OnWorktree done) {
  auto making = std::make_unique<Making>(*this, ++last_, std::move(order), std::move(done));
  Making& started = *making;
  running_.emplace(last_, std::move(making));
  started.start();
}

}  // namespace perdure
