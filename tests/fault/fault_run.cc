// One workload on an engine over the fault disk, and its invariants afterwards.
#include "fault_run.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace perdure {

namespace {

constexpr int rounds = 17;  // of eight batches with one or two records: 204 records
constexpr int batches_a_round = 8;
constexpr std::uint64_t sessions = 5;
constexpr int steps_max = 1000;  // more without a pause is a livelock

SessionId session_of(std::uint64_t n) {
  return SessionId(Ulid{.high = 0x0192'0000'0000'0000, .low = n});
}

}  // namespace

FaultRun::FaultRun(EngineKind kind, std::uint64_t seed, CrashOutcome after_fatal)
    : engine_(make_fault_engine(kind, seed)), after_fatal_(after_fatal) {}

FaultRun::~FaultRun() { store_.reset(); }

bool FaultRun::go(FaultPlan plan) {
  engine_->disk().plan(plan);
  if (!open()) restart(after_fatal_);
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    if (round == rounds / 2) {
      // A planned restart, so that faults also hit closing and recovery.
      end_life();
      if (!open()) restart(after_fatal_);
    }
    if (store_) work(round);
    if (life_fatals_ > 0) restart(after_fatal_);
  }
  if (!::testing::Test::HasFailure()) restart(CrashOutcome::lost);
  return hit_;
}

bool FaultRun::open() {
  engine_->disk().clear_log();
  life_fatals_ = 0;
  auto opened = engine_->open([this](const Error&) { ++life_fatals_; });
  if (!opened) {
    open_error_ = opened.error().message();
    return false;
  }
  store_ = *std::move(opened);
  was_open_ = true;
  return true;
}

void FaultRun::work(int round) {
  for (int place = 0; place < batches_a_round; ++place) queue_batch(round, place);
  step();
  if (round % 3 != 2) return;
  for (int i = 0; i < steps_max && life_fatals_ == 0 && store_->idle_step(); ++i) {}
}

void FaultRun::step() {
  int steps = 0;
  while (life_fatals_ == 0 && store_->step()) {
    ASSERT_LT(++steps, steps_max) << "the writer never becomes idle";
  }
  if (life_fatals_ == 0) EXPECT_TRUE(pending_.empty()) << "idle, and batches are unanswered";
  EXPECT_LE(life_fatals_, 1) << "on_fatal runs once";
  if (engine_->disk().sync_has_failed())
    EXPECT_EQ(life_fatals_, 1) << "a sync failed and nobody was told";
}

void FaultRun::queue_batch(int round, int place) {
  // With five sessions, some batches of a group depend on others in it.
  const auto n = static_cast<std::uint64_t>(round * 3 + place);
  Append batch{.session = session_of(1 + n % sessions), .epoch = store_->epoch()};
  batch.expected_head = model_.head(batch.session);
  for (const Pending& pending : pending_) {
    if (pending.batch.session == batch.session) batch.expected_head += pending.batch.records.size();
  }
  const std::uint64_t number = ++batches_;
  const Seq head = batch.expected_head;
  // The number distinguishes a retry from the failed batch; keys and rows are the same.
  const std::string name = std::to_string(number);
  const std::string place_name = batch.session.text() + "/" + std::to_string(head);
  batch.records.assign(1 + (round + place) % 2, "record " + name + std::string(300, 'r'));
  batch.outbox_add = {{head + 1, "effect " + name}};
  if (head > 2) batch.outbox_done = {head - 2, head - 1};
  batch.cursor = FrameCursor{ExecId(Ulid{.high = 1, .low = n % 3}), number};
  if (place % 2 == 0) batch.answers = {{.key = place_name, .answer = "answer " + name}};
  if (place == 3) batch.refs = {"ref " + place_name};
  if (round % 5 == place % 4) {
    std::string bytes = "blob " + name + std::string(9000, 'b');
    batch.blobs = {{sha256(bytes), bytes}};
  }
  if (round % 6 == place) batch.snapshot = "snapshot " + name + std::string(500, 's');
  if (round % 3 == 0)
    batch.listing = Listing{.open = round % 2 == 0, .summary = "{\"n\":" + name + "}"};
  batch.essential = round % 7 == place % 4;
  pending_.push_back({number, batch});
  store_->append(std::move(batch), [this, number](Result<> result) { answered(number, result); });
}

void FaultRun::answered(std::uint64_t number, const Result<>& result) {
  EXPECT_FALSE(engine_->disk().sync_has_failed()) << "DISK1: answered after a failed sync";
  EXPECT_EQ(life_fatals_, 0) << "DISK1: answered after on_fatal";
  auto found = std::ranges::find(pending_, number, &Pending::number);
  ASSERT_NE(found, pending_.end()) << "answered twice";
  const Append batch = std::move(found->batch);
  pending_.erase(found);
  if (result) {
    ASSERT_EQ(model_.head(batch.session), batch.expected_head) << "acknowledged wrongly";
    model_.apply(batch);
    return;
  }
  const Code code = result.error().code();
  ++refusals_[code];
  const bool builds_on_refused = model_.head(batch.session) != batch.expected_head;
  EXPECT_TRUE(code == Code::disk_full || (code == Code::conflict && builds_on_refused))
      << code_name(code) << ": " << result.error().message();
}

void FaultRun::end_life() {
  hit_ = hit_ || engine_->disk().fault_hit();
  store_.reset();
  fatals_ += life_fatals_;
  // While the file is being created there is nothing to lose, and SQLite rolls its own journal
  // back.
  if (was_open_) EXPECT_EQ(engine_->disk().syncs_after_failed_sync(), 0U) << "DISK1";
}

void FaultRun::restart(CrashOutcome outcome) {
  ++restarts_;
  hit_ = hit_ || engine_->disk().fault_hit();
  engine_->crash(outcome);
  end_life();
  ASSERT_TRUE(open()) << "no fault, and the store does not open: " << open_error_;
  resolve_pending();
  expect_store_equals(*store_, model_);
  // A power cut right after recovery must not undo what recovery has shown.
  engine_->crash(CrashOutcome::lost);
  end_life();
  engine_->check_integrity();
  ASSERT_TRUE(open()) << open_error_;
  expect_store_equals(*store_, model_);
}

void FaultRun::resolve_pending() {
  for (const Pending& pending : pending_) {
    auto head = store_->head(pending.batch.session);
    const Seq stored = head ? head->seq : 0;
    if (model_.head(pending.batch.session) != pending.batch.expected_head) continue;
    if (stored >= pending.batch.expected_head + pending.batch.records.size()) {
      model_.apply(pending.batch);
    }
  }
  pending_.clear();
}

}  // namespace perdure
