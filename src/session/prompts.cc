// Prompts: accepted once, kept in order, sent to at most one life of the agent (G6). A prompt that
// cannot start now waits in the journal, never only in memory.
#include <algorithm>

#include "base/limits.h"
#include "base/probe.h"
#include "session/draft.h"

namespace perdure {

namespace {

std::size_t prompt_bytes(const Prompt& prompt) {
  return prompt.text.size() + prompt.blocks.text.size();
}

}  // namespace

Result<> check_prompt(const State& state, const Prompt& prompt) {
  if (state.archived)
    return fail(Code::session_archived, "the session is archived; unarchive it first");
  if (is_empty(prompt)) return fail(Code::invalid_argument, "the prompt is empty");
  if (prompt_bytes(prompt) > prompt_bytes_max) {
    return fail(Code::limit_reached, "the prompt is longer than 8 MiB");
  }
  return check_given("content", prompt.blocks);
}

namespace {

// The queue is in every snapshot, whole: it is bounded by bytes, too.
Result<> check_queue_bytes(const State& state, std::size_t more_bytes) {
  std::size_t bytes = more_bytes;
  for (const QueuedPrompt& item : state.queue) bytes += prompt_bytes(item.prompt);
  if (bytes <= queue_bytes_max) return {};
  return fail(Code::limit_reached, "the queue has no more than 64 MiB; remove a prompt or wait");
}

Result<> check_queue_has_room(const State& state, const Prompt& prompt) {
  if (state.queue.size() >= queue_prompts_max) {
    return fail(Code::limit_reached, "100 prompts are queued already; remove one or wait");
  }
  return check_queue_bytes(state, prompt_bytes(prompt));
}

// An execution of an earlier daemon is Unknown until its link is up or its end is proved (C19): a
// run that was started on it could only be interrupted.
bool is_known_to_live(const Draft& draft) { return draft.state.exec.boot == draft.input.boot; }

auto next_unheld(State& state) {
  return std::ranges::find_if(state.queue, [](const QueuedPrompt& item) { return !item.held; });
}

void enqueue(Draft& draft, const Prompt& prompt, const std::string& key, bool front) {
  const auto message = draft.ids.next<MessageId>();
  const auto run = draft.ids.next<RunId>();
  draft.add(QueueAdded{message, run, prompt, key, draft.input.by, front});
  Reply& reply = draft.decision.reply;
  reply.seq = draft.state.head;
  reply.run = run;
  reply.message = message;
  reply.placed = front ? "queued_front" : "queued";
}

void report_queue_position(Draft& draft) {
  const auto at =
      std::ranges::find(draft.state.queue, draft.decision.reply.message, &QueuedPrompt::message);
  if (at == draft.state.queue.end()) {
    draft.decision.reply.placed = "started";
  } else {
    // Held prompts do not start before it: a person would count wrong with them.
    const auto ahead = std::count_if(draft.state.queue.begin(), at,
                                     [](const QueuedPrompt& item) { return !item.held; });
    draft.decision.reply.queue_position = static_cast<std::uint64_t>(ahead) + 1;
  }
}

// Begins the run of a prompt that is not in the queue any more. `history` goes in front of it.
void begin_run(Draft& draft, const QueuedPrompt& item, const InjectionReady* history) {
  const auto held =
      static_cast<std::uint64_t>(std::ranges::count_if(draft.state.queue, &QueuedPrompt::held));
  const bool by_itself = item.by == "auto_continue" || item.by == "continue_at_reset";
  const std::string trigger = by_itself ? item.by : "prompt";
  // A new run revokes what is still asked from before it, outside of any run (O17, O22).
  close_waits(draft, {.reason = "new_run", .tell_agent = true});
  draft.add(RunStarted{draft.input.boot, item.message, trigger, held},
            {.run = item.run, .exec = draft.state.exec.id, .gen = draft.state.exec.gen});
  if (history) {
    draft.add(ContextInjected{item.message, history->boundary, history->text, history->turns,
                              history->turns_of, history->chars},
              draft.run_origin());
  }
  draft.add(MessageUser{item.message, item.prompt, item.key, item.by}, draft.run_origin());
  draft.command(SendPrompt{item.run, item.message, item.prompt, history ? history->text : ""});
}

void begin_queued_run(Draft& draft, const InjectionReady* history) {
  const QueuedPrompt item = *next_unheld(draft.state);
  draft.add(QueueDelivered{item.message});
  begin_run(draft, item, history);
}

// An agentctl that does not say what became of it could lose it behind the end of the turn.
bool can_be_steered(const State& state) {
  return state.agent.steer && state.exec.tells_steered && state.waits.empty() &&
         !state.run->cancelling;
}

// It is queued in front until the agentctl says that the agent has it: whatever becomes of the
// turn, the agentctl or this daemon meanwhile, it is then sent as a prompt of its own, or held.
void steer(Draft& draft, const SubmitPrompt& command) {
  SIM_PROBE("prompt steered into the open run");
  const auto message = draft.ids.next<MessageId>();
  draft.add(QueueAdded{.message = message,
                       .run = draft.ids.next<RunId>(),
                       .prompt = command.prompt,
                       .key = command.key,
                       .by = draft.input.by,
                       .front = true,
                       .steer = true});
  draft.decision.reply = {
      .seq = draft.state.head, .run = draft.state.run->id, .message = message, .placed = "steered"};
  draft.command(SteerPrompt{draft.state.run->id, message, command.prompt});
}

Decision accept_behind_open_run(Draft& draft, const SubmitPrompt& command) {
  if (command.when == PromptWhen::steer && can_be_steered(draft.state)) {
    steer(draft, command);
    return std::move(draft.decision);
  }
  const bool waiting = !draft.state.waits.empty();
  const bool ends_run =
      command.when == PromptWhen::interrupt || (command.when == PromptWhen::automatic && waiting);
  enqueue(draft, command.prompt, command.key, ends_run || command.when == PromptWhen::steer);
  if (ends_run) {
    SIM_PROBE("prompt ends the open run");
    request_cancel(draft);
  }
  report_queue_position(draft);
  return std::move(draft.decision);
}

}  // namespace

void accept_when_idle(Draft& draft, const Prompt& prompt, const std::string& key) {
  const bool nothing_before = next_unheld(draft.state) == draft.state.queue.end();
  const bool can_start = agent_ready(draft.state) && is_known_to_live(draft);
  if (can_start && !draft.state.context.inject_armed && nothing_before) {
    const QueuedPrompt item{draft.ids.next<MessageId>(), draft.ids.next<RunId>(), prompt, key,
                            draft.input.by};
    begin_run(draft, item, nullptr);
    draft.decision.reply = {
        .seq = draft.state.head, .run = item.run, .message = item.message, .placed = "started"};
    return;
  }
  enqueue(draft, prompt, key, false);
  deliver_next(draft);
  report_queue_position(draft);
}

Outcome on(Draft& draft, const SubmitPrompt& command) {
  TRY_VOID(check_prompt(draft.state, command.prompt));
  TRY_VOID(check_queue_has_room(draft.state, command.prompt));
  if (draft.state.run && command.when != PromptWhen::queue) {
    return accept_behind_open_run(draft, command);
  }
  if (command.when == PromptWhen::queue) {
    enqueue(draft, command.prompt, command.key, false);
    deliver_next(draft);
    report_queue_position(draft);
  } else {
    accept_when_idle(draft, command.prompt, command.key);
  }
  return std::move(draft.decision);
}

namespace {

// While its turn may still get it nobody can say what an edit or a removal would come to.
Result<const QueuedPrompt*> find_waiting(const State& state, MessageId message) {
  const auto at = std::ranges::find(state.queue, message, &QueuedPrompt::message);
  if (at == state.queue.end()) {
    return fail(Code::not_found, "the prompt is not in the queue (any more)");
  }
  if (at->steering && state.run) {
    return fail(Code::conflict, "the prompt is on its way into the running turn");
  }
  return &*at;
}

// What a person queued is for a person to change, remove or release.
Result<> check_own(const Draft& draft, const QueuedPrompt& queued) {
  if (!draft.input.by.starts_with("session:") || queued.by == draft.input.by) return {};
  return fail(Code::denied,
              "A process inside a session can change, remove and release only the prompts that it "
              "queued itself.");
}

}  // namespace

Outcome on(Draft& draft, const EditQueued& command) {
  TRY_VOID(check_prompt(draft.state, command.prompt));
  const QueuedPrompt* const queued = TRY(find_waiting(draft.state, command.message));
  TRY_VOID(check_own(draft, *queued));
  const std::size_t now = prompt_bytes(queued->prompt);
  const std::size_t then = prompt_bytes(command.prompt);
  if (then > now) TRY_VOID(check_queue_bytes(draft.state, then - now));
  const bool was_on_its_way = queued->steering;
  draft.add(QueueEdited{command.message, command.prompt, draft.input.by});
  draft.decision.reply.seq = draft.state.head;
  if (was_on_its_way) deliver_next(draft);
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const RemoveQueued& command) {
  const QueuedPrompt* const queued = TRY(find_waiting(draft.state, command.message));
  TRY_VOID(check_own(draft, *queued));
  const bool was_on_its_way = queued->steering;
  draft.add(QueueRemoved{command.message, draft.input.by});
  draft.decision.reply.seq = draft.state.head;
  if (was_on_its_way) deliver_next(draft);  // others waited until it was known what became of it
  return std::move(draft.decision);
}

Outcome on(Draft& draft, const ReleaseQueue&) {
  if (draft.state.archived) return fail(Code::session_archived, "the session is archived");
  if (!draft.state.queue_held) {
    draft.decision.reply.nothing_to_do = true;
    return std::move(draft.decision);
  }
  for (const QueuedPrompt& queued : draft.state.queue) {
    if (queued.held) TRY_VOID(check_own(draft, queued));
  }
  draft.add(QueueReleased{draft.input.by});
  draft.decision.reply.seq = draft.state.head;
  deliver_next(draft);
  return std::move(draft.decision);
}

// The conversation has it where the agent got it. Late, behind an end of the run that did not wait
// for the agent, too: it is not to be sent again.
void on_frame(Draft& draft, const Frame& frame, const FrameSteerTaken& body) {
  const auto at = std::ranges::find(draft.state.queue, body.message, &QueuedPrompt::message);
  if (at == draft.state.queue.end() || !at->steering) {
    SIM_PROBE("steered prompt has left the queue already");
    draft.decision.dropped = 1;
    return;
  }
  const QueuedPrompt item = *at;
  draft.add(QueueDelivered{item.message});
  draft.add(MessageUser{item.message, item.prompt, item.key, item.by, true},
            frame_origin(draft, frame));
  deliver_next(draft);  // behind an early end of the turn others waited for this one
}

// Behind an end of the run that did not wait for the agent comes the agentctl's own: what it did
// not tell before that it did not do.
void keep_untaken(Draft& draft, RunId ended) {
  const bool is_last =
      !draft.state.run && draft.state.last_run && draft.state.last_run->id == ended;
  if (!is_last) return;
  const std::deque<QueuedPrompt> queue = draft.state.queue;
  for (const QueuedPrompt& item : queue) {
    if (item.steering) draft.add(QueueKept{item.message});
  }
  if (draft.decision.events.empty()) return;
  SIM_PROBE("steered prompt was not taken before its turn's late end");
  deliver_next(draft);
}

// Nobody reads any more whether the agent was given it. Like every prompt it is given at most once:
// it is told as given, in the turn that it was meant for (RUN4).
void give_up_steering(Draft& draft) {
  const std::deque<QueuedPrompt> queue = draft.state.queue;
  for (const QueuedPrompt& item : queue) {
    if (!item.steering) continue;
    SIM_PROBE("steered prompt of an execution that was declared dead");
    Origin origin = draft.state.run ? draft.run_origin() : draft.exec_origin();
    if (!draft.state.run && draft.state.last_run) origin.after_run = draft.state.last_run->id;
    draft.add(QueueDelivered{item.message});
    draft.add(MessageUser{item.message, item.prompt, item.key, item.by, true}, origin);
  }
}

// What is on its way into a turn that has ended waits: its agentctl says what became of it (RUN4).
bool has_next(Draft& draft) {
  const auto next = next_unheld(draft.state);
  return !draft.state.run && !draft.state.archived && next != draft.state.queue.end() &&
         !next->steering;
}

void deliver_next(Draft& draft) {
  if (!has_next(draft)) return;
  const auto next = next_unheld(draft.state);
  if (!agent_ready(draft.state)) {
    ensure_agent(draft, {.how = ResumeHow::automatic, .by = next->by});
    return;
  }
  if (!is_known_to_live(draft)) {
    SIM_PROBE("prompt waits until the old execution is known to live");
    return;  // ExecutorAttached goes on, or ExecutorGone
  }
  if (draft.state.context.inject_armed) {
    // Asked again by a later prompt this is run twice and answered once: the arm is taken off by
    // the first run that carries the history (K29).
    draft.effect(PrepareInjection{draft.state.context.boundary, draft.state.context.history_from});
    return;
  }
  begin_queued_run(draft, nullptr);
}

Outcome on(Draft& draft, const InjectionReady& input) {
  const Context& context = draft.state.context;
  const bool wanted = context.inject_armed && context.boundary == input.boundary &&
                      agent_ready(draft.state) && is_known_to_live(draft) && has_next(draft);
  if (wanted) {
    SIM_PROBE("history injected with a prompt");
    begin_queued_run(draft, &input);
  }
  return std::move(draft.decision);
}

}  // namespace perdure
