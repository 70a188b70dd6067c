// Conformance after a crash: whole batches in order, including every acknowledged one; and a
// randomised run against the plain model.
#include <algorithm>
#include <random>

#include "testing/store/store_conformance_tests.h"
#include "testing/store/store_model.h"

namespace perdure {

namespace {

const SessionId first = conformance_session(1);

Append whole_batch(Seq head) {
  const std::string n = std::to_string(head);
  return {.session = first,
          .expected_head = head,
          .records = {"a" + n, "b" + n},
          .outbox_add = {{head + 1, "effect " + n}},
          .outbox_done = {head - 1},
          .cursor = FrameCursor{conformance_exec(1), head},
          .answers = {{.key = "key " + n, .answer = n}},
          .refs = {"ref " + n},
          .blobs = {blob_of("blob " + n)},
          .snapshot = "snapshot " + n,
          .listing = Listing{.open = true, .summary = n}};
}

void acknowledged_batches_survive_whole(ConformanceBench& bench) {
  StoreModel model;
  for (Seq head = 0; head < 20; head += 2) {
    const Append batch = whole_batch(head);
    ASSERT_EQ(bench.append(batch), std::nullopt);
    model.apply(batch);
    bench.crash_reopen();
    expect_store_equals(bench.store(), model);
  }
}

void unacknowledged_batches_are_whole_or_absent(ConformanceBench& bench) {
  StoreModel model;
  for (Seq head = 0; head < 10; head += 2) {
    const Append batch = whole_batch(head);
    bench.append(batch);
    model.apply(batch);
  }
  const std::size_t number = bench.queue(whole_batch(10));
  bench.crash_reopen();
  EXPECT_EQ(bench.runs(number), 0);
  if (bench.head(first) == 12) model.apply(whole_batch(10));
  expect_store_equals(bench.store(), model);
  if (bench.head(first) == 10) EXPECT_FALSE(bench.store().answer("key 10")->has_value());
  Append next = whole_batch(bench.head(first));
  EXPECT_EQ(bench.append(next), std::nullopt) << "the next append is clean";
}

void bytes_never_change(ConformanceBench& bench) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::vector<std::string> records{all,         "",        std::string(1, '\0'),
                                         "{\"v\":1}", all + all, std::string(70'000, 'z')};
  bench.append({.session = first, .records = records});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(bench.store().read(first, {.after = 0, .limit = 6})->records == records);
    bench.append({.session = first, .expected_head = bench.head(first), .records = {"more"}});
    EXPECT_TRUE(bench.store().read(first, {.after = 0, .limit = 6})->records == records);
    i % 2 == 0 ? bench.crash_reopen() : bench.reopen();
  }
}

void epochs_grow_and_the_log_id_stays(ConformanceBench& bench) {
  const std::string log_id = bench.store().log_id();
  std::uint64_t epoch = bench.store().epoch();
  EXPECT_GT(epoch, 0U);
  for (int i = 0; i < 6; ++i) {
    i % 2 == 0 ? bench.crash_reopen() : bench.reopen();
    EXPECT_GT(bench.store().epoch(), epoch);
    epoch = bench.store().epoch();
    EXPECT_EQ(bench.store().log_id(), log_id);
    bench.append({.session = first, .expected_head = bench.head(first), .records = {"r"}});
  }
}

// Draws batches, updates the model, and compares the store with it.
class RandomRun {
 public:
  RandomRun(ConformanceBench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}

  void run(int rounds) {
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
      const std::uint64_t dice = draw(100);
      if (dice < 70)
        queue_one();
      else if (dice < 85)
        pump();
      else if (dice < 88)
        remove_one();
      else if (dice < 93)
        reopen();
      else
        crash();
    }
  }

 private:
  struct Pending {
    std::size_t number;
    Append batch;
    std::optional<Code> refusal;
  };

  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  std::string bytes(std::size_t size_max) {
    std::string text(draw(size_max + 1), '\0');
    for (char& c : text) c = static_cast<char>(draw(256));
    return text;
  }

  Append draw_batch() {
    Append batch;
    batch.session = conformance_session(1 + draw(6));
    const auto found = predicted_.sessions.find(batch.session);
    const SessionModel session =
        found == predicted_.sessions.end() ? SessionModel{} : found->second;
    batch.expected_head = session.records.size();
    for (std::uint64_t i = 0; i <= draw(5); ++i)
      batch.records.push_back(bytes(draw(20) ? 200 : 9000));
    if (draw(2)) batch.outbox_add.push_back({session.outbox_last + 1 + draw(3), bytes(40)});
    if (draw(2) && !session.outbox.empty())
      batch.outbox_done.push_back(session.outbox.begin()->first);
    if (draw(2)) batch.cursor = FrameCursor{conformance_exec(draw(3)), draw(1000)};
    if (draw(3) == 0) {
      batch.answers.push_back({.key = "key " + std::to_string(++keys_),
                               .body = sha256(bytes(9)),
                               .answer = bytes(30),
                               .expires = draw(2) ? std::optional(Timestamp{5}) : std::nullopt});
    }
    if (draw(4) == 0) batch.refs.push_back("ref " + batch.session.text() + std::to_string(draw(9)));
    if (draw(6) == 0) batch.blobs.push_back(blob_of(bytes(draw(2) ? 2 : 20'000)));
    if (draw(6) == 0 && !predicted_.blobs.empty()) {
      batch.blob_refs.push_back(predicted_.blobs.begin()->first);
    }
    if (draw(5) == 0) batch.snapshot = bytes(500);
    if (draw(3) == 0) {
      batch.listing = Listing{.open = draw(2) == 0,
                              .archived = draw(2) == 0,
                              .updated = Timestamp{static_cast<std::int64_t>(draw(1000))},
                              .summary = "{\"n\":" + std::to_string(draw(1000)) + "}"};
    }
    batch.essential = draw(8) == 0;
    batch.epoch = bench_.store().epoch();
    return batch;
  }

  void queue_one() {
    Append batch = draw_batch();
    switch (draw(12)) {
      case 0: batch.expected_head += 1 + draw(3); break;
      case 1: batch.epoch -= 1; break;
      case 2:
        if (!predicted_.answers.empty()) {
          batch.answers.push_back({.key = predicted_.answers.begin()->first, .answer = "again"});
        }
        break;
      case 3: batch.blob_refs.push_back(sha256("nobody has it")); break;
      default: break;
    }
    const auto refusal = predicted_.refusal(batch, bench_.store().epoch());
    if (!refusal) predicted_.apply(batch);
    const std::size_t number = bench_.queue_as_is(batch);
    pending_.push_back({number, std::move(batch), refusal});
  }

  void pump() {
    bench_.pump();
    for (const Pending& pending : pending_) {
      EXPECT_EQ(bench_.runs(pending.number), 1);
      EXPECT_EQ(bench_.refusal(pending.number), pending.refusal);
    }
    pending_.clear();
    durable_ = predicted_;
  }

  void remove_one() {
    pump();
    const SessionId session = conformance_session(1 + draw(6));
    if (!durable_.sessions.contains(session)) return;
    EXPECT_TRUE(bench_.store().remove(session));
    predicted_.remove(session);
    durable_ = predicted_;
  }

  void reopen() {
    pump();
    bench_.reopen();
    expect_store_equals(bench_.store(), durable_);
  }

  // For each session, a prefix of the batches in flight may have become durable.
  void crash() {
    bench_.crash_reopen();
    for (const Pending& pending : pending_) {
      EXPECT_EQ(bench_.runs(pending.number), 0) << "answered without a step";
      if (pending.refusal) continue;
      const Seq head = bench_.head(pending.batch.session);
      if (head >= pending.batch.expected_head + pending.batch.records.size()) {
        durable_.apply(pending.batch);
      }
    }
    pending_.clear();
    predicted_ = durable_;
    expect_store_equals(bench_.store(), durable_);
  }

  ConformanceBench& bench_;
  std::mt19937_64 random_;
  StoreModel predicted_;  // with everything queued
  StoreModel durable_;    // with everything acknowledged
  std::vector<Pending> pending_;
  std::uint64_t keys_ = 0;
};

template <std::uint64_t seed>
void random_run(ConformanceBench& bench) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomRun(bench, seed).run(600);
}

constexpr ConformanceTest tests[] = {
    {"J3_AcknowledgedBatchesSurviveWhole", acknowledged_batches_survive_whole},
    {"S1_J3_UnacknowledgedBatchesAreWholeOrAbsent", unacknowledged_batches_are_whole_or_absent},
    {"J2_BytesNeverChange", bytes_never_change},
    {"S8_EpochsGrowAndTheLogIdStays", epochs_grow_and_the_log_id_stays},
    {"J1_J2_J3_RandomRunEqualsTheModel1", random_run<1>},
    {"J1_J2_J3_RandomRunEqualsTheModel2", random_run<2>},
    {"J1_J2_J3_RandomRunEqualsTheModel3", random_run<3>},
    {"J1_J2_J3_RandomRunEqualsTheModel4", random_run<4>},
};

}  // namespace

std::span<const ConformanceTest> conformance_crash_tests() { return tests; }

}  // namespace perdure
