#include "main/worktree.h"

#include <csignal>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::size_t words_max = 4UL << 10;  // of what git says

}  // namespace

// One git process. The branch is made first; when that is refused, it may be there already.
class Worktrees::Git final : public ProcessEvents {
 public:
  Git(Worktrees& owner, std::uint64_t number, Order order, OnWorktree done)
      : owner_(owner), number_(number), order_(std::move(order)), done_(std::move(done)) {}
  ~Git() override { owner_.ports_.loop.cancel(timer_); }

  void start(bool makes_branch) {
    makes_branch_ = makes_branch;
    words_.clear();
    SpawnSpec spec{
        .command = {"git", "-C", order_.repository, "worktree", "add"},
        .environment = {"PATH=" + owner_.setting_.search_path, "HOME=" + owner_.setting_.home,
                        "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"},
        .cwd = "/"};
    if (makes_branch) {
      spec.command.insert(spec.command.end(), {"-b", order_.branch, "--", order_.path});
    } else {
      spec.command.insert(spec.command.end(), {"--", order_.path, order_.branch});
    }
    Result<std::unique_ptr<Process>> spawned = owner_.ports_.processes.spawn(spec, *this);
    if (!spawned) return finish(std::unexpected(spawned.error()));
    process_ = std::move(*spawned);
    process_->close_input();
    timer_ = owner_.ports_.loop.after_ms(git_write_ms, [this] {
      timer_ = 0;
      process_->signal(SIGKILL);
    });
  }

 private:
  void on_output(std::string_view) override {}
  void on_error_output(std::string_view bytes) override {
    words_ += bytes.substr(0, words_max - std::min(words_max, words_.size()));
  }
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override {
    owner_.ports_.loop.cancel(std::exchange(timer_, 0));
    if (exit.code == 0) {
      return finish(Workspace{.cwd = order_.path,
                              .worktree_id = std::filesystem::path(order_.path).filename(),
                              .worktree_path = order_.path,
                              .worktree_branch = order_.branch});
    }
    const bool branch_is_there =
        makes_branch_ && words_.find("already exists") != std::string::npos;
    if (!branch_is_there) return finish(fail(Code::conflict, "git: " + words_));
    // Not from inside its own call.
    owner_.ports_.loop.post([&owner = owner_, exists = owner_.exists_, number = number_] {
      if (!*exists) return;
      if (const auto found = owner.running_.find(number); found != owner.running_.end()) {
        found->second->start(false);
      }
    });
  }
  void finish(Result<Workspace> result) {
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
  std::string words_;
  bool makes_branch_ = true;
  Loop::TimerId timer_ = 0;
};

Worktrees::Worktrees(Ports ports, Setting setting) : ports_(ports), setting_(std::move(setting)) {}

Worktrees::~Worktrees() { *exists_ = false; }

void Worktrees::add(Order order, OnWorktree done) {
  std::error_code error;
  if (std::filesystem::exists(order.path + "/.git", error)) {
    Workspace there{.cwd = order.path,
                    .worktree_id = std::filesystem::path(order.path).filename(),
                    .worktree_path = order.path,
                    .worktree_branch = order.branch};
    ports_.loop.post(
        [done = std::move(done), there = std::move(there)] mutable { done(std::move(there)); });
    return;
  }
  auto git = std::make_unique<Git>(*this, ++last_, std::move(order), std::move(done));
  Git& started = *git;
  running_.emplace(last_, std::move(git));
  started.start(true);
}

}  // namespace perdure
