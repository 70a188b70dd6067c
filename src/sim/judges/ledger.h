// The judge of one session's journal. It reads only committed bytes, record by record and batch by
// batch, keeps its own model next to the product's fold, and names the violated invariant. It never
// uses the code under test to decide what is right.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "core/session/machine.h"
#include "core/wire/journal/record.h"
#include "daemon/runtime/ports.h"
#include "daemon/runtime/reads/listing.h"
#include "sim/judges/verdict.h"
#include "store/store.h"

namespace perdure::sim {

// Facts of the simulated world that no daemon can know for certain.
class WorldFacts {
 public:
  virtual ~WorldFacts() = default;
  // Whether any process of the execution is alive.
  virtual bool execution_lives(const ExecKey& exec) const = 0;
  // The frame that the agentctl wrote with this number; null if it never did.
  virtual const Frame* find_frame(const ExecKey& exec, FrameNo number) const = 0;
  struct AnswerGiven {
    std::string by;
    PermissionId permission;
    WaitTokenId token;
    std::string option_id;
  };
  // Whether a client sent this exact answer.
  virtual bool answer_was_sent(const AnswerGiven& answer) const = 0;
  // The placement requested for the prompt with this key; absent if no client sent one.
  virtual std::optional<PromptWhen> when_of(const std::string& key) const = 0;
  // Whether several daemons share the disk.
  virtual bool are_several() const = 0;
  // Whether a client requested a workspace of its own for the session.
  virtual bool workspace_was_asked(SessionId session) const = 0;
  // Of the daemon that decided the records being fed.
  virtual BootId boot() const = 0;
  virtual Moment now() = 0;
};

class Ledger {
 public:
  Ledger(SessionId session, Verdict& verdict, WorldFacts& facts)
      : session_(session), verdict_(verdict), facts_(facts) {}

  // Takes the next committed record.
  void feed(std::string_view bytes);
  // The batch that ended with the last record fed is durable as a whole.
  void end_batch(const Append& batch);
  // The records found after a crash belong to no known open batch.
  void end_unknown_batch();

  Seq head() const { return fold_.head; }
  const State& fold() const { return fold_; }
  // A fast hash of each record's bytes, by number.
  std::uint64_t hash_at(Seq seq) const { return hashes_.at(seq - 1); }
  // Each record's index into EventBody, by number.
  std::size_t kind_at(Seq seq) const { return kinds_.at(seq - 1); }
  std::uint64_t records() const { return hashes_.size(); }
  // A fork whose records are not complete yet.
  bool is_copying() const { return copying_; }

  struct Asked {
    ExecKey exec;
    std::string request;
    std::vector<PermissionOption> options;
    WaitTokenId token;
    bool resolved = false;
    PermissionOutcome outcome = PermissionOutcome::cancelled;
    std::string option_id;
    std::string by;
  };
  struct Token {
    TokenStatus status = TokenStatus::active;
    PermissionId permission;
    RunId run;
    std::optional<Deadline> expires;
    std::string by;
  };
  const std::map<PermissionId, Asked>& permissions() const { return permissions_; }
  const std::map<WaitTokenId, Token>& tokens() const { return tokens_; }
  // The journalled permission of this name; null if there is none.
  const Asked* find_asked(ExecId exec, const std::string& request) const;
  // The message of the accepted prompt with this key; null if none was accepted.
  std::optional<MessageId> accepted(const std::string& key) const;
  // Whether the next agent would get its own session back, or the history.
  bool has_what_to_resume() const;
  bool was_accepted(MessageId message) const { return accepted_.contains(message); }
  // The committed commands of an execution, in order.
  const std::vector<SendCommand>& commands(ExecId exec) { return commands_[exec]; }
  // The notifications that must have been sent once no work is left.
  const std::set<std::pair<NotifyWhat, RunId>>& notes() const { return notes_; }
  // A person declared it dead (C19); the process may be alive.
  bool was_declared_dead(ExecId exec) const { return declared_.contains(exec); }

  bool was_started(RunId run) const { return ended_.contains(run) || (run_ && run_->id == run); }
  // The open run whose cancel was accepted.
  std::optional<RunId> cancelling() const {
    return run_ && run_->cancelling && !copying_ ? std::optional(run_->id) : std::nullopt;
  }
  // Records that a fork copied from another session.
  std::uint64_t copied_records() const { return copied_records_; }
  std::uint64_t snapshots() const { return snapshots_; }
  // Whether reconcile must look at it after a restart.
  bool needs_reconcile() const;
  bool was_ever_archived() const { return ever_archived_; }
  // The boot of the daemon that started the current execution.
  const BootId& exec_began() const { return exec_began_; }
  // The time of each record, by number.
  Timestamp at(Seq seq) const { return times_.at(seq - 1); }

  // Liveness: nothing is open that should have ended.
  void check_quiet();

 private:
  struct Queued {
    MessageId message;
    bool held = false;
    std::string text;
    bool steering = false;
    std::string by = {};
  };
  // A prompt that left the queue in this batch: as the next run, as a steer, or either.
  struct Delivered {
    MessageId message;
    bool is_next = false;
    bool steering = false;
    std::string by = {};
  };
  struct OpenRun {
    RunId id;
    MessageId message;
    bool cancelling = false;
    bool needs_injection = false;
    bool injected = false;
    bool has_message = false;
    bool message_open = false;
    bool auto_continued = false;
    std::set<std::string> tools;
    bool agent_exited = false;
    bool tool_repaired = false;
    BootId boot;
  };
  // The effects that this batch's records require.
  struct Owed {
    std::vector<RunId> prompts;
    std::vector<RunId> cancels;
    std::vector<std::pair<ExecId, Gen>> starts;
    std::vector<std::pair<NotifyWhat, RunId>> notes;
    std::vector<std::string> answers;
    std::vector<WaitTokenId> waitings;  // run.waiting of each
    std::vector<WaitTokenId> resumes;   // run.resumed of each
    RunId expired;                      // its question was not answered in time
    std::vector<std::map<std::string, std::string>> options;
    std::vector<MessageId> steers;
    bool must_cancel = false;  // the accepted prompt ends the open run
    std::size_t stops = 0;
    bool death_claimed = false;     // a run ended with its agent; executor.stopped must follow
    bool must_continue = false;     // auto_continue is due
    bool must_wait = false;         // a limit with a reset time was hit: limit.waiting is due
    bool must_go_on = false;        // its end says that the session continues
    bool resume_must_fail = false;  // the execution that served it never started
    bool resume_must_stay = false;  // it waits for the next one (K18)
    bool must_open = false;         // a rung failed: another is tried, or the resume ends
    bool must_be_declared = false;  // dead: a steered prompt was dropped with it
    std::optional<AgentExited> exit;
    bool tools_were_open = false;  // when the run ended
    bool wait_was_open = false;    // a question of the run when it was interrupted
  };

  template <class What>
  bool expect(bool condition, const char* invariant, const What& what) {
    if (condition) return true;
    verdict_.expect(false, invariant, [&] { return place() + ": " + text_of(what); });
    return false;
  }
  static std::string text_of(const char* text) { return text; }
  static std::string text_of(const std::string& text) { return text; }
  std::string place() const;

  void see_origin(const Event& event);
  void see_frame_content(const Event& event);
  void see_all_frames(const FrameCursor& cursor);
  void see_effects(const Append& batch);
  void see_command(const SendCommand& command);
  void see_status();
  void see_listing(const Listing& listing);
  void see_listed_execution(const std::optional<ExecutorSummary>& listed);
  void see_reattach(const ExecutorReattached& e);
  void see_title_of_copy(const std::string& title);
  void see_early_end(const ResumeFailed& e);
  bool agent_keeps() const;
  bool may_be_told() const;
  bool is_beyond_resume() const;
  Failure shown_failure() const;
  void see_fold();
  void see_fold_of_run();
  void see_fold_of_execution();
  void see_fold_of_context();
  void see_placement(const QueueAdded& e);
  void see_steer(const QueueAdded& e);
  void see_waits_closed_together();
  void see_next_begun();
  void owe_resumed(WaitTokenId token);
  void end_records();
  LimitOutcome outcome_of_limit(Timestamp at) const;
  const Frame* frame_of(const Origin& origin) const;

  // One overload per kind with a rule of its own.
  void see(const Event& event, const SessionCreated& e);
  void see(const Event& event, const SessionRenamed& e);
  void see(const Event& event, const SessionConfigured& e);
  void see(const Event& event, const SessionStopped& e);
  void see(const Event& event, const SessionArchived& e);
  void see(const Event& event, const SessionUnarchived& e);
  void see(const Event& event, const ExecutorStarting& e);
  void see(const Event& event, const ExecutorReady& e);
  void see(const Event& event, const ExecutorReattached& e);
  void see(const Event& event, const ExecutorError& e);
  void see(const Event& event, const ExecutorStopped& e);
  void see(const Event& event, const AgentStarted& e);
  void see(const Event& event, const AgentExited& e);
  void see(const Event& event, const ContextBoundary& e);
  void see(const Event& event, const ContextInjected& e);
  void see(const Event& event, const ContextAttempt& e);
  void see(const Event& event, const ResumeFailed& e);
  void see(const Event& event, const ResumeRequested& e);
  void see(const Event& event, const RunStarted& e);
  void see(const Event& event, const RunResumed& e);
  void see(const Event& event, const RunWaiting& e);
  void see(const Event& event, const RunCancelling& e);
  void see(const Event& event, const RunStalled& e);
  void see(const Event& event, const RunCompleted& e);
  void see(const Event& event, const RunFailed& e);
  void see(const Event& event, const RunCancelled& e);
  void see(const Event& event, const RunInterrupted& e);
  void see(const Event& event, const LimitWaiting& e);
  void see(const Event& event, const LimitOver& e);
  void see(const Event& event, const MessageUser& e);
  void see(const Event& event, const MessageAgent& e);
  void see(const Event& event, const MessageThought& e);
  void see(const Event& event, const ToolCall& e);
  void see(const Event& event, const ToolUpdate& e);
  void see(const Event& event, const Mode& e);
  void see(const Event& event, const PermissionRequested& e);
  void see(const Event& event, const PermissionResolved& e);
  void see(const Event& event, const TokenMinted& e);
  void see(const Event& event, const TokenConsumed& e);
  void see(const Event& event, const TokenRevoked& e);
  void see(const Event& event, const TokenExpired& e);
  void see(const Event& event, const QueueAdded& e);
  void see(const Event& event, const QueueEdited& e);
  void see(const Event& event, const QueueRemoved& e);
  void see(const Event& event, const QueueDelivered& e);
  void see(const Event& event, const QueueReleased& e);
  void see(const Event& event, const QueueKept& e);
  void see(const Event& event, const RepairClosedMessage& e);
  void see(const Event& event, const RepairClosedTool& e);
  template <class Other>
  void see(const Event&, const Other&) {}

  void accept(MessageId message, const std::string& key);
  void note_tool(const Origin& origin, const std::string& id, const std::string& status);
  void close_token(WaitTokenId token, TokenStatus status, const std::string& by);
  struct End {
    NotifyWhat note = NotifyWhat::finished;
    bool holds_queue = false;
    bool interrupted = false;
    RunEnd end = RunEnd::completed;
    std::optional<InterruptReason> why;
    std::string code;
    std::string message;
  };
  void end_run(const Event& event, const End& end);
  void hold_queue(bool held);
  void end_steering();
  bool wants_to_run() const;
  bool may_live() const { return exec_.gen != 0 && !exec_gone_; }
  void ask_to_stop();
  void note_open();
  bool native_is_possible() const;
  std::string reason_of_loss() const;
  bool boundary_keeps_session(const ContextBoundary& e, const FrameSessionOpened& opened);

  SessionId session_;
  Verdict& verdict_;
  WorldFacts& facts_;

  ChainVerifier chain_;
  State fold_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::size_t> kinds_;
  std::vector<Timestamp> times_;
  std::uint64_t copied_records_ = 0;
  bool copied_ = false;   // and the last of them has arrived
  bool copying_ = false;  // a fork's copied records describe another session
  bool renamed_ = false;  // a fork has received its own title

  std::optional<OpenRun> run_;
  std::set<RunId> ended_;
  bool auto_continued_ = false;  // the last run that began
  std::uint64_t runs_ = 0;
  std::optional<EndedRun> last_run_;
  std::string last_end_;  // the status after the last run's end; empty: none
  std::optional<LimitWait> limit_;
  std::optional<LimitSeries> limit_series_;
  std::set<RunId> limits_over_;
  std::deque<Queued> queue_;
  std::optional<Delivered> delivered_;  // its run.started or steered message must follow
  std::map<std::string, MessageId> keys_;
  std::set<MessageId> accepted_;
  std::set<MessageId> sent_;

  std::map<PermissionId, Asked> permissions_;
  std::map<std::pair<ExecId, std::string>, PermissionId> asked_;
  std::map<WaitTokenId, Token> tokens_;
  std::set<PermissionId> open_permissions_;
  std::set<WaitTokenId> active_tokens_;

  ExecKey exec_;
  bool exec_gone_ = true;
  bool exec_declared_ = false;
  std::set<ExecId> declared_;
  std::map<ExecId, ExecKey> lives_;
  bool exec_starting_ = false;
  bool stop_requested_ = false;
  bool agent_ready_ = false;
  std::set<std::pair<ExecId, FrameNo>> frames_;  // that became records
  FrameNo last_frame_ = 0;
  std::optional<FrameCursor> cursor_;

  std::optional<ResumeRequested> resume_;
  AgentAbilities abilities_;
  std::vector<OpenAttempt> attempts_;
  AgentProfile agent_;
  Policy policy_;
  std::string agent_session_id_;
  std::string context_cwd_;
  Timestamp context_opened_;
  bool rejected_ = false;
  std::uint64_t prompts_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t history_prompts_ = 0;
  bool inject_armed_ = false;
  Seq boundary_ = 0;
  std::map<std::string, std::string> observed_;
  std::map<std::string, std::string> requested_;
  std::map<std::string, std::string> options_at_open_;
  bool native_at_open_ = false;
  bool agent_opening_ = false;
  std::string workspace_cwd_;
  std::string title_;
  TaskId task_;
  std::string runtime_;
  std::string image_;
  std::string remote_;
  Timestamp created_;
  Timestamp updated_;
  std::string stop_reason_;
  BootId last_boot_;
  std::string mcp_servers_;
  BootId exec_boot_;
  BootId exec_began_;
  ExecutorStatus exec_status_ = ExecutorStatus::none;
  std::string exec_error_code_;
  std::string exec_error_;
  Timestamp exec_seen_;
  ExecutorStarting exec_start_;
  ExecutorReady exec_ready_;
  std::string last_prompt_;  // as typed
  std::uint64_t snapshots_ = 0;
  std::optional<Failure> failure_;
  std::optional<BoundaryHow> context_how_;
  Verified verified_ = Verified::none;
  Seq history_from_ = 0;
  std::string last_agent_message_;
  bool archived_ = false;
  bool ever_archived_ = false;

  Owed owed_;
  std::map<ExecId, std::vector<SendCommand>> commands_;
  std::set<std::pair<NotifyWhat, RunId>> notes_;
  std::uint64_t last_effect_ = 0;
};

}  // namespace perdure::sim
