#include "daemon/runtime/audit/audit.h"

#include <algorithm>
#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/wire/journal/node_record.h"

namespace perdure {
namespace {

constexpr std::int64_t day_ms = 24LL * 3600'000;
constexpr int tries_max = 3;
constexpr std::size_t id_bytes_max = 200;
// A segment covers at most this fraction of the retention time, so that its entries are deleted
// soon after it.
constexpr std::int64_t segments_per_keep = 8;

void cut(std::string& text, std::size_t bytes_max) { text = utf8_prefix(text, bytes_max); }

void bound(AuditEntry& entry) {
  for (std::string* const text : {&entry.by, &entry.how, &entry.from, &entry.outcome}) {
    cut(*text, id_bytes_max);
  }
  cut(entry.text, audit_text_bytes_max);
  if (entry.on.size() > audit_ids_max) entry.on.resize(audit_ids_max);
  for (std::string& id : entry.on) cut(id, id_bytes_max);
}

struct Placed {
  Seq seq = 0;
  Timestamp at;
  Hash prev;
};

std::string encode(const AuditEntry& entry, const Placed& placed) {
  return encode_node_record({.seq = placed.seq,
                             .at = placed.at,
                             .kind = entry.what,
                             .prev = placed.prev,
                             .fields = {encode_fields(entry)}});
}

Result<AuditRecord> decode(std::string_view bytes, Seq seq) {
  NodeRecord record = TRY(decode_node_record(bytes));
  auto entry = TRY(decode_fields<AuditEntry>(record.fields.text));
  entry.value.what = std::move(record.kind);
  return AuditRecord{.seq = seq, .at = record.at, .entry = std::move(entry.value)};
}

}  // namespace

Result<std::unique_ptr<Audit>> Audit::open(World world, Setting setting) {
  auto audit = std::make_unique<Audit>(world, std::move(setting));
  if (Result<> loaded = audit->load(); !loaded) {
    return std::unexpected(std::move(loaded).error().with_context("audit trail"));
  }
  audit->arm_care();
  return audit;
}

Audit::Audit(World world, Setting setting) : world_(world), setting_(std::move(setting)) {}

Audit::~Audit() {
  world_.loop.cancel(refusal_timer_);
  world_.loop.cancel(care_timer_);
}

// After an error nothing has changed.
Result<> Audit::load() {
  StoredAuditIndex stored = TRY(read_audit_index(world_.store));
  AuditTail tail;
  bool is_damaged = false;
  if (!stored.index.segments.empty()) {
    const SessionId last = audit_segment_id(stored.index.segments.back().number);
    Result<AuditTail> read = read_audit_tail(world_.store, last);
    is_damaged = !read && read.error().code() == Code::damaged;
    if (!read && !is_damaged) return std::unexpected(std::move(read).error());
    // An unreadable segment is left unchanged, and its numbers are not reused.
    tail = read ? *read : AuditTail{.head = setting_.segment_records, .hash = {}};
  }
  index_ = std::move(stored.index);
  index_tail_ = stored.tail;
  tail_ = tail;
  must_open_ = is_damaged;
  return {};
}

Seq Audit::last() const {
  return index_.segments.empty() ? 0 : index_.segments.back().first + tail_.head - 1;
}

Seq Audit::first() const {
  if (index_.segments.empty()) return 0;
  const Seq first = index_.segments.front().first;
  return first <= last() ? first : 0;
}

void Audit::note(AuditEntry entry, OnNoted done) { accept(std::move(entry), std::move(done)); }

void Audit::note_refusal(AuditEntry entry) {
  Refusals& refusals = entry.route == RouteClass::login ? login_refusals_ : refusals_;
  std::optional<AuditEntry> noted = refusals.note(std::move(entry), world_.clock.now().since_boot);
  if (noted) {
    if (setting_.on_refusal) setting_.on_refusal(*noted);
    accept(std::move(*noted), nullptr);
  }
  arm_refusals();
}

void Audit::arm_refusals() {
  std::optional<BootTime> next = refusals_.next_due();
  const std::optional<BootTime> next_login = login_refusals_.next_due();
  if (next_login && (!next || *next_login < *next)) next = next_login;
  if (!next || refusal_timer_ != 0) return;
  const std::int64_t wait_ms = next->ms - world_.clock.now().since_boot.ms;
  refusal_timer_ = world_.loop.after_ms(std::max<std::int64_t>(1, wait_ms), [this] {
    refusal_timer_ = 0;
    for (Refusals* const refusals : {&login_refusals_, &refusals_}) {
      for (AuditEntry& entry : refusals->due(world_.clock.now().since_boot)) {
        if (setting_.on_refusal) setting_.on_refusal(entry);
        accept(std::move(entry), nullptr);
      }
    }
    arm_refusals();
  });
}

void Audit::arm_care() {
  care_timer_ = world_.loop.after_ms(day_ms, [this] {
    arm_care();
    if (in_flight_) return;  // a day later is early enough
    AuditIndex index = index_;
    if (tail_.head > 0 && needs_segment()) {
      open_segment();
    } else if (drop_old(index)) {
      write_index(std::move(index));
    }
  });
}

void Audit::accept(AuditEntry entry, OnNoted done) {
  if (inbox_.size() >= inbox_inputs_max) {
    if (!done) {
      lost_ += 1;
      return;
    }
    return done(fail(Code::limit_reached, "too many requests are waiting; try again"));
  }
  bound(entry);
  entry.node = setting_.node;
  inbox_.push_back(
      {.entry = std::move(entry), .at = world_.clock.now().wall, .done = std::move(done)});
  schedule();
}

void Audit::schedule() {
  if (scheduled_ || in_flight_ || inbox_.empty()) return;
  scheduled_ = true;
  world_.loop.post([this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    scheduled_ = false;
    pump();
  });
}

void Audit::pump() {
  if (in_flight_ || inbox_.empty()) return;
  if (lost_ > 0) {
    inbox_.push_front({.entry = {.what = "audit.lost",
                                 .by = "system",
                                 .how = "daemon",
                                 .outcome = "lost",
                                 .text = "entries that could not be written",
                                 .count = std::exchange(lost_, 0),
                                 .node = setting_.node,
                                 .essential = inbox_.front().entry.essential},
                       .at = world_.clock.now().wall,
                       .done = nullptr});
  }
  if (needs_segment()) {
    open_segment();
  } else {
    write_entries();
  }
}

bool Audit::needs_segment() const {
  if (index_.segments.empty() || must_open_) return true;
  if (tail_.head >= setting_.segment_records) return true;
  if (tail_.head == 0 || setting_.keep_days == 0) return false;
  const std::int64_t length_ms = std::max(day_ms, setting_.keep_days * day_ms / segments_per_keep);
  return world_.clock.now().wall.ms - index_.segments.back().opened.ms >= length_ms;
}

// A segment ended when the next one was opened.
bool Audit::drop_old(AuditIndex& index) {
  const Timestamp now = world_.clock.now().wall;
  const auto is_old = [&] {
    if (index.segments.size() < 2) return false;
    const AuditSegment& next = index.segments[1];
    const bool is_beyond = last() >= next.first && last() - next.first + 1 >= setting_.records_max;
    return is_beyond ||
           (setting_.keep_days > 0 && next.opened.ms < now.ms - setting_.keep_days * day_ms);
  };
  bool dropped = false;
  while (is_old()) {
    // First the entries, then their place in the index: otherwise a crash between the two would
    // leave entries that are never deleted.
    const Result<> removed = world_.store.remove(audit_segment_id(index.segments.front().number));
    if (!removed && removed.error().code() != Code::not_found) break;
    index.segments.erase(index.segments.begin());
    dropped = true;
  }
  return dropped;
}

void Audit::open_segment() {
  AuditIndex next = index_;
  std::ignore = drop_old(next);
  std::uint64_t number = next.segments.empty() ? 1 : next.segments.back().number + 1;
  // After a salvage there may be segments that the index does not know: skip them.
  while (world_.store.head(audit_segment_id(number))) ++number;
  next.segments.push_back({.number = number,
                           .first = last() + 1,
                           .opened = world_.clock.now().wall,
                           .before = tail_.hash});
  write_index(std::move(next));
}

void Audit::append(Append append, std::move_only_function<void(const Result<>&)> done) {
  in_flight_ = true;
  // The store answers on its own thread: only the loop may continue.
  world_.store.append(
      std::move(append), [this, &loop = world_.loop, done = std::move(done),
                          alive = std::weak_ptr<bool>(alive_)](Result<> result) mutable {
        loop.post([this, alive, done = std::move(done), result = std::move(result)] mutable {
          if (alive.expired()) return;
          in_flight_ = false;
          done(result);
          schedule();
        });
      });
}

void Audit::write_index(AuditIndex index) {
  Append batch = audit_append(world_.store, audit_index_id(), index_tail_.head);
  const NodeRecord record{.seq = index_tail_.head + 1,
                          .at = world_.clock.now().wall,
                          .kind = std::string(audit_index_kind),
                          .prev = index_tail_.hash,
                          .fields = {encode_fields(index)}};
  batch.records.push_back(encode_node_record(record));
  batch.essential = !inbox_.empty() && inbox_.front().entry.essential;
  const Hash hash = sha256(batch.records.front());
  append(std::move(batch), [this, index = std::move(index), hash](const Result<>& result) mutable {
    if (!result) return on_refused({}, result.error());
    if (index_.segments.empty() || index.segments.back() != index_.segments.back()) tail_ = {};
    must_open_ = false;
    index_ = std::move(index);
    index_tail_ = {.head = index_tail_.head + 1, .hash = hash};
  });
}

void Audit::write_entries() {
  const AuditSegment& segment = index_.segments.back();
  Append append_this = audit_append(world_.store, audit_segment_id(segment.number), tail_.head);
  Batch batch{.taken = {}, .first = last() + 1, .hash = tail_.hash};
  append_this.essential = inbox_.front().entry.essential;
  while (!inbox_.empty() && batch.taken.size() < batch_inputs_max &&
         tail_.head + batch.taken.size() < setting_.segment_records &&
         inbox_.front().entry.essential == append_this.essential) {
    Waiting waiting = std::move(inbox_.front());
    inbox_.pop_front();
    const Seq seq = tail_.head + batch.taken.size() + 1;
    append_this.records.push_back(
        encode(waiting.entry, {.seq = seq, .at = waiting.at, .prev = batch.hash}));
    batch.hash = sha256(append_this.records.back());
    batch.taken.push_back(std::move(waiting));
  }
  append(std::move(append_this), [this, batch = std::move(batch)](const Result<>& result) mutable {
    on_written(std::move(batch), result);
  });
}

void Audit::on_written(Batch batch, const Result<>& result) {
  if (!result) return on_refused(std::move(batch), result.error());
  tail_ = {.head = tail_.head + batch.taken.size(), .hash = batch.hash};
  for (Seq seq = batch.first; Waiting & waiting : batch.taken) {
    if (waiting.done) waiting.done(seq);
    ++seq;
  }
  call_watchers();
}

// If another daemon wrote first, its entries are read and ours follow them. Any other error is
// returned to the waiting callers.
void Audit::on_refused(Batch batch, const Error& error) {
  for (auto at = batch.taken.rbegin(); at != batch.taken.rend(); ++at) {
    inbox_.push_front(std::move(*at));
  }
  if (inbox_.empty()) return;
  const Seq before = last();
  const bool is_damaged = error.code() == Code::damaged;
  bool again = error.code() == Code::conflict && load();
  const bool is_ahead = again && last() != before;
  if (is_damaged && !must_open_) {
    must_open_ = true;
    again = true;
  }
  if (again && (is_ahead || ++inbox_.front().tries <= tries_max)) return;
  give_up(std::exchange(inbox_, {}), error);
}

void Audit::give_up(std::deque<Waiting> waiting, const Error& error) {
  for (Waiting& one : waiting) {
    if (one.done) {
      one.done(std::unexpected(error));
    } else {
      lost_ += one.entry.count;
    }
  }
}

Result<> Audit::read_segment(const AuditSegment& segment, Seq end, std::size_t limit,
                             Page& page) const {
  page.read_to = std::max(page.read_to, segment.first - 1);
  while (page.read_to < end && page.records.size() < limit) {
    const Result<RecordPage> got = world_.store.read(
        audit_segment_id(segment.number),
        {.after = page.read_to + 1 - segment.first, .limit = limit - page.records.size()});
    if (!got && got.error().code() == Code::unavailable) return std::unexpected(got.error());
    if (!got || got->records.empty()) {
      page.read_to = end;  // deleted or damaged: reported by `verify`
      return {};
    }
    for (const std::string& bytes : got->records) {
      page.read_to += 1;
      Result<AuditRecord> record = decode(bytes, page.read_to);
      if (record) page.records.push_back(std::move(*record));
    }
  }
  return {};
}

Result<Audit::Page> Audit::read(Seq after, std::size_t limit) const {
  Page page{.records = {}, .read_to = after};
  limit = std::min(limit, audit_page_max);
  for (std::size_t i = 0; i < index_.segments.size() && page.records.size() < limit; ++i) {
    const bool is_last = i + 1 == index_.segments.size();
    const Seq end = is_last ? last() : index_.segments[i + 1].first - 1;
    if (end > page.read_to) TRY_VOID(read_segment(index_.segments[i], end, limit, page));
  }
  return page;
}

Result<Seq> Audit::last_before(Timestamp since) const {
  const AuditSegment* in = nullptr;
  for (const AuditSegment& segment : index_.segments) {
    if (segment.opened <= since) in = &segment;
  }
  if (!in) return index_.segments.empty() ? 0 : index_.segments.front().first - 1;
  const auto next = std::ranges::find_if(
      index_.segments, [&](const AuditSegment& other) { return other.first > in->first; });
  // The last entry known to be before `since`, and the first known not to be.
  Seq before = in->first - 1;
  Seq after = (next == index_.segments.end() ? last() : next->first - 1) + 1;
  while (before + 1 < after) {
    const Seq middle = before + (after - before) / 2;
    const Page page = TRY(read(middle - 1, 1));
    if (page.records.empty() || page.records.front().at >= since) {
      after = middle;
    } else {
      before = middle;
    }
  }
  return before;
}

std::uint64_t Audit::watch(std::function<void()> changed) {
  watchers_.emplace(++last_watcher_, std::move(changed));
  return last_watcher_;
}

// A watcher may unsubscribe while others are called.
void Audit::call_watchers() {
  const auto watchers = watchers_;
  for (const auto& [number, changed] : watchers) {
    if (watchers_.contains(number)) changed();
  }
}

Result<> Audit::catch_up() {
  if (in_flight_) return {};  // on a conflict it reads them; success means there were none
  const Seq before = last();
  TRY_VOID(load());
  if (last() != before) call_watchers();
  return {};
}

}  // namespace perdure
