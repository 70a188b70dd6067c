#include "store/postgres/pg_writer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/check.h"

namespace perdure {
namespace {

constexpr int tries_max = 5;
constexpr std::size_t known_max = 100'000;
constexpr std::chrono::milliseconds lock_wait{2'000};
constexpr std::chrono::milliseconds unresolved_wait{20};

}  // namespace

PgWriter::PgWriter(const PostgresOptions& options, PgLife life, std::unique_ptr<PgLink> link)
    : options_(options),
      life_(std::move(life)),
      queue_({.group_bytes_max = options.group_bytes_max}),
      link_(std::move(link)) {
  if (options_.search_piece) {
    search_.emplace(PgSearch::Setting{.node = options_.node,
                                      .piece = options_.search_piece,
                                      .slice_bytes = options_.search_slice_bytes});
  }
}

Result<std::unique_ptr<PgWriter>> PgWriter::open(const PostgresOptions& options) {
  std::unique_ptr<PgLink> link = TRY(PgLink::open(options.place, options.write_times));
  PgLife life = TRY(begin_life(
      *link, {.node = options.node,
              .home = options.home,
              .instance = options.instance,
              .new_log_id = options.new_log_id,
              .new_shared_key = options.new_shared_key,
              .epoch_min = options.epoch_min,
              .missing = options.create ? PgBegin::Missing::make : PgBegin::Missing::refuse,
              .others = options.alone ? PgBegin::Others::refuse : PgBegin::Others::welcome,
              .lease_ms = options.lease.count()}));
  std::unique_ptr<PgWriter> writer(new PgWriter(options, std::move(life), std::move(link)));
  return writer;
}

void PgWriter::append(Append&& batch, Store::Done&& done) {
  queue_.push(std::move(batch), std::move(done));
}

bool PgWriter::wait_for_work(std::chrono::milliseconds timeout) {
  if (!unresolved_) return queue_.wait(timeout);
  std::this_thread::sleep_for(std::min(timeout, unresolved_wait));
  return true;
}

bool PgWriter::step() {
  if (unresolved_) {
    if (!resolve()) {
      refuse_behind();
      return false;
    }
    finish_group();
    return true;
  }
  group_ = &queue_.take();
  if (group_->empty()) return false;
  {
    const std::scoped_lock lock(write_mutex_);
    // A busy node must not appear silent.
    if (link_ && link_->looks_alive()) (void)beat();
    commits_.run(*group_);
    is_full_ = commits_.is_full();
  }
  if (unresolved_) return false;  // the outcome is unknown, so nothing is answered
  finish_group();
  return true;
}

void PgWriter::finish_group() {
  queue_.answer();
  tell_fenced();
}

void PgWriter::tell_fenced() {
  if (!is_fenced_ || std::exchange(has_told_, true)) return;
  if (options_.on_fatal) options_.on_fatal(fenced());
}

// Whether the group with the unknown outcome can be answered now.
bool PgWriter::resolve() {
  const std::scoped_lock lock(write_mutex_);
  if (Clock::now() < next_try_) return false;
  const Result<> linked = relink();
  if (!linked && !is_fenced_) return false;
  Unresolved held = *std::exchange(unresolved_, std::nullopt);
  if (is_last_there_) {
    publish(held.group);
    return true;
  }
  for (PendingAppend* const pending : held.members) {
    pending->refused.reset();
    if (is_fenced_) pending->refused = fenced();
  }
  // All others were refused or became durable with an earlier statement.
  const Result<> written = is_fenced_ ? Result<>() : write_group(held.members);
  if (!written) {
    for (PendingAppend* const pending : held.members) pending->refused = written.error();
  }
  return !unresolved_;
}

void PgWriter::refuse_behind() {
  if (!away_since_ || Clock::now() - *away_since_ < options_.patience) return;
  queue_.refuse_behind(
      {Code::unavailable, "the database server cannot be reached; nothing was recorded"});
}

// Returns disk_full only if nothing of the group was stored. Any other error is stored in the
// appends that it concerns.
Result<> PgWriter::write_group(std::span<PendingAppend* const> group) {
  Result<> done = write_together(group);
  if (done) return {};
  const Code code = done.error().code();
  if (code == Code::disk_full) {
    for (PendingAppend* const pending : group) pending->refused.reset();
    return done;
  }
  const bool concerns_all = code == Code::unavailable || code == Code::stale_owner;
  for (PendingAppend* const pending : group) {
    pending->refused = done.error();
    if (concerns_all || group.size() == 1) continue;
    if (unresolved_) {
      pending->refused.emplace(Code::unavailable, "the database server was lost before its turn");
      continue;
    }
    PendingAppend* const one[] = {pending};
    if (const Result<> alone = write_together(one); !alone) pending->refused = alone.error();
  }
  return {};
}

// On success each append is durable, refused for its own reason, or unresolved.
Result<> PgWriter::write_together(Members group) {
  Keys taken;
  const Clock::time_point until = Clock::now() + options_.patience;
  for (int tries = 0; tries == 0 || (tries < tries_max && Clock::now() < until);) {
    for (PendingAppend* const pending : group) pending->refused.reset();
    if (is_fenced_) return std::unexpected(fenced());
    TRY_VOID(be_linked());
    const Tried tried = TRY(try_group(group, taken));
    if (tried == Tried::done) return {};
    // The next try refuses what blocked the others, so the group gets smaller.
    if (tried == Tried::again || Clock::now() >= until) ++tries;
  }
  return fail(Code::unavailable, "the database was too busy; nothing was recorded");
}

// Sessions that are unknown, or whose known state does not match an append: own() gave a new epoch
// since, or another node wrote a journal that all nodes may write.
PgWriter::Load PgWriter::strange(Members group) const {
  Load wanted;
  std::map<SessionId, Seq> heads;
  for (const PendingAppend* const pending : group) {
    const Append& batch = pending->batch;
    const auto at = known_.find(batch.session);
    const Known known = at != known_.end() ? at->second : Known{};
    Seq& head = heads.try_emplace(batch.session, known.head.value_or(0)).first->second;
    const bool is_known = at != known_.end() && !known.good &&
                          (batch.by_all ? batch.expected_head == head : batch.epoch <= known.lease);
    head += batch.records.size();
    if (is_known) continue;
    wanted.sessions.insert(batch.session);
    if (!batch.by_all && batch.epoch == life_.epoch) wanted.take.insert(batch.session);
  }
  return wanted;
}

Result<PgWriter::Tried> PgWriter::load_strange(Members group) {
  const Load wanted = strange(group);
  if (wanted.sessions.empty()) return Tried::done;
  const PgResult<PgRows> loaded = load(wanted);
  if (!loaded) return meet_unread(loaded.error());
  if (is_fenced_) return std::unexpected(fenced());
  return Tried::done;
}

Result<PgWriter::Tried> PgWriter::load_blobs(Members group, Keys& there) {
  std::set<Hash> wanted;
  for (const PendingAppend* const pending : group) {
    wanted.insert(pending->batch.blob_refs.begin(), pending->batch.blob_refs.end());
  }
  if (wanted.empty()) return Tried::done;
  const PgResult<PgRows> loaded = load_hashes(wanted, there);
  return loaded ? Result<Tried>(Tried::done) : meet_unread(loaded.error());
}

Result<PgWriter::Tried> PgWriter::meet_unread(const PgFailure& failure) {
  if (failure.trouble == PgTrouble::lost) {
    lose_link();
    return Tried::again;
  }
  if (failure.is_passing()) return Tried::again;
  return std::unexpected(failure.error());
}

Result<PgWriter::Tried> PgWriter::try_group(Members group, Keys& taken) {
  if (TRY(load_strange(group)) == Tried::again) return Tried::again;
  Stored stored{.taken = taken, .blobs = {}};
  if (TRY(load_blobs(group, stored.blobs)) == Tried::again) return Tried::again;
  Attempt attempt{.members = group, .group = admit(group, stored)};
  if (attempt.group.is_empty()) return Tried::done;
  ++groups_;
  const std::string hint = hint_for(attempt.group.sessions());
  const PgResult<PgRows> done =
      link_->run(PgGroup::statement(), attempt.group.params(turn(), hint));
  if (!done) return meet_failure(done.error(), std::move(attempt), taken);
  publish(attempt.group);
  return Tried::done;
}

Result<PgWriter::Tried> PgWriter::meet_failure(const PgFailure& failure, Attempt attempt,
                                               Keys& taken) {
  if (failure.trouble == PgTrouble::lost) return meet_loss(std::move(attempt));
  if (failure.state == "PD001") {
    is_fenced_ = true;
    return std::unexpected(fenced());
  }
  if (failure.is_passing()) return Tried::again;
  const bool is_key = failure.state == "23505" && failure.constraint == "answers_pkey";
  if (is_key) {
    const PgResult<PgRows> loaded = load_keys(attempt.group.answer_keys(), taken);
    if (loaded || loaded.error().is_passing()) return Tried::again;
    if (loaded.error().trouble == PgTrouble::refused) {
      return std::unexpected(loaded.error().error());
    }
    lose_link();
    return Tried::again;
  }
  // The known state of these sessions was out of date: read it again.
  if (failure.state == "PD002" || failure.state == "PD003" || failure.state == "23505") {
    for (const SessionId session : attempt.group.sessions()) known_.erase(session);
    return failure.state == "23505" ? Tried::again : Tried::anew;
  }
  return std::unexpected(failure.error());
}

Result<PgWriter::Tried> PgWriter::meet_loss(Attempt attempt) {
  lose_link();
  const Result<> linked = be_linked();
  if (!linked && !is_fenced_) {
    unresolved_.emplace(Unresolved{.members = {attempt.members.begin(), attempt.members.end()},
                                   .group = std::move(attempt.group)});
    return Tried::done;
  }
  if (is_last_there_) {
    publish(attempt.group);
    return Tried::done;
  }
  if (is_fenced_) return std::unexpected(fenced());
  return Tried::again;
}

// Why the append cannot be accepted, judging only by the session as a whole.
std::optional<Error> PgWriter::refusal(const Append& batch, const Known& known) const {
  const std::string name = batch.session.text();
  if (!batch.by_all && (known.lease == 0 || batch.epoch != known.lease)) {
    if (known.lease == 0) return Error(Code::stale_owner, name + " belongs to another node");
    return Error(Code::stale_owner, "the lease of " + name + " has epoch " +
                                        std::to_string(known.lease) + ", not " +
                                        std::to_string(batch.epoch));
  }
  if (!known.good) return std::nullopt;
  return Error(Code::damaged, name + " is damaged behind record " + std::to_string(*known.good));
}

// Judges each append by the state that earlier ones in the group leave.
PgGroup PgWriter::admit(Members group, const Stored& stored) {
  PgGroup out;
  std::map<SessionId, Seq> heads;
  std::set<std::string_view> keys;
  for (PendingAppend* const pending : group) {
    const Append& batch = pending->batch;
    const Known& known = known_.at(batch.session);
    pending->refused = refusal(batch, known);
    if (pending->refused) continue;
    const auto moved = heads.find(batch.session);
    const Seq head = moved != heads.end() ? moved->second : known.head.value_or(0);
    if (batch.expected_head != head) {
      pending->refused.emplace(Code::conflict, "the head is " + std::to_string(head) + ", not " +
                                                   std::to_string(batch.expected_head));
      continue;
    }
    const auto is_taken = std::ranges::find_if(batch.answers, [&](const StoredAnswer& answer) {
      return stored.taken.contains(answer.key) || keys.contains(answer.key);
    });
    if (is_taken != batch.answers.end()) {
      pending->refused.emplace(Code::conflict,
                               "the key '" + is_taken->key + "' has its answer already");
      continue;
    }
    const auto is_lost = std::ranges::find_if(batch.blob_refs, [&](const Hash& hash) {
      return !stored.blobs.contains(pg_bytes(hash)) && !out.gives_blob(hash);
    });
    if (is_lost != batch.blob_refs.end()) {
      pending->refused.emplace(Code::not_found, "no such blob: " + is_lost->hex());
      continue;
    }
    for (const StoredAnswer& answer : batch.answers) keys.insert(answer.key);
    heads[batch.session] = head + batch.records.size();
    PgGroup::Stored found{.head = known.head, .lease = {}};
    if (!batch.by_all) found.lease = batch.epoch;
    out.add(batch, found);
  }
  return out;
}

void PgWriter::publish(const PgGroup& group) {
  if (known_.size() > known_max) known_.clear();
  for (const auto& [session, head] : group.heads()) {
    known_[session].head = head;
    if (search_) search_->note(session);
  }
  commits_done_ += 1;
  appends_done_ += group.append_count();
}

Error PgWriter::fenced() const {
  return {Code::stale_owner, "another instance of the node '" + options_.node +
                                 "' has taken over; nothing was recorded"};
}

PgTurn PgWriter::turn() const {
  return {.node = options_.node, .epoch = life_.epoch, .link = link_number_, .group = groups_};
}

void PgWriter::fail_forever(const Error& error) {
  CHECK(false, "a store without a reserve cannot fail at it: " + error.message());
}

EngineTotals PgWriter::totals() const {
  return {.commits = commits_done_,
          .appends = appends_done_,
          .disk_full = is_full_,
          .unavailable = is_away_};
}

Result<std::unique_lock<std::timed_mutex>> PgWriter::lock() {
  std::unique_lock lock(write_mutex_, lock_wait);
  if (!lock.owns_lock() || unresolved_) {
    return fail(Code::unavailable, "the database server cannot be reached");
  }
  if (is_fenced_) return std::unexpected(fenced());
  return lock;
}

}  // namespace perdure
