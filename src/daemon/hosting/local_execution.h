// The daemon's side of one execution on this machine: starts its agentctl or finds it again, holds
// the link to it, and reports its end only with proof, after reading its spool completely. A broken
// link proves nothing (C19).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "core/wire/agentctl/bootstrap.h"
#include "daemon/hosting/agentctl_client.h"
#include "daemon/hosting/spool_reader.h"
#include "env/env.h"
#include "env/host.h"
#include "env/process.h"

namespace perdure {

// Called on the loop, never from within a call to the execution.
class ExecutionEvents {
 public:
  virtual ~ExecutionEvents() = default;
  virtual void on_attached(const AttachedPacket& attached) = 0;
  // In order, without gaps, each once: from the link, and after the end from the spool.
  virtual void on_frame(FrameNo number, std::string_view frame) = 0;
  virtual void on_acted(std::uint64_t number) = 0;
  virtual void on_reply(std::uint64_t call, Result<std::string> result) = 0;
  virtual void on_shell_news(const std::string& shell) = 0;
  virtual void on_detached(const std::string& why) = 0;
  // The last call: no process of this execution is left.
  virtual void on_gone(const std::string& proof) = 0;
};

struct LocalPorts {
  Clock& clock;
  Loop& loop;
  Processes& processes;
  Host& host;
};

// The behaviour of a start if another execution of the session is alive and holds its lock.
enum class WhenLocked {
  refuse,     // X16: the other one continues, this one is not started
  take_over,  // the caller has proof, or a person's word, that the other one is over: end it
};

// The end of a silent agentctl if the host does not know whether it lives.
enum class WhenUnknown {
  end,   // it is on this machine: after a timeout it is ended
  wait,  // it cannot be ended now and may be well: wait for it
};

// The end of an agentctl that refuses us because a daemon with a higher epoch owns it.
enum class WhenStale {
  end,   // no other daemon exists: our journal is an older copy, so after a timeout it is ended
  wait,  // another daemon may exist, so we must not end it
};

struct LocalSetting {
  std::vector<std::string> agentctl_command;  // the program and the arguments before `start`
  std::vector<std::string> environment;       // for the agentctl itself
  std::int64_t answer_ms = 10'000;            // limit for the answer to an attach; then it hangs
  std::int64_t stop_ms = 20'000;              // limit for an orderly stop; then force
  WhenLocked when_locked = WhenLocked::refuse;
  WhenUnknown when_unknown = WhenUnknown::end;
  WhenStale when_stale = WhenStale::end;
  // With several daemons: asked before ending the holder of the session's lock, whether this daemon
  // with this epoch still owns the session. Without it, it does.
  std::function<bool(SessionId session, std::uint64_t epoch)> is_still_ours = {};
  // Between two attempts to reach it, after the first has failed; doubles.
  std::int64_t backoff_min_ms = 10;
  std::int64_t backoff_max_ms = 1'000;
  std::int64_t hang_ms = 60'000;  // hanging longer than this on this machine: ended
  // While attached: silence before a question is sent, and then the time for an answer.
  std::int64_t quiet_ms = agentctl_quiet_ms;
  std::int64_t quiet_answer_ms = agentctl_answer_ms;
};

class LocalExecution final : private ProcessEvents, private AgentctlClientEvents {
 public:
  // The ports and the listener must outlive it. Destroying it does not affect the agentctl.
  LocalExecution(LocalPorts ports, LocalSetting setting, Bootstrap bootstrap,
                 ExecutionEvents& events);
  ~LocalExecution() override;

  // Starts the agentctl and attaches. If this execution is already alive, attaches to it and
  // requests the frames after `after`.
  void start(std::uint64_t epoch, FrameNo after);
  // Attaches to one that an earlier daemon started and requests the frames after `after`.
  void attach(std::uint64_t epoch, FrameNo after);
  // Its last known process, if any: if that is dead, silence means the end.
  void set_identity(ProcessIdentity identity) { identity_ = std::move(identity); }

  bool is_attached() const { return attached_; }
  // No effect without a link.
  void command(const SendCommand& command);
  void ack(FrameNo frame);
  std::uint64_t call(std::string_view method, std::string_view params);
  // After start() or attach(). Ends everything: in order if the agentctl answers, otherwise by
  // force. on_gone follows.
  void stop();
  // Removes socket, lock and spool; call it after on_gone, when every frame is in the journal.
  Result<> remove();

 private:
  void on_output(std::string_view bytes) override;
  void on_error_output(std::string_view bytes) override;
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override;

  void on_attached(const AttachedPacket& attached) override;
  void on_refused(const RefusedPacket& refused) override;
  void on_frame(FrameNo number, std::string_view frame) override;
  void on_acted(std::uint64_t number) override { events_.on_acted(number); }
  void on_reply(std::uint64_t call, Result<std::string> result) override;
  void on_shell_news(const std::string& shell) override { events_.on_shell_news(shell); }
  void on_health(const HealthPacket&) override {}
  void on_leaving(const std::string& reason) override { leaving_ = reason; }
  void on_closed(const std::string& why) override;

  void launch();
  // Ends an earlier execution of the session that still holds its lock, and starts again.
  void take_over();
  void connect();
  void connect_later();
  void did_not_answer();
  void give_up_waiting();
  // The silence that counts against it.
  std::int64_t silent_ms();
  void detach(const std::string& why);
  // Kills the remaining processes, and continues when none is left.
  void bury();
  void drain();
  void arm(std::int64_t delay_ms, void (LocalExecution::*then)());
  void disarm();
  std::string socket_name() const { return bootstrap_.exec.text() + ".sock"; }

  LocalPorts ports_;
  LocalSetting setting_;
  Bootstrap bootstrap_;
  ExecutionEvents& events_;
  std::uint64_t epoch_ = 0;
  FrameNo last_frame_ = 0;
  FrameNo acked_ = 0;
  std::optional<ProcessIdentity> identity_;
  std::unique_ptr<Process> launcher_;
  std::string launcher_output_;
  std::string launcher_errors_;
  std::unique_ptr<AgentctlClient> client_;
  std::unique_ptr<Folder> spool_;      // opened after its end
  std::optional<SpoolReader> reader_;  // reads that spool
  bool attached_ = false;
  bool is_stale_ = false;      // another daemon owns it
  bool lock_is_held_ = false;  // the holder is not known yet
  bool took_over_ = false;
  bool stopping_ = false;
  bool gone_ = false;
  std::string leaving_;
  std::string proof_;
  std::int64_t silent_since_ms_ = 0;
  std::int64_t backoff_ms_ = 0;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
