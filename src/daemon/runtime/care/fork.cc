#include "daemon/runtime/care/fork.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/session/transitions/fork.h"
#include "core/wire/journal/record.h"
#include "daemon/runtime/load.h"
#include "daemon/runtime/reads/listing.h"

namespace perdure {
namespace {

// No effect has this number: a session's effect numbers grow from its first record on.
constexpr std::uint64_t copying_row = 1;
constexpr std::string_view copying_payload = R"({"do":"fork.copying"})";

// One running fork; owns itself through the callbacks of the commit in flight.
class ForkJob : public std::enable_shared_from_this<ForkJob> {
 public:
  ForkJob(ActorShared& shared, ForkOrder order, ReplyFn reply)
      : shared_(shared),
        order_(std::move(order)),
        reply_(std::move(reply)),
        forker_({order_.from, order_.to, order_.by, shared.world.clock.now(), kind_of(order_),
                 order_.binding.value_or(AdoptedBinding{})}) {}

  void start() {
    const Result<Lease> lease = shared_.world.store.own(order_.to);
    if (!lease) return finish(std::unexpected(lease.error()));
    if (lease->epoch == 0) return finish(fail(Code::stale_owner, "another daemon makes the copy"));
    epoch_ = lease->epoch;
    if (order_.file) {
      order_.at = order_.file->records.size();
      return next();
    }
    const Result<SessionHead> head = shared_.world.store.head(order_.from);
    if (!head) return finish(std::unexpected(head.error()));
    if (order_.at == 0) order_.at = head->seq;
    if (order_.at > head->seq) {
      return finish(fail(Code::cursor_invalid,
                         "the session has only " + std::to_string(head->seq) + " records"));
    }
    next();
  }

 private:
  static CopyKind kind_of(const ForkOrder& order) {
    if (!order.file) return CopyKind::forked;
    return order.binding ? CopyKind::adopted : CopyKind::imported;
  }

  void finish(Result<Reply> result) {
    // An incomplete copy is useless. If it cannot be removed now, the next boot removes it.
    if (!result && committed_) std::ignore = shared_.world.store.remove(order_.to);
    if (result) shared_.on_changed(order_.to);
    std::exchange(reply_, {})(std::move(result));
  }

  // The first of several commits adds the mark and the last removes it.
  void mark(Append& append) const {
    const bool last = copied_ == order_.at;
    if (!last && !committed_) {
      append.outbox_add.push_back({copying_row, std::string(copying_payload)});
      append.listing =
          Listing{.open = true, .summary = encode_fields(SessionSummary{.copying = true})};
    } else if (last && committed_) {
      append.outbox_done.push_back(copying_row);
    }
  }

  void next() {
    Append append{.session = order_.to, .epoch = epoch_, .expected_head = head_};
    if (Result<> copied = copy_page(append); !copied) {
      return finish(std::unexpected(std::move(copied).error()));
    }
    const bool last = copied_ == order_.at;
    if (last) {
      for (const Event& event : forker_.close()) add(append, event);
    }
    give_blobs(append);
    if (last) {
      append.snapshot = snapshot_to_keep(forker_.state());
      append.listing = make_listing(shared_, forker_.state(), false);
    }
    mark(append);
    commit(std::move(append));
  }

  // The copy also owns the blobs of its records: they stay when the original is deleted.
  void give_blobs(Append& append) const {
    if (order_.file) {
      append.blobs = std::exchange(order_.file->blobs, {});
      return;
    }
    for (const std::string& record : append.records) {
      if (const std::optional<Hash> hash = blob_of(record)) append.blob_refs.push_back(*hash);
    }
  }

  void commit(Append append) {
    std::optional<Append> again;
    if (!append.blob_refs.empty()) again = append;
    shared_.world.store.append(
        std::move(append),
        [self = shared_from_this(), again = std::move(again), &loop = shared_.world.loop,
         alive = std::weak_ptr<bool>(shared_.alive)](Result<> result) mutable {
          loop.post([self, alive, again = std::move(again), result = std::move(result)]() mutable {
            if (!alive.expired()) self->committed(std::move(result), std::move(again));
          });
        });
  }

  void committed(Result<> result, std::optional<Append> again) {
    const bool blobs_lost = !result && result.error().code() == Code::not_found && again;
    if (blobs_lost) return commit_without_lost(*std::move(again));
    if (!result) return finish(std::unexpected(result.error()));
    committed_ = true;
    if (copied_ == order_.at) return finish(Reply{.seq = head_, .session = order_.to});
    next();
  }

  // Blobs that the original has lost (redaction removes a blob from all sessions) are missing from
  // the copy, too. If the original still exists afterwards, they were lost and not deleted with it.
  void commit_without_lost(Append append) {
    const std::size_t lost = std::erase_if(append.blob_refs, [&](const Hash& hash) {
      const Result<std::string> bytes = shared_.world.store.blob(hash);
      return !bytes && bytes.error().code() == Code::not_found;
    });
    const Result<SessionHead> original = shared_.world.store.head(order_.from);
    if (!original) return finish(std::unexpected(original.error()));
    if (lost == 0) return finish(fail(Code::conflict, "the original changes; try again"));
    commit(std::move(append));
  }

  Result<std::vector<std::string>> read_page(std::size_t want) {
    if (order_.file) {
      const auto begin = order_.file->records.begin() + static_cast<std::ptrdiff_t>(copied_);
      return std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(want));
    }
    RecordPage page = TRY(shared_.world.store.read(order_.from, {.after = copied_, .limit = want}));
    if (page.records.empty()) {
      return fail(Code::damaged, "records are missing before the fork point");
    }
    return std::move(page.records);
  }

  Result<> copy_page(Append& append) {
    const auto want = std::min<Seq>(page_records_max, order_.at - copied_);
    const std::vector<std::string> page = TRY(read_page(static_cast<std::size_t>(want)));
    std::vector<Record> records;
    std::vector<RawJson> unknown;
    for (const std::string& bytes : page) {
      DecodedRecord decoded = TRY(decode_record(bytes));
      const bool keeps = forker_.keeps_unknown(decoded.record.event.body);
      unknown.push_back(keeps ? std::move(decoded.extra) : RawJson());
      records.push_back(std::move(decoded.record));
    }
    copied_ += records.size();
    const std::vector<Event> copies = forker_.copy(records);
    for (std::size_t i = 0; i < copies.size(); ++i) add(append, copies[i], unknown[i]);
    return {};
  }

  void add(Append& append, const Event& event, const RawJson& unknown = {}) {
    append.records.push_back(encode_record(++head_, hash_, event, unknown));
    hash_ = chain_hash(event, append.records.back());
  }

  ActorShared& shared_;
  ForkOrder order_;
  ReplyFn reply_;
  Forker forker_;
  std::uint64_t epoch_ = 0;
  Seq copied_ = 0;
  Seq head_ = 0;
  Hash hash_;
  bool committed_ = false;  // part of the copy is in the store
};

}  // namespace

void start_fork(ActorShared& shared, ForkOrder order, ReplyFn reply) {
  std::make_shared<ForkJob>(shared, std::move(order), std::move(reply))->start();
}

bool is_unfinished_fork(const std::vector<OutboxRow>& outbox) {
  return !outbox.empty() && outbox.front().number == copying_row &&
         outbox.front().payload == copying_payload;
}

void mark_as_no_session(Append& append) {
  append.outbox_add.push_back({copying_row, std::string(copying_payload)});
  append.listing =
      Listing{.open = false, .summary = encode_fields(SessionSummary{.copying = true})};
}

bool drop_unfinished_fork(Store& store, SessionId session) {
  const Result<std::vector<OutboxRow>> outbox = store.outbox(session);
  if (!outbox || !is_unfinished_fork(*outbox)) return false;
  std::ignore = store.remove(session);  // an error is harmless: it is not a session
  return true;
}

}  // namespace perdure
