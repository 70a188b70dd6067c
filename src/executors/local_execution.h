// One execution on this machine, from the daemon's side: starts its agentctl or finds it again,
// holds the link to it, and says that it is gone only with proof, after its spool was read to the
// end. A link that breaks proves nothing (C19).
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
#include "env/env.h"
#include "env/host.h"
#include "env/process.h"
#include "executors/agentctl_client.h"
#include "executors/spool_reader.h"
#include "wire/bootstrap.h"

namespace perdure {

// Told on the loop, never from inside a call to the execution.
class ExecutionEvents {
 public:
  virtual ~ExecutionEvents() = default;
  virtual void on_attached(const AttachedPacket& attached) = 0;
  // In order, without gap, each once: from the link, and at the end from the spool of the dead.
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

// What a start does when another execution of the session lives and has its lock.
enum class WhenLocked {
  refuse,     // X16: the other one goes on, this one is not started
  take_over,  // the caller has proof, or a person's word, that the other one is over: it is ended
};

// What becomes of an agentctl that is silent, and of which the host knows neither life nor death.
enum class WhenUnknown {
  end,   // it is on this machine: in the end it is ended
  wait,  // nobody can end it now, and it may be well: it is waited for
};

// What becomes of an agentctl that refuses us, since a daemon with a higher epoch has it.
enum class WhenStale {
  end,   // there is no other daemon: our journal is an older copy, and in the end it is ended
  wait,  // there may well be one, and it is not ours to end
};

struct LocalSetting {
  std::vector<std::string> agentctl_command;  // the program and what comes before `start`
  std::vector<std::string> environment;       // of the agentctl itself
  std::int64_t answer_ms = 10'000;            // for an attach to be answered; then it hangs
  std::int64_t stop_ms = 20'000;              // for an orderly stop; then by force
  WhenLocked when_locked = WhenLocked::refuse;
  WhenUnknown when_unknown = WhenUnknown::end;
  WhenStale when_stale = WhenStale::end;
  // Of a daemon among several, asked before it ends what holds the session's lock: whether the
  // session is still its own, by this epoch. Without it, it is.
  std::function<bool(SessionId session, std::uint64_t epoch)> is_still_ours = {};
  // Between two tries to reach it, of which the first failed; doubles.
  std::int64_t backoff_min_ms = 10;
  std::int64_t backoff_max_ms = 1'000;
  std::int64_t hang_ms = 60'000;  // hangs for so long: ended, since it is on this machine
  // Of one that is attached: quiet for so long it is asked, and then nothing is heard for so long.
  std::int64_t quiet_ms = agentctl_quiet_ms;
  std::int64_t quiet_answer_ms = agentctl_answer_ms;
};

class LocalExecution final : private ProcessEvents, private AgentctlClientEvents {
 public:
  // The ports and the listener outlive it. Destroying it leaves the agentctl alone.
  LocalExecution(LocalPorts ports, LocalSetting setting, Bootstrap bootstrap,
                 ExecutionEvents& events);
  ~LocalExecution() override;

  // Starts the agentctl and attaches. Where one of this execution lives already, attaches to it:
  // frames behind `after` are wanted.
  void start(std::uint64_t epoch, FrameNo after);
  // Attaches to one that an earlier daemon started; frames behind `after` are wanted.
  void attach(std::uint64_t epoch, FrameNo after);
  // Who it was when it was last seen, if that is known: silence of a dead process is death.
  void set_identity(ProcessIdentity identity) { identity_ = std::move(identity); }

  bool is_attached() const { return attached_; }
  // These do nothing while there is no link.
  void command(const SendCommand& command);
  void ack(FrameNo frame);
  std::uint64_t call(std::string_view method, std::string_view params);
  // After start() or attach(). Ends everything: in good order if the agentctl answers, by force if
  // not. on_gone follows.
  void stop();
  // Takes socket, lock and spool away; after on_gone, when every frame is in the journal.
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
  // Ends an earlier execution of the session that still has its lock, and starts again.
  void take_over();
  void connect();
  void connect_later();
  void did_not_answer();
  void give_up_waiting();
  // Since when it is silent, as far as that speaks against it.
  std::int64_t silent_ms();
  void detach(const std::string& why);
  // Kills what is left, and goes on when nothing is.
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
  std::unique_ptr<Folder> spool_;      // of the dead
  std::optional<SpoolReader> reader_;  // of what it left
  bool attached_ = false;
  bool is_stale_ = false;      // another daemon has it
  bool lock_is_held_ = false;  // by whom is not known yet
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
