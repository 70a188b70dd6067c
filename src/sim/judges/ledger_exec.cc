// The session as a whole, its sequence of executions, and the resume ladder.
#include "sim/judges/ledger.h"

namespace perdure::sim {

void Ledger::see(const Event& event, const SessionCreated& e) {
  copying_ = !event.origin.copied_from.empty();
  expect(e.session == session_, "J1", "the journal of another session");
  agent_ = e.agent;
  policy_ = e.policy;
  workspace_cwd_ = e.workspace.cwd;
  title_ = e.title;
  task_ = e.task;
  runtime_ = e.runtime;
  image_ = e.image;
  remote_ = e.remote;
  mcp_servers_ = e.mcp_servers.text;
  created_ = event.at;
}

void Ledger::see(const Event& event, const SessionRenamed& e) {
  expect(e.title != title_ || copying_, "C7", "renamed to the name it had");
  if (copying_ && event.origin.copied_from.empty()) see_title_of_copy(e.title);
  title_ = e.title;
}

void Ledger::see(const Event&, const SessionConfigured& e) {
  if (e.policy) policy_ = *e.policy;
  if (e.workspace) {
    expect(!may_live() || copying_, "X13", "the folder changed under a living execution");
    workspace_cwd_ = e.workspace->cwd;
  }
  if (!e.mcp_servers.text.empty()) mcp_servers_ = e.mcp_servers.text;
  for (const auto& [name, value] : e.options) requested_[name] = value;
  if (!e.options.empty() && agent_ready_ && !copying_) owed_.options.push_back(e.options);
}

// The settings that the next session/new, load or resume must give to the agent (R9), and whether
// load or resume is possible: a later record of the batch may request another resume (seed 24711).
void Ledger::note_open() {
  agent_opening_ = true;
  native_at_open_ = native_is_possible();
  options_at_open_ = observed_;
  for (const auto& [name, value] : requested_) options_at_open_[name] = value;
}

void Ledger::ask_to_stop() {
  if (!may_live()) return;
  stop_requested_ = true;
  agent_ready_ = agent_opening_ = false;
}

void Ledger::see(const Event& event, const SessionStopped& e) {
  expect(copying_ || may_live() || resume_ || limit_ || stop_reason_.empty(), "C3",
         "stopped twice");
  expect(active_tokens_.empty() || copying_, "TOK3", "a session stops with an open question");
  stop_reason_ = e.reason;
  expect(!run_, "RUN1", "a session stops with an open run");
  copied_ = copying_ && event.origin.copied_from.empty();
  expect(!copied_ || renamed_, "C7", "a fork has the title of its source");
  resume_.reset();
  limit_.reset();
  if (may_live() && !copying_) owed_.stops = 1;
  ask_to_stop();
  hold_queue(true);
}

void Ledger::see(const Event&, const SessionArchived&) {
  expect(!run_, "RUN1", "a session is archived with an open run");
  expect(!archived_, "C3", "archived twice");
  archived_ = ever_archived_ = true;
  limit_.reset();
}

void Ledger::see(const Event&, const SessionUnarchived&) {
  expect(archived_, "C3", "unarchived and was not archived");
  archived_ = false;
}

void Ledger::see(const Event& event, const ExecutorStarting& e) {
  const Origin& origin = event.origin;
  expect(origin.gen == exec_.gen + 1, "PROC2", "gens do not grow by one");
  expect(!may_live(), "PROC3", "a life begins before the one before is gone");
  expect(resume_ || copying_ || facts_.workspace_was_asked(session_), "C1",
         "an execution starts and nobody asked for it");
  expect(!archived_ || copying_, "C3", "an execution starts in an archived session");
  exec_ = {session_, origin.exec, origin.gen};
  lives_[origin.exec] = exec_;
  exec_boot_ = last_boot_ = exec_began_ = e.boot;
  exec_seen_ = event.at;
  exec_start_ = e;
  exec_ready_ = {};
  owed_.resume_must_stay = false;
  exec_status_ = ExecutorStatus::starting;
  exec_error_code_ = exec_error_ = "";
  exec_gone_ = exec_declared_ = stop_requested_ = agent_ready_ = agent_opening_ = false;
  exec_starting_ = true;
  last_frame_ = 0;
  if (!copying_) owed_.starts.push_back({origin.exec, origin.gen});
}

void Ledger::see(const Event& event, const ExecutorReady& e) {
  exec_ready_ = e;
  exec_status_ = ExecutorStatus::ready;
  exec_seen_ = event.at;
  expect(exec_starting_, "PROC2", "an execution is ready twice, or before it starts");
  exec_starting_ = false;
}

// Reattached by a new daemon, or by the owner if prompts wait for it that another daemon accepted.
void Ledger::see_reattach(const ExecutorReattached& e) {
  expect(may_live(), "PROC3", "an execution that is gone was reattached");
  const bool is_waited_for = agent_ready_ && !run_ && !archived_ && wants_to_run();
  expect(e.boot != exec_boot_ || is_waited_for || copying_, "D1",
         "reattached by the daemon that has it");
}

void Ledger::see(const Event& event, const ExecutorReattached& e) {
  see_reattach(e);
  exec_boot_ = last_boot_ = e.boot;
  exec_seen_ = event.at;
}

void Ledger::see(const Event&, const ExecutorError& e) {
  exec_starting_ = false;
  exec_status_ = ExecutorStatus::error;
  exec_error_code_ = e.code;
  exec_error_ = e.message;
  if (!copying_) {
    owed_.stops = 1;
    owed_.resume_must_fail = resume_ && !stop_requested_;
    owed_.resume_must_stay = resume_ && stop_requested_;
  }
  ask_to_stop();
}

void Ledger::see(const Event&, const ExecutorStopped& e) {
  end_steering();
  expect(may_live(), "PROC3", "an execution ends twice");
  exec_declared_ = e.proof.starts_with("declared by");
  if (exec_declared_) declared_.insert(exec_.exec);
  if (exec_declared_) owed_.must_be_declared = false;
  expect(copying_ || exec_declared_ || !facts_.execution_lives(exec_), "PROC3",
         "called gone while it lives (" + e.proof + ")");
  const char* const reason = exec_declared_    ? "declared_dead"
                             : stop_requested_ ? "stopped"
                                               : "lost";
  expect(e.reason == reason || copying_, "A26", "the wrong reason for an end");
  expect(!run_, "RUN1", "an execution ends and its run does not");
  if (e.reason == "lost" && stop_reason_.empty()) stop_reason_ = "interrupted";
  expect(active_tokens_.empty(), "C15", "an execution ends and its questions stay open");
  exec_gone_ = true;
  if (exec_status_ != ExecutorStatus::error) exec_status_ = ExecutorStatus::stopped;
  if (exec_error_code_.empty() && !e.code.empty()) {
    exec_error_code_ = e.code;
    exec_error_ = e.proof;
  }
  exec_starting_ = false;
  agent_ready_ = agent_opening_ = false;
  owed_.death_claimed = false;
}

void Ledger::see(const Event&, const AgentStarted& e) {
  expect(resume_.has_value() || copying_, "C1", "an agent starts and nobody asked for it");
  abilities_ = e.abilities;
  attempts_.clear();
  note_open();
}

void Ledger::see(const Event&, const AgentExited& e) {
  const bool clean = e.why == "stopped" || e.exit_code == 0;
  if (!clean && !stop_requested_) stop_reason_ = "agent_crashed";
  agent_ready_ = agent_opening_ = false;
  if (run_) run_->agent_exited = true;
  owed_.exit = e;
  end_steering();
}

bool Ledger::native_is_possible() const {
  if (agent_session_id_.empty() || prompts_ == 0 || rejected_) return false;
  if (!agent_.native_session_resume || !agent_.supports_session_resume) return false;
  if (context_cwd_ != workspace_cwd_) return false;
  const bool only_load = resume_ && resume_->how == ResumeHow::load;
  return (abilities_.resume && !only_load) || abilities_.load;
}

// Whether the agent reported that it continues its old session, judged by its own words (C4).
bool Ledger::boundary_keeps_session(const ContextBoundary& e, const FrameSessionOpened& opened) {
  const bool native = opened.method != OpenMethod::fresh;
  const bool same = opened.agent_session_id.empty() || opened.agent_session_id == agent_session_id_;
  const bool kept = native && same;
  const BoundaryHow wanted =
      opened.method == OpenMethod::resume ? BoundaryHow::native_resume : BoundaryHow::native_load;
  expect(!kept || e.how == wanted, "C4", "a native rung served and is not called so");
  expect(kept || (e.how != BoundaryHow::native_resume && e.how != BoundaryHow::native_load), "C4",
         "another session is called restored");
  Verified verified = Verified::none;
  if (kept) verified = Verified::id_only;
  if (kept && opened.method == OpenMethod::load) {
    expect(opened.replayed_prompts > 0 || turns_ == 0, "C4", "an empty session is called restored");
    verified = opened.replayed_prompts < prompts_ ? Verified::partial : Verified::full;
  }
  expect(e.verified == verified, "C4", "the boundary says more or less than was checked");
  return kept;
}

// Why the last attempted rung failed, as a boundary reports it.
std::string Ledger::reason_of_loss() const {
  if (attempts_.empty()) return "";
  const OpenAttempt& last = attempts_.back();
  const std::string why(enum_text(last.failure));
  return last.message.empty() ? why : why + ": " + last.message;
}

void Ledger::see(const Event& event, const ContextBoundary& e) {
  boundary_ = hashes_.size();
  owed_.must_open = false;
  context_how_ = e.how;
  verified_ = e.verified;
  if (e.how == BoundaryHow::cleared) {
    history_from_ = boundary_;
    history_prompts_ = 0;
    turns_ = 0;
    inject_armed_ = false;
  }
  if (e.how == BoundaryHow::cleared || e.how == BoundaryHow::compacted) return;
  const Frame* frame = frame_of(event.origin);
  const auto* opened = frame ? get_if<FrameSessionOpened>(&frame->body) : nullptr;
  if (!copying_ && expect(opened && resume_, "C4", "a boundary without the agent's word")) {
    const bool kept = boundary_keeps_session(e, *opened);
    const bool handover = resume_->with.has_value();
    expect(kept || !resume_->strict || history_prompts_ == 0, "C2", "strict, and context was lost");
    expect(handover == (e.how == BoundaryHow::handover), "C4", "a handover that was not asked for");
    const bool asked_for_less =
        handover || resume_->how == ResumeHow::inject || resume_->how == ResumeHow::fresh;
    expect(kept || asked_for_less || !native_is_possible() || !attempts_.empty(), "C4",
           "a better rung was not tried");
    const bool injects = !kept && resume_->how != ResumeHow::fresh && history_prompts_ > 0 &&
                         (resume_->how == ResumeHow::inject || policy_.inject == Inject::automatic);
    expect(e.inject == injects, "C12", "history is armed, or not, against the policy");
    expect(injects == (e.how == BoundaryHow::injected) || handover, "C12", "how says otherwise");
    if (!kept)
      expect(e.reason == reason_of_loss() || attempts_.empty(), "X6",
             "a boundary with another reason");
    if (!kept) expect(!e.reason.empty(), "X6", "a boundary without its reason");
    expect(!handover || !attempts_.empty() || e.reason == "handover", "X6",
           "the reason of a handover");
    const bool is_wanted = !handover && attempts_.empty() && resume_->how == ResumeHow::fresh;
    expect(!is_wanted || e.reason == "asked for", "X6", "a fresh start that was asked for");
    if (!kept) expect(e.previous_agent_session_id == agent_session_id_, "C5", "an id was erased");
  }
  if (e.how == BoundaryHow::handover && resume_ && resume_->with) {
    agent_ = *resume_->with;
    limit_.reset();
  }
  if (e.how != BoundaryHow::native_resume && e.how != BoundaryHow::native_load) {
    prompts_ = 0;
    turns_ = 0;
  }
  agent_session_id_ = e.agent_session_id;
  context_cwd_ = e.cwd;
  context_opened_ = event.at;
  rejected_ = false;
  inject_armed_ = e.inject;
  agent_ready_ = !stop_requested_ && !copying_;
  agent_opening_ = false;
  failure_.reset();
  if (!requested_.empty() && !copying_) owed_.options.push_back(requested_);
  resume_.reset();
}

void Ledger::see(const Event&, const ContextInjected& e) {
  expect(inject_armed_ || copying_, "C12", "history goes along twice, or unasked");
  expect(run_ && !run_->has_message && e.message == run_->message, "C12",
         "injected at the wrong place");
  expect(e.boundary == boundary_, "C12", "the history of another boundary");
  expect(e.turns_of == history_prompts_ && e.turns >= 1 && e.turns <= e.turns_of, "C12",
         "a wrong count of turns");
  expect(e.text.contains(last_prompt_), "C12", "the history leaves out the last prompt");
  inject_armed_ = false;
  if (run_) run_->injected = true;
}

void Ledger::see(const Event&, const ContextAttempt& e) {
  expect(e.attempt.failure < OpenFailure::transport, "C4",
         "the ladder goes down after a failure that keeps the id");
  attempts_.push_back(e.attempt);
  owed_.must_open = !copying_;
  if (e.attempt.failure == OpenFailure::session_unknown) rejected_ = true;
  note_open();
}

void Ledger::see(const Event&, const ResumeFailed& e) {
  expect(resume_.has_value() || copying_, "C4", "a resume fails that nobody asked for");
  expect(!owed_.resume_must_stay, "K18", "a resume fails with an execution that did not serve it");
  owed_.resume_must_fail = owed_.must_open = false;
  see_early_end(e);
  const bool is_about_id = !e.attempts.empty() && e.attempts.back().failure == e.failure;
  expect(e.failure != OpenFailure::session_unknown || is_about_id || copying_, "C4",
         "an id is condemned by what was said about something else");
  const bool unknown = e.failure == OpenFailure::session_unknown;
  const char* const shown = unknown ? "" : e.at_boot ? "ERROR" : "FAILED";
  const bool has_no_folder = e.at_boot && e.code == "workspace_missing";
  expect(e.code.empty() || e.code == exec_error_code_ || has_no_folder || copying_, "L37",
         "a failure with a code that its execution has not");
  const bool is_the_others = resume_ && resume_->with && may_live() && !stop_requested_;
  expect(e.executor_stops == is_the_others || copying_, "C4",
         "an execution of another agent goes on for the session's own, or one is ended");
  const std::string code = e.code.empty() ? std::string(enum_text(e.failure)) : e.code;
  failure_ = Failure{shown, code, e.message};
  expect(e.at_boot == (resume_ && resume_->at_boot) || copying_, "C22",
         "a failure at boot, or not");
  if (e.failure == OpenFailure::session_unknown) rejected_ = true;
  resume_.reset();
  agent_ready_ = agent_opening_ = false;
  if (e.executor_stops) {
    if (may_live() && !copying_) owed_.stops = 1;
    ask_to_stop();
  }
  hold_queue(true);
}

void Ledger::see(const Event&, const ResumeRequested& e) {
  expect(!resume_, "R11", "a second resume beside the first");
  expect(!archived_ || copying_, "C3", "an archived session resumes");
  expect(!e.at_boot || policy_.resume == ResumePolicy::on_boot || copying_, "C1",
         "resumed at boot against the policy");
  // Several daemons may take a session over and back within one boot.
  expect(!e.at_boot || exec_began_ != facts_.boot() || facts_.are_several() || copying_, "C1",
         "resumed as at boot what was lost in this very life of the daemon");
  resume_ = e;
  if (e.with && may_live()) {
    ask_to_stop();
    if (!copying_) owed_.stops = 1;
  }
}

void Ledger::see(const Event&, const Mode& e) {
  observed_[e.option] = e.value;
  requested_.erase(e.option);
}

}  // namespace perdure::sim
