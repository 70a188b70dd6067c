// Reading: the chain, a record's session, the whole batch with its effects and frame cursor.
#include "sim/judges/ledger.h"

#include <algorithm>

#include "base/bytes/hash.h"
#include "base/limits.h"
#include "core/wire/agentctl/effect.h"
#include "core/wire/journal/snapshot.h"
#include "sim/driver/trace.h"

namespace perdure::sim {
namespace {

template <class T>
bool take_one(std::vector<T>& from, const T& value) {
  const auto at = std::ranges::find(from, value);
  if (at == from.end()) return false;
  from.erase(at);
  return true;
}

// Kinds that a frame becomes unchanged: never dropped, never modified.
template <class Body>
constexpr bool is_conversation =
    std::is_same_v<Body, MessageAgent> || std::is_same_v<Body, MessageThought> ||
    std::is_same_v<Body, ToolCall> || std::is_same_v<Body, ToolUpdate> ||
    std::is_same_v<Body, Plan> || std::is_same_v<Body, Usage> || std::is_same_v<Body, Mode> ||
    std::is_same_v<Body, Commands> || std::is_same_v<Body, AgentUpdate>;

bool must_be_recorded(const FrameBody& body) {
  return visit(
      []<class Body>(const Body&) {
        return is_conversation<Body> || std::is_same_v<Body, FramePermission> ||
               std::is_same_v<Body, FrameContextChanged> || std::is_same_v<Body, FrameAgentExited>;
      },
      body);
}

// Null: the frame ends no run.
RunId run_ended_by(const FrameBody& body) {
  if (const auto* finished = get_if<FrameRunFinished>(&body)) return finished->run;
  if (const auto* failed = get_if<FrameRunFailed>(&body)) return failed->run;
  return {};
}

}  // namespace

std::string Ledger::place() const {
  const std::string text = session_.text();
  return text.substr(text.size() - 6) + "/" + std::to_string(hashes_.size());
}

const Ledger::Asked* Ledger::find_asked(ExecId exec, const std::string& request) const {
  const auto at = asked_.find({exec, request});
  return at == asked_.end() ? nullptr : &permissions_.at(at->second);
}

std::optional<MessageId> Ledger::accepted(const std::string& key) const {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return std::nullopt;
  return at->second;
}

void Ledger::feed(std::string_view bytes) {
  Result<DecodedRecord> decoded = chain_.add(bytes);
  if (!decoded) {
    expect(false, "J1/J2", "record does not follow: " + decoded.error().message());
    return;
  }
  hashes_.push_back(hash64(bytes));
  const Event& event = decoded->record.event;
  kinds_.push_back(event.body.index());
  times_.push_back(event.at);
  updated_ = event.at;
  if (!event.origin.copied_from.empty()) copied_records_ += 1;
  expect((hashes_.size() == 1) == holds_alternative<SessionCreated>(event.body), "J1",
         "session.created is the first record and no other");
  see_origin(event);
  if (!copying_) see_frame_content(event);
  visit([&](const auto& body) { see(event, body); }, event.body);
  fold_ = evolve(std::move(fold_), event);
  expect(fold_.head == hashes_.size(), "J4", "the fold lost count");
}

void Ledger::see_origin(const Event& event) {
  const Origin& origin = event.origin;
  if (origin.run && !holds_alternative<RunStarted>(event.body)) {
    expect(run_ && run_->id == origin.run, "RUN2",
           "a record carries the id of a run that is not open");
  }
  if (origin.after_run) {
    expect(!origin.run && ended_.contains(origin.after_run), "RUN2",
           "after_run names a run that has not ended");
  }
  if (copying_ || holds_alternative<ExecutorStarting>(event.body)) return;
  if (origin.gen != 0) {
    expect(origin.exec == exec_.exec && origin.gen == exec_.gen, "PROC2",
           "journalled under another life than the present one");
    const bool may_follow_death = holds_alternative<ResumeFailed>(event.body);
    expect(!exec_gone_ || may_follow_death, "PROC2", "a record of a life that has ended");
  }
  if (origin.frame != 0) {
    expect(origin.frame >= last_frame_, "PROC5", "frames journalled out of order");
    last_frame_ = std::max(last_frame_, origin.frame);
    frames_.insert({origin.exec, origin.frame});
  }
}

const Frame* Ledger::frame_of(const Origin& origin) const {
  if (origin.frame == 0) return nullptr;
  return facts_.find_frame({session_, origin.exec, origin.gen}, origin.frame);
}

// A record replaces an update above the size limit by the hash of its blob.
template <class Body>
bool is_same(Body said, const Body& recorded) {
  if (said.update.text.size() > blob_threshold_bytes) {
    if (!recorded.update.text.contains(sha256(said.update.text).hex())) return false;
    said.update = recorded.update;
  }
  return said == recorded;
}

void Ledger::see_frame_content(const Event& event) {
  if (event.origin.frame == 0) return;
  const Frame* frame = frame_of(event.origin);
  if (!expect(frame != nullptr, "PROC5", "a record of a frame that was never written")) return;
  visit(
      [&]<class Body>(const Body& body) {
        if constexpr (is_conversation<Body>) {
          const Body* said = get_if<Body>(&frame->body);
          expect(said && is_same(*said, body), "PROC5", "a record differs from its frame");
          const RunId run = event.origin.run ? event.origin.run : event.origin.after_run;
          expect(run == frame->run, "RUN2",
                 "a frame was journalled under another run than its own");
        }
      },
      event.body);
}

// Every frame up to the cursor is in the journal if it is of a kind that must be.
void Ledger::see_all_frames(const FrameCursor& cursor) {
  FrameNo from = cursor_ && cursor_->exec == cursor.exec ? cursor_->frame : 0;
  const bool steps_on = !cursor_ || cursor_->exec != cursor.exec || cursor.frame > cursor_->frame;
  expect(steps_on, "PROC5", "the frame cursor went back");
  const auto life = lives_.find(cursor.exec);
  if (!expect(life != lives_.end(), "PROC5", "the frame cursor is of no life of this session"))
    return;
  for (FrameNo number = from + 1; number <= cursor.frame; ++number) {
    const Frame* frame = facts_.find_frame(life->second, number);
    if (!expect(frame != nullptr, "PROC5", "the cursor passed a frame that was never written"))
      break;
    expect(!run_ || run_ended_by(frame->body) != run_->id, "RUN1",
           "the agent said that its turn is over, and the run goes on");
    if (const auto* gone = get_if<FramePermissionGone>(&frame->body)) {
      const Asked* const asked = find_asked(cursor.exec, gone->request);
      expect(!asked || asked->resolved, "TOK3", "a question was taken back and stays open");
    }
    if (!must_be_recorded(frame->body) || declared_.contains(cursor.exec)) continue;
    expect(frames_.contains({cursor.exec, number}), "PROC5",
           "frame " + std::to_string(number) + " was passed over and is in no record");
  }
  cursor_ = cursor;
}

void Ledger::end_batch(const Append& batch) {
  if (batch.cursor && !copying_) see_all_frames(*batch.cursor);
  if (!copying_) see_effects(batch);
  const bool was_copying = copying_;
  end_records();
  expect(!was_copying || copying_ || batch.listing, "C7", "a fork is in no list");
  if (batch.listing) see_listing(*batch.listing);
  if (!batch.snapshot) return;
  snapshots_ += 1;
  const Result<State> state = decode_snapshot(*batch.snapshot);
  expect(state && *state == fold_, "J4", "the snapshot is not the fold of the journal");
}

void Ledger::end_unknown_batch() {
  owed_ = {};
  end_records();
}

void Ledger::end_records() {
  if (copying_) {
    if (!copied_) return;  // the rest of the copy comes in later batches
    expect(!run_ && active_tokens_.empty() && open_permissions_.empty() && queue_.empty() &&
               !may_live(),
           "RUN1", "a fork carries something open over");
    expect(agent_session_id_.empty(), "C4", "a fork carries the agent's session over");
    copying_ = false;
    cursor_.reset();
    delivered_.reset();
  }
  expect(!delivered_, "ACK4", "queue.delivered, and the agent was given nothing");
  expect(!owed_.death_claimed, "PROC3", "a run was interrupted and nothing died");
  expect(!owed_.must_continue, "RUN1", "auto_continue was due and did not come");
  expect(!owed_.must_wait, "P13", "a limit with a reset is not waited out");
  expect(!owed_.resume_must_fail, "K18", "its execution failed, and the resume did not");
  expect(!owed_.exit || active_tokens_.empty(), "C15",
         "an agent is gone and its questions stay open");
  expect(!owed_.must_go_on, "P13", "a limit's end said it goes on, and nothing was queued");
  if (run_) expect(run_->has_message, "RUN3", "a run started without its message");
  expect(!owed_.must_open, "C4", "a rung failed, and nothing follows");
  expect(!owed_.must_cancel, "C23", "a prompt that ends the open run did not");
  expect(owed_.waitings.empty(), "O4", "a run asks, and nothing says that it waits");
  expect(owed_.resumes.empty(), "O4", "a question of the run is over, and the run is not resumed");
  expect(!owed_.expired, "C15", "a question was not answered in time, and its run goes on");
  see_waits_closed_together();
  see_next_begun();
  see_status();
  see_fold();
  owed_ = {};
}

void Ledger::see_effects(const Append& batch) {
  for (const OutboxRow& row : batch.outbox_add) {
    expect(row.number > last_effect_, "J3", "numbers of effects do not grow");
    last_effect_ = row.number;
    const Result<Effect> effect = decode_effect(row.payload);
    if (!expect(effect.has_value(), "J3", "an effect that cannot be read")) continue;
    if (const auto* command = get_if<SendCommand>(&*effect)) {
      see_command(*command);
    } else if (const auto* start = get_if<StartExecutor>(&*effect)) {
      expect(take_one(owed_.starts, {start->exec, start->gen}), "PROC3",
             "an agentctl is started without executor.starting");
    } else if (holds_alternative<StopExecutor>(*effect)) {
      if (owed_.stops > 0) owed_.stops -= 1;
    } else if (const auto* note = get_if<Notify>(&*effect)) {
      notes_.insert({note->what, note->run});
      expect(take_one(owed_.notes, {note->what, note->run}), "RUN1",
             "a note about no question and no end of a run");
    }
  }
  expect(owed_.prompts.empty(), "RUN5", "a run started and its prompt is not sent");
  expect(owed_.cancels.empty(), "RUN5", "a cancel was accepted and is not sent");
  expect(owed_.starts.empty(), "Q2", "executor.starting without its start");
  expect(owed_.notes.empty(), "RUN1", "nobody is told of a question, or of the end of a run");
  expect(owed_.answers.empty(), "TOK4", "a question was answered and the agent is not told");
  expect(owed_.steers.empty(), "RUN5", "a steered prompt is not sent");
  expect(!owed_.must_be_declared, "C23", "told as steered, and no agentctl said that it was");
  expect(owed_.options.empty(), "R9", "an option was asked for and the agent is not told");
  expect(owed_.stops == 0, "PROC3", "an execution must stop and is not told");
}

void Ledger::see_command(const SendCommand& command) {
  const auto life = lives_.find(command.exec);
  expect(life != lives_.end() && life->second.gen == command.gen, "PROC2",
         "a command to no life of this session");
  std::vector<SendCommand>& commands = commands_[command.exec];
  expect(commands.empty() || commands.back().number < command.number, "PROC5",
         "numbers of commands do not grow");
  commands.push_back(command);
  if (const auto* prompt = get_if<SendPrompt>(&command.body)) {
    expect(take_one(owed_.prompts, prompt->run), "RUN4", "a prompt is sent without run.started");
    expect(sent_.insert(prompt->message).second, "RUN4", "a prompt is sent a second time");
  } else if (const auto* cancel = get_if<CancelPrompt>(&command.body)) {
    take_one(owed_.cancels, cancel->run);
  } else if (const auto* answer = get_if<AnswerRequest>(&command.body)) {
    const Asked* asked = find_asked(command.exec, answer->request);
    expect(asked && asked->resolved && asked->option_id == answer->option_id, "TOK4",
           "the agent is given an answer that is not in the journal");
    take_one(owed_.answers, answer->request);
  } else if (const auto* steer = get_if<SteerPrompt>(&command.body)) {
    expect(take_one(owed_.steers, steer->message), "RUN4",
           "a prompt is steered without its record");
  } else if (const auto* set = get_if<SetOptions>(&command.body)) {
    take_one(owed_.options, set->options);
  } else if (const auto* open = get_if<OpenSession>(&command.body)) {
    for (const auto& [name, value] : options_at_open_) {
      const auto given = open->options.find(name);
      expect(given != open->options.end() && given->second == value, "R9",
             "an option that was observed or asked for is not given");
    }
    owed_.must_open = false;
    const bool native = open->method != OpenMethod::fresh;
    expect(!native || (open->agent_session_id == agent_session_id_ && native_at_open_), "C4",
           "a native session is asked for that cannot be had");
  }
}

bool Ledger::needs_reconcile() const {
  return may_live() || run_ || resume_ || !active_tokens_.empty() || limit_ ||
         (wants_to_run() && !archived_);
}

// The required value of the last status.derived, by rules O9/O10 alone.
void Ledger::see_status() {
  if (hashes_.empty()) return;
  std::string wanted;
  bool deadlines = false;
  for (const WaitTokenId token : active_tokens_) deadlines |= tokens_.at(token).expires.has_value();
  if (run_) {
    wanted = active_tokens_.empty() ? "running" : "waiting";
  } else if (!last_end_.empty()) {
    wanted = last_end_;
  } else {
    wanted = active_tokens_.empty() && !limit_ ? "idle" : "waiting";
  }
  const bool may_be_over =
      deadlines && !run_ && !limit_ && wanted == "waiting" && fold_.status == "idle";
  // Whether a deadline had passed at the time of the decision is unknown here.
  const bool may_be_late = deadlines && run_ && fold_.status == "interrupted_waiting";
  expect(fold_.status == wanted || may_be_late || may_be_over, "C8",
         "status " + fold_.status + " where the journal says " + wanted);
}

// Liveness.
void Ledger::check_quiet() {
  expect(!run_, "RUN1", "a run has no end");
  expect(archived_ || !wants_to_run(), "Q1", "an accepted prompt neither ran nor is held");
  expect(!resume_, "Q1", "a resume has neither a boundary nor a failure");
  expect(!may_live() || !stop_requested_, "PROC6", "an execution was told to stop and is not gone");
  expect(!limit_ || limit_->until.remaining_ms(facts_.now()) > 0, "P13",
         "a limit is waited for behind its reset");
  for (const WaitTokenId token : active_tokens_) {
    const auto& expires = tokens_.at(token).expires;
    expect(!expires || expires->remaining_ms(facts_.now()) > 0, "TOK3",
           "a wait is open behind its deadline");
  }
}

}  // namespace perdure::sim
