// The effects of one session that are committed and not known to be done. They run after their
// commit and again after a crash; each time, the committed state determines which still make sense,
// so that running one twice, or too late, does nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/session/effects.h"
#include "core/session/state.h"
#include "daemon/runtime/shared.h"

namespace perdure {

class Outbox {
 public:
  // Renders history for a prompt and sends InjectionReady for this row. False: not possible now.
  using Inject = std::function<bool(std::uint64_t row, const PrepareInjection& effect)>;

  Outbox(ActorShared& shared, OwnedSession owned, Inject inject)
      : shared_(shared), session_(owned.session), epoch_(owned.epoch), inject_(std::move(inject)) {}

  // Adds durable rows. If one is unreadable, the result is `damaged` and none is added.
  Result<> add(const std::vector<OutboxRow>& rows);

  // Runs everything that can run now.
  void run(const State& state);

  // The link is up: earlier commands may have been lost, so all are sent again in order.
  void attached(const State& state);
  void detached() { attached_ = false; }
  void commands_acted(ExecId exec, std::uint64_t number);

  bool is_attached() const { return attached_; }
  bool is_empty() const { return rows_.empty(); }
  bool has_start_of(ExecId exec) const;
  // Whether a command not known to be done holds one of these texts.
  bool holds_any(std::span<const std::string> texts) const;

  // Rows that are done and whose removal has to be committed. Each is returned once; if the commit
  // fails, put them back.
  std::vector<std::uint64_t> take_done();
  void put_back_done(const std::vector<std::uint64_t>& numbers);
  bool has_done() const { return !done_.empty(); }
  // The removal of these rows is durable, whichever commit did it.
  void removed(const std::vector<std::uint64_t>& numbers);

 private:
  struct Row {
    Effect effect;
    bool started = false;  // in this life of the daemon and, for commands, of the link
  };

  // True if the row has nothing left to do.
  bool run_row(std::uint64_t number, Row& row, const State& state);
  bool run_command(Row& row, const SendCommand& command, const State& state);
  bool run_start(Row& row, const StartExecutor& start, const State& state);
  bool run_stop(Row& row, const StopExecutor& stop, const State& state);
  bool run_injection(std::uint64_t number, Row& row, const PrepareInjection& effect,
                     const State& state);

  ActorShared& shared_;
  SessionId session_;
  std::uint64_t epoch_;
  Inject inject_;
  std::map<std::uint64_t, Row> rows_;
  std::vector<std::uint64_t> done_;
  bool attached_ = false;
};

// Whether this daemon can reach the session's execution: both belong to the same home.
bool is_at_home(const ActorShared& shared, const State& state);

// Everything an executor needs to start or find this session's current execution.
LaunchSpec launch_spec(const State& state);

}  // namespace perdure
