// Random interleavings against a plain model: appends, refusals, groups of any size, flushes,
// checkpoints, removals, crashes (copies of the files as they are) and reopenings. After each crash
// the store must equal the model exactly, since the model only contains acknowledged data.
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "store/sqlite/store_fixture_test.h"

namespace perdure::store_test {
namespace {

struct ModelSession {
  std::vector<std::string> records;
  std::optional<FrameCursor> cursor;
  std::map<std::uint64_t, std::string> outbox;
  std::optional<StoredSnapshot> snapshot;
  std::uint64_t next_number = 1;
};

using Model = std::map<std::uint64_t, ModelSession>;

class SqliteModel : public StoreTest {
 protected:
  std::string random_record() {
    const std::size_t size = random_() % 20 == 0 ? random_() % 20'000 : random_() % 400;
    return std::string(size, static_cast<char>('a' + random_() % 26)) + std::to_string(random_());
  }

  // Appends to several sessions at once; adds the expected successes to the model.
  void group() {
    Model next = model_;
    const std::size_t count = 1 + random_() % 8;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = 1 + random_() % sessions_;
      ModelSession& target = next[number];
      Append batch{.session = session(number),
                   .epoch = store_->epoch(),
                   .expected_head = target.records.size()};
      if (random_() % 10 == 0) {
        batch.expected_head += 1;
        batch.records = {"never"};
        store_->append(std::move(batch),
                       [](Result<> result) { EXPECT_EQ(result.error().code(), Code::conflict); });
        if (target.records.empty() && !target.cursor && target.next_number == 1) next.erase(number);
        continue;
      }
      fill(batch, target);
      store_->append(std::move(batch),
                     [](Result<> result) { EXPECT_TRUE(result) << result.error().message(); });
    }
    store_->step();
    model_ = std::move(next);
  }

  void fill(Append& batch, ModelSession& target) {
    const std::size_t count = random_() % 10 == 0 ? random_() % 200 : 1 + random_() % 3;
    for (std::size_t k = 0; k < count; ++k) batch.records.push_back(random_record());
    if (random_() % 3 == 0) batch.cursor = FrameCursor{ExecId(Ulid{2, random_() % 5}), random_()};
    for (const auto& [done, payload] : target.outbox) {
      if (random_() % 2 == 0) batch.outbox_done.push_back(done);
    }
    batch.outbox_add = {{target.next_number++, "effect " + std::to_string(random_())}};
    if (random_() % 4 == 0) batch.snapshot = random_record();

    target.records.insert(target.records.end(), batch.records.begin(), batch.records.end());
    if (batch.cursor) target.cursor = batch.cursor;
    for (const std::uint64_t done : batch.outbox_done) target.outbox.erase(done);
    target.outbox[batch.outbox_add[0].number] = batch.outbox_add[0].payload;
    if (batch.snapshot) target.snapshot = {.seq = target.records.size(), .bytes = *batch.snapshot};
  }

  void expect_equal() {
    for (std::uint64_t number = 1; number <= sessions_; ++number) {
      const auto wanted = model_.find(number);
      const auto head = store_->head(session(number));
      if (wanted == model_.end()) {
        ASSERT_FALSE(head);
        continue;
      }
      ASSERT_TRUE(head) << number << " " << head.error().message();
      ASSERT_EQ(head->seq, wanted->second.records.size());
      ASSERT_EQ(head->cursor, wanted->second.cursor);
      ASSERT_TRUE(all(number) == wanted->second.records);
      std::vector<OutboxRow> outbox;
      for (const auto& [id, payload] : wanted->second.outbox) outbox.push_back({id, payload});
      ASSERT_EQ(*store_->outbox(session(number)), outbox);
      const auto snapshot = *store_->snapshot(session(number));
      ASSERT_EQ(snapshot.has_value(), wanted->second.snapshot.has_value());
      if (snapshot) ASSERT_EQ(snapshot->bytes, wanted->second.snapshot->bytes);
    }
  }

  void one_step(const SqliteOptions& with) {
    const unsigned dice = random_() % 100;
    if (dice < 80) return group();
    if (dice < 90) return (void)store_->idle_step();
    if (dice < 93) {
      const std::uint64_t number = 1 + random_() % sessions_;
      EXPECT_EQ(store_->remove(session(number)).has_value(), model_.erase(number) == 1);
      return;
    }
    if (dice < 96) {
      EXPECT_TRUE(dice < 95 ? store_->rebuild_index() : store_->shut_down());
      return;
    }
    if (dice < 98) return open(with);
    abandon_to("crashed.db");
    store_.reset();
    for (const char* suffix : {"", "-wal"}) {
      fs::rename(path("crashed.db" + std::string(suffix)),
                 path("journal.db" + std::string(suffix)));
    }
    open(with);
    expect_equal();
  }

  std::uint64_t sessions_ = 8;
  std::mt19937 random_;
  Model model_;
};

TEST_F(SqliteModel, J1_J2_J3_any_interleaving_equals_the_model) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    random_.seed(seed);
    model_.clear();
    store_.reset();
    for (const char* suffix : {"", "-wal", "-shm"})
      fs::remove(path("journal.db" + std::string(suffix)));
    SqliteOptions with = options();
    with.flush_bytes_min = 1 + random_() % 100'000;
    with.flush_bytes_max = with.flush_bytes_min;
    with.flush_idle_bytes = random_() % 10'000;
    with.checkpoint_bytes = 1 + random_() % 1'000'000;
    with.checkpoint_idle_bytes = random_() % 100'000;
    with.sessions_cached_max = 1 + random_() % 10;
    with.group_bytes_max = 1UL << 30;
    open(with);
    for (int i = 0; i < 150 && !HasFatalFailure(); ++i) one_step(with);
    expect_equal();
    const auto report = store_->verify();
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->damages.empty()) << report->damages[0].what;
  }
}

// Readers next to a writer: through flushes, checkpoints and evictions, a reader sees a prefix of
// the written records that includes everything acknowledged before it looked.
TEST_F(SqliteModel, readers_beside_the_writer_see_every_acknowledged_record) {
  SqliteOptions with = options();
  with.flush_bytes_min = with.flush_bytes_max = 20'000;
  with.checkpoint_bytes = 200'000;
  with.sessions_cached_max = 2;
  with.readers_max = 2;
  open(with);
  std::array<std::atomic<Seq>, 6> acked{};
  std::atomic<bool> stop = false;
  std::vector<std::jthread> readers;
  for (unsigned reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937 random(reader);
      while (!stop) {
        const std::size_t number = random() % acked.size();
        const Seq known = acked[number].load();
        if (known == 0) continue;
        const Seq after = random() % known;
        const auto page = store_->read(session(number + 1), {.after = after, .limit = 300});
        ASSERT_TRUE(page) << page.error().message();
        ASSERT_GE(page->records.size(), std::min<Seq>(300, known - after));
        for (std::size_t i = 0; i < page->records.size(); ++i) {
          ASSERT_EQ(
              page->records[i].substr(0, 20),
              std::to_string(number * 100'000 + after + i + 1) +
                  std::string(20 - std::to_string(number * 100'000 + after + i + 1).size(), '.'));
        }
      }
    });
  }
  for (Seq seq = 1; seq <= 1500; ++seq) {
    for (std::size_t number = 0; number < acked.size(); ++number) {
      std::string record = std::to_string(number * 100'000 + seq);
      record.resize(120, '.');
      store_->append({.session = session(number + 1),
                      .epoch = store_->epoch(),
                      .expected_head = seq - 1,
                      .records = {record}},
                     [&acked, number, seq](Result<> result) {
                       ASSERT_TRUE(result);
                       acked[number].store(seq);
                     });
    }
    store_->step();
    if (seq % 16 == 0) store_->idle_step();
  }
  stop = true;
}

}  // namespace
}  // namespace perdure::store_test
