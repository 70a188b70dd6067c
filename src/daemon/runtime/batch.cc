#include "daemon/runtime/batch.h"

#include <algorithm>
#include <span>
#include <type_traits>

#include "base/check.h"
#include "base/limits.h"
#include "base/probe.h"
#include "core/wire/agentctl/effect.h"
#include "core/wire/agentctl/reply.h"
#include "core/wire/journal/record.h"

namespace perdure {
namespace {

// Answers to prompts are kept forever, others for a week (contract: Idempotency-Key).
bool kept_for_ever(const InputBody& body) {
  if (const auto* create = get_if<CreateSession>(&body)) return create->prompt.has_value();
  return holds_alternative<SubmitPrompt>(body);
}

// The agent's own update may be large and no decision reads it: beyond the limit it becomes a blob.
void spill_update(EventBody& body, std::vector<Blob>& blobs) {
  visit(
      [&](auto& event) {
        if constexpr (HasFields<std::remove_reference_t<decltype(event)>>) {
          event.fields([&](std::string_view name, auto& field) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, RawJson>) {
              if (name != "update" || field.text.size() <= blob_threshold_bytes) return;
              const Hash hash = sha256(field.text);
              JsonWriter reference;
              reference.begin_object().key("blob").string(hash.hex()).key("bytes");
              reference.number_unsigned(field.text.size()).end_object();
              blobs.push_back({hash, std::move(field.text)});
              field.text = std::move(reference).take();
            }
          });
        }
      },
      body);
}

}  // namespace

Batch::Batch(ActorShared& shared, SessionId session, const State& before, const Hash& hash,
             const std::optional<FrameCursor>& frame_cursor)
    : state(before),
      head_hash(hash),
      cursor(frame_cursor),
      shared_(shared),
      session_(session),
      head_before_(before.head),
      cursor_before_(frame_cursor) {}

std::optional<Answered> Batch::repeated(const Request& request) {
  if (request.key.empty()) return std::nullopt;
  std::optional<StoredAnswer> known;
  const auto pending = std::ranges::find(keys_, request.key, &StoredAnswer::key);
  const bool is_pending = pending != keys_.end();
  if (is_pending) {
    SIM_PROBE("key repeated within one batch");
    known = *pending;
  } else {
    Result<std::optional<StoredAnswer>> stored = shared_.world.store.answer(request.key);
    // The key was not looked up, regardless of the commit's result.
    if (!stored) return Answered{.result = std::unexpected(stored.error()), .stands = true};
    known = std::move(*stored);
  }
  if (!known) return std::nullopt;
  Answered answered{.result = decode_reply(known->answer), .stands = !is_pending};
  if (known->body != request.body_hash) {
    answered.result =
        fail(Code::key_reused, "the idempotency key was used before with another request");
  }
  return answered;
}

// Frames arrive in order, each once: frames up to the cursor are already journalled.
bool Batch::frame_is_next(Frame& frame) {
  if (frame.exec != state.exec.id || frame.gen != state.exec.gen) {
    dropped += 1;
    return false;
  }
  const FrameNo last = cursor && cursor->exec == frame.exec ? cursor->frame : 0;
  if (frame.number <= last) {
    SIM_PROBE("frame sent again after a reattach");
    return false;
  }
  CHECK(frame.number == last + 1, "the executor handed out frames with a gap");
  if (auto* question = get_if<FramePermission>(&frame.body)) {
    IdSource ids(shared_.world.clock.now().wall, shared_.world.random.next());
    question->token = ids.next<WaitTokenId>();
    question->secret_hash = sha256(make_wait_secret(shared_.config.wait_key, question->token));
  }
  return true;
}

// On another host, its agentctl reports this when started.
bool Batch::has_workspace() const {
  return state.runtime == "remote" || shared_.world.files.folder_exists(state.workspace.cwd);
}

// The folder is checked now: an earlier command may have bound the session to another one.
Input Batch::make_input(const Request& request) {
  Input input{.now = shared_.world.clock.now(),
              .boot = shared_.config.boot,
              .home = shared_.config.home,
              .id_seed = shared_.world.random.next(),
              .by = request.by,
              .body = request.body};
  if (auto* resume = get_if<ResumeSession>(&input.body)) {
    resume->workspace_exists = has_workspace();
  } else if (auto* start = get_if<StartWorkspace>(&input.body)) {
    start->workspace_exists = has_workspace();
  }
  return input;
}

void Batch::take(Waiting waiting) {
  Answered answered{.result = Reply{}};
  const bool is_frame = holds_alternative<Frame>(waiting.request.body);
  if (auto known = repeated(waiting.request)) {
    answered = std::move(*known);
  } else if (!is_frame || frame_is_next(get<Frame>(waiting.request.body))) {
    const Input input = make_input(waiting.request);
    Result<Decision> decision = decide(state, input);
    if (decision) {
      accept(waiting.request, std::move(*decision), answered.result);
    } else {
      CHECK(waiting.from_client, "only a client's command can be refused");
      answered.result = std::unexpected(std::move(decision).error());
    }
  }
  if (waiting.ends_effect != 0) effects_done.push_back(waiting.ends_effect);
  answered.reply = std::move(waiting.reply);
  answers_.push_back(std::move(answered));
  taken_.push_back(std::move(waiting));
}

void Batch::accept(const Request& request, Decision decision, Result<Reply>& answer) {
  for (Event& event : decision.events) add_event(std::move(event));
  for (std::size_t i = 0; i < decision.effects.size(); ++i) {
    effects.push_back({decision.effect_numbers[i], encode_effect(decision.effects[i])});
    bytes_ += effects.back().payload.size();
  }
  dropped += decision.dropped;
  essential = essential || decision.essential;
  if (const auto* frame = get_if<Frame>(&request.body)) {
    cursor = FrameCursor{frame->exec, frame->number};
  }
  if (!request.key.empty()) {
    std::optional<Timestamp> expires;
    if (!kept_for_ever(request.body)) {
      expires = Timestamp{shared_.world.clock.now().wall.ms + answers_kept_ms};
    }
    keys_.push_back({request.key, request.body_hash, encode_reply(decision.reply), expires});
  }
  answer = std::move(decision.reply);
}

void Batch::add_event(Event event) {
  if (const auto* asked = get_if<PermissionRequested>(&event.body)) {
    refs_.push_back(asked->permission.text());
  } else if (const auto* minted = get_if<TokenMinted>(&event.body)) {
    refs_.push_back(minted->token.text());
  }
  counts.add(event);
  const std::size_t blobs_before = blobs_.size();
  spill_update(event.body, blobs_);
  for (const Blob& blob : std::span(blobs_).subspan(blobs_before)) bytes_ += blob.bytes.size();
  auto bytes = std::make_shared<const std::string>(encode_record(state.head + 1, head_hash, event));
  head_hash = record_hash(*bytes);
  bytes_ += bytes->size();
  state = evolve(std::move(state), event);
  records.push_back(std::move(bytes));
}

bool Batch::needs_commit() const {
  return !records.empty() || !keys_.empty() || cursor != cursor_before_ || !effects_done.empty();
}

Append Batch::make_append(std::uint64_t epoch) {
  Append append{.session = session_, .epoch = epoch, .expected_head = head_before_};
  append.records.reserve(records.size());
  for (const auto& bytes : records) append.records.push_back(*bytes);
  append.outbox_add = effects;
  append.outbox_done = effects_done;
  if (cursor != cursor_before_) append.cursor = cursor;
  append.answers = std::move(keys_);
  append.refs = std::move(refs_);
  append.blobs = std::move(blobs_);
  append.essential = essential;
  return append;
}

bool Batch::has_replies() const {
  return std::ranges::any_of(
      answers_, [](const Answered& answered) { return answered.reply && !answered.stands; });
}

void Batch::give_standing_answers() {
  for (Answered& answered : answers_) {
    if (!answered.stands || !answered.reply) continue;
    SIM_PROBE("repeat answered although its commit was refused");
    std::exchange(answered.reply, {})(std::move(answered.result));
  }
}

std::deque<Waiting> Batch::take_back() {
  std::deque<Waiting> waiting;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    taken_[i].reply = std::move(answers_[i].reply);
    taken_[i].tries += 1;
    waiting.push_back(std::move(taken_[i]));
  }
  return waiting;
}

}  // namespace perdure
