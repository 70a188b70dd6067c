#include "daemon/registry/node_journal.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/wire/journal/node_record.h"

namespace perdure {
namespace {

constexpr int tries_max = 3;

Result<std::string> read_id(std::string_view answer) {
  const JsonObject object = TRY(JsonObject::parse(answer));
  if (object.find("id").empty()) return fail(Code::not_found, "nothing was made under this key");
  return json_string(object.find("id"));
}

}  // namespace

SessionId Node::journal_id() { return SessionId(Ulid{.high = 0, .low = 1}); }

Result<std::unique_ptr<Node>> Node::open(World world) {
  Result<LoadedNode> loaded = load_node(world.store);
  if (!loaded) return std::unexpected(std::move(loaded).error().with_context("node journal"));
  return std::make_unique<NodeJournal>(world, std::move(*loaded));
}

NodeJournal::NodeJournal(World world, LoadedNode loaded)
    : world_(world),
      state_(std::move(loaded.state)),
      head_hash_(loaded.head_hash),
      snapshot_at_(loaded.snapshot) {}

void NodeJournal::create_task(NodeRequest request, std::string title, std::string description,
                              OnTask done) {
  submit_task(std::move(request), CreateTask{std::move(title), std::move(description)},
              std::move(done));
}
void NodeJournal::change_task(NodeRequest request, TaskId task, TaskChange change, OnTask done) {
  submit_task(std::move(request), ChangeTask{task, std::move(change)}, std::move(done));
}
void NodeJournal::delete_task(NodeRequest request, TaskId task, OnDone done) {
  submit_done(std::move(request), DeleteTask{task}, std::move(done));
}
void NodeJournal::add_token(NodeRequest request, TokenRow row, OnDone done) {
  submit_done(std::move(request), AddToken{std::move(row)}, std::move(done));
}
void NodeJournal::revoke_token(NodeRequest request, std::string id, OnDone done) {
  submit_done(std::move(request), RevokeToken{std::move(id)}, std::move(done));
}
void NodeJournal::add_browser(NodeRequest request, BrowserRow row, OnDone done) {
  submit_done(std::move(request), AddBrowser{std::move(row)}, std::move(done));
}
void NodeJournal::revoke_browser(NodeRequest request, std::string id, OnDone done) {
  submit_done(std::move(request), RevokeBrowser{std::move(id)}, std::move(done));
}
void NodeJournal::add_rule(NodeRequest request, PermissionRule rule, OnDone done) {
  submit_done(std::move(request), AddRule{std::move(rule)}, std::move(done));
}
void NodeJournal::add_typed_rule(NodeRequest request, TypedRule rule, OnDone done) {
  submit_done(std::move(request), AddTypedRule{std::move(rule)}, std::move(done));
}
void NodeJournal::remove_rule(NodeRequest request, std::string id, OnDone done) {
  submit_done(std::move(request), RemoveRule{std::move(id)}, std::move(done));
}
void NodeJournal::add_tombstone(NodeRequest request, Tombstone tombstone, OnDone done) {
  submit_done(std::move(request), AddTombstone{std::move(tombstone)}, std::move(done));
}
void NodeJournal::redact(NodeRequest request, std::vector<std::string> ids, OnDone done) {
  submit_done(std::move(request), RedactNode{std::move(ids)}, std::move(done));
}

Result<std::string> NodeJournal::shown_id(const std::string& key) {
  const auto stored = TRY(world_.store.answer(key));
  if (!stored) return fail(Code::not_found, "nothing was made under this key");
  return read_id(stored->answer);
}

std::uint64_t NodeJournal::watch(std::function<void()> changed) {
  watchers_.emplace(++last_watcher_, std::move(changed));
  return last_watcher_;
}

void NodeJournal::submit_done(NodeRequest request, NodeCommand command, OnDone done) {
  submit(std::move(request), std::move(command),
         [done = std::move(done)](Result<std::string> answer) mutable {
           done(answer ? Result<>() : Result<>(std::unexpected(std::move(answer).error())));
         });
}

void NodeJournal::submit_task(NodeRequest request, NodeCommand command, OnTask done) {
  submit(std::move(request), std::move(command),
         [this, done = std::move(done)](Result<std::string> answer) mutable {
           done(answer ? answered_task(*answer) : std::unexpected(std::move(answer).error()));
         });
}

Result<Task> NodeJournal::answered_task(const std::string& answer) const {
  // Versions before this one kept the whole task.
  if (auto task = decode_fields<Task>(answer); task && task->value.id) return task->value;
  const TaskId id = TRY(TaskId::parse(TRY(read_id(answer))));
  const auto at = state_.tasks.find(id);
  if (at == state_.tasks.end()) return fail(Code::not_found, "task " + id.text() + " was deleted");
  return at->second;
}

void NodeJournal::submit(NodeRequest request, NodeCommand command, Reply reply) {
  if (failed_) return reply(std::unexpected(*failed_));
  if (inbox_.size() >= inbox_inputs_max) {
    return reply(fail(Code::limit_reached, "too many requests are waiting; try again"));
  }
  inbox_.push_back({std::move(request), std::move(command), std::move(reply)});
  schedule();
}

void NodeJournal::schedule() {
  if (scheduled_ || in_flight_ || inbox_.empty()) return;
  scheduled_ = true;
  world_.loop.post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    scheduled_ = false;
    pump();
  });
}

void NodeJournal::pump() {
  if (in_flight_) return;
  auto batch = std::make_unique<Batch>(Batch{.state = state_, .head_hash = head_hash_});
  while (!inbox_.empty() && batch->taken.size() < batch_inputs_max) {
    // Commands that may use the reserve of a full disk are not committed with others.
    const bool essential = is_essential(inbox_.front().command);
    if (!batch->taken.empty() && batch->essential != essential) break;
    batch->essential = essential;
    Waiting waiting = std::move(inbox_.front());
    inbox_.pop_front();
    take(*batch, std::move(waiting));
  }
  if (batch->records.empty() && batch->answers.empty()) {
    for (Taken& taken : batch->taken) taken.waiting.reply(std::move(taken.answer));
    schedule();
  } else {
    commit(std::move(batch));
  }
}

std::optional<NodeJournal::Taken> NodeJournal::repeated(const Batch& batch,
                                                        const Waiting& waiting) {
  if (waiting.request.key.empty()) return std::nullopt;
  std::optional<StoredAnswer> known;
  const auto pending = std::ranges::find(batch.answers, waiting.request.key, &StoredAnswer::key);
  const bool is_pending = pending != batch.answers.end();
  if (is_pending) {
    known = *pending;
  } else {
    Result<std::optional<StoredAnswer>> stored = world_.store.answer(waiting.request.key);
    if (!stored) return Taken{.answer = std::unexpected(std::move(stored).error())};
    known = std::move(*stored);
  }
  if (!known) return std::nullopt;
  Taken out{.answer = std::move(known->answer), .stands = !is_pending};
  if (known->body != waiting.request.body_hash) {
    out.answer = fail(Code::key_reused, "the idempotency key was used before with another request");
  } else if (shows_secret(waiting.command)) {
    const Result<std::string> id = read_id(*out.answer);
    out.answer = fail(Code::secret_already_shown,
                      "its secret was shown once, to the first request: " + id.value_or("?"));
  }
  return out;
}

Result<std::string> NodeJournal::decide_one(Batch& batch, const Waiting& waiting) {
  const Timestamp now = world_.clock.now().wall;
  NodeDecision decision = TRY(decide(batch.state, {.now = now,
                                                   .id_seed = world_.random.next(),
                                                   .by = waiting.request.by,
                                                   .command = waiting.command}));
  for (const NodeEvent& event : decision.events) {
    std::string bytes = encode_node_record({.seq = batch.state.head + 1,
                                            .at = now,
                                            .kind = std::string(node_event_kind(event)),
                                            .prev = batch.head_hash,
                                            .fields = {encode_node_event(event)}});
    evolve(batch.state, event);
    batch.head_hash = sha256(bytes);
    batch.records.push_back(std::move(bytes));
  }
  if (!waiting.request.key.empty()) {
    batch.answers.push_back({.key = waiting.request.key,
                             .body = waiting.request.body_hash,
                             .answer = decision.answer,
                             .expires = Timestamp{now.ms + answers_kept_ms}});
  }
  return std::move(decision.answer);
}

void NodeJournal::take(Batch& batch, Waiting waiting) {
  std::optional<Taken> known = repeated(batch, waiting);
  Taken taken = known ? std::move(*known) : Taken{.answer = decide_one(batch, waiting)};
  taken.waiting = std::move(waiting);
  batch.taken.push_back(std::move(taken));
}

void NodeJournal::commit(std::unique_ptr<Batch> batch) {
  Append append{.session = journal_id(),
                .epoch = world_.store.epoch(),
                .expected_head = state_.head,
                .records = batch->records,
                .answers = batch->answers,
                .essential = batch->essential,
                .by_all = true};
  if (batch->state.head / snapshot_every_records != snapshot_at_ / snapshot_every_records) {
    std::string snapshot = encode_node_snapshot(batch->state);
    if (snapshot.size() <= snapshot_bytes_max) append.snapshot = std::move(snapshot);
  }
  in_flight_ = std::move(batch);
  // The store answers on its own thread: only the loop may continue.
  world_.store.append(std::move(append), [this, &loop = world_.loop,
                                          alive = std::weak_ptr<bool>(alive_)](Result<> result) {
    loop.post([this, alive, result = std::move(result)] {
      if (!alive.expired()) on_committed(result);
    });
  });
}

void NodeJournal::on_committed(const Result<>& result) {
  const std::unique_ptr<Batch> batch = std::move(in_flight_);
  CHECK(batch != nullptr);
  if (result) {
    on_durable(*batch);
  } else {
    on_refused(*batch, result.error());
  }
  schedule();
}

void NodeJournal::on_durable(Batch& batch) {
  if (batch.state.head / snapshot_every_records != snapshot_at_ / snapshot_every_records) {
    snapshot_at_ = batch.state.head;
  }
  state_ = std::move(batch.state);
  head_hash_ = batch.head_hash;
  for (Taken& taken : batch.taken) taken.waiting.reply(std::move(taken.answer));
  tell_watchers();
}

// A watcher may unsubscribe while it is called.
void NodeJournal::tell_watchers() {
  const auto watchers = watchers_;
  for (const auto& [number, changed] : watchers) {
    if (watchers_.contains(number)) changed();
  }
}

Result<bool> NodeJournal::catch_up() {
  if (in_flight_) return false;  // the end of the commit reports it
  LoadedNode at{state_, head_hash_, snapshot_at_};
  TRY_VOID(load_behind(world_.store, at));
  if (at.state.head == state_.head) return false;
  state_ = std::move(at.state);
  head_hash_ = at.head_hash;
  tell_watchers();
  return true;
}

void NodeJournal::on_refused(Batch& batch, const Error& error) {
  // Another session used the key first, or another daemon wrote to the journal.
  const bool again = error.code() == Code::conflict;
  const bool was_behind = again && catch_up().value_or(false);
  const bool passes = error.code() == Code::disk_full || error.code() == Code::unavailable;
  if (!again && !passes) failed_ = error;
  for (auto at = batch.taken.rbegin(); at != batch.taken.rend(); ++at) {
    if (at->stands) {
      at->waiting.reply(std::move(at->answer));
    } else if (again && (was_behind || ++at->waiting.tries <= tries_max)) {
      inbox_.push_front(std::move(at->waiting));
    } else {
      at->waiting.reply(std::unexpected(error));
    }
  }
  if (!failed_) return;
  for (Waiting& waiting : std::exchange(inbox_, {})) waiting.reply(std::unexpected(*failed_));
}

}  // namespace perdure
