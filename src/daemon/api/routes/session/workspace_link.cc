#include "daemon/api/routes/session/workspace_link.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/limits.h"

namespace perdure {
namespace {

// The result if it is known; nullopt: wait.
std::optional<Result<ExecKey>> look(ApiWorld& world, SessionId session) {
  const Result<State> state = world.runtime.state(session);
  if (!state) return std::unexpected(state.error());
  const Execution& exec = state->exec;
  if (exec.status == ExecutorStatus::error || exec.gone) {
    const Code code = parse_code(exec.error_code);  // `internal` for an unknown code
    return fail(code == Code::internal ? Code::unavailable : code,
                exec.error_message.empty() ? "the executor did not start" : exec.error_message);
  }
  const bool linked = world.runtime.liveness(session) == Liveness::alive;
  if (exec.status != ExecutorStatus::ready || !linked) return std::nullopt;
  return ExecKey{session, exec.id, exec.gen};
}

// Owned by its watcher and its timer; the last one destroys it.
class Waiting : public std::enable_shared_from_this<Waiting> {
 public:
  Waiting(ApiWorld& world, SessionId session, OnExecution then)
      : world_(world), session_(session), then_(std::move(then)) {}

  void start(const std::string& by) {
    watcher_ = world_.runtime.watch([self = shared_from_this()](SessionId changed) {
      if (changed == self->session_ && self->asked_) self->look_again();
    });
    timer_ = world_.loop.after_ms(executor_ready_ms, [self = shared_from_this()] {
      self->timer_ = 0;
      self->finish(fail(Code::unavailable, "the session's executor is not ready; try again"));
    });
    world_.runtime.submit(session_, {.by = by, .body = StartWorkspace{}},
                          [self = shared_from_this()](const Result<Reply>& reply) {
                            if (!reply) return self->finish(std::unexpected(reply.error()));
                            self->asked_ = true;
                            self->look_again();
                          });
  }

 private:
  void look_again() {
    if (auto found = look(world_, session_)) finish(std::move(*found));
  }
  void finish(Result<ExecKey> result) {
    if (!then_) return;
    const auto self = shared_from_this();
    auto then = std::exchange(then_, {});
    world_.loop.cancel(std::exchange(timer_, 0));
    world_.runtime.unwatch(watcher_);
    then(std::move(result));
  }

  ApiWorld& world_;
  SessionId session_;
  OnExecution then_;
  std::uint64_t watcher_ = 0;
  Loop::TimerId timer_ = 0;
  bool asked_ = false;  // ignores failures of earlier starts
};

}  // namespace

void with_execution(ApiWorld& world, SessionId session, const std::string& by, OnExecution then) {
  const auto now = look(world, session);
  if (now && now->has_value()) return then(**now);
  std::make_shared<Waiting>(world, session, std::move(then))->start(by);
}

}  // namespace perdure
