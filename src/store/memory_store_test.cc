// The simulator's needs beyond the conformance suite: commit faults, both outcomes of a crash,
// damage, fencing, and equal states from equal calls.
#include "testing/memory_store/memory_store.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

SessionId session_of(std::uint64_t n) { return SessionId(Ulid{.high = 1, .low = n}); }

struct World {
  MemoryDisk disk{"log-1"};
  int fatals = 0;
  std::vector<std::string> answers;  // "name:code" in the order the Dones ran
  std::unique_ptr<MemoryStore> store = open();

  std::unique_ptr<MemoryStore> open() {
    return MemoryStore::open(disk, {.on_fatal = [this](const Error&) { ++fatals; }});
  }
  void append(SessionId session, Seq head, std::string record, Append more = {}) {
    more.session = session;
    more.epoch = store->epoch();
    more.expected_head = head;
    more.records.push_back(record);
    store->append(std::move(more), [this, record](Result<> result) {
      answers.push_back(record + ":" +
                        std::string(result ? "ok" : code_name(result.error().code())));
    });
  }
  void crash(CrashChoice choice) {
    disk.crash(choice);
    store = open();
  }
  Seq head(SessionId session) {
    auto head = store->head(session);
    return head ? head->seq : 0;
  }
};

TEST(MemoryStore, NothingIsShownOrAnsweredBeforeTheSync) {
  World world;
  world.append(session_of(1), 0, "a");
  world.store->inject(CommitFault::slow_sync);
  EXPECT_TRUE(world.store->step());
  EXPECT_TRUE(world.disk.has_unsynced_tail());
  EXPECT_EQ(world.head(session_of(1)), 0U);
  EXPECT_TRUE(world.answers.empty());
  EXPECT_FALSE(world.store->is_idle());
  EXPECT_TRUE(world.store->step());
  EXPECT_EQ(world.head(session_of(1)), 1U);
  EXPECT_EQ(world.answers, std::vector<std::string>{"a:ok"});
  EXPECT_FALSE(world.store->step());
}

TEST(MemoryStore, J3_CrashKeepsOrLosesTheUnsyncedGroupAsAWhole) {
  for (CrashChoice choice : {CrashChoice::keep_tail, CrashChoice::lose_tail}) {
    World world;
    world.append(session_of(1), 0, "a", {.answers = {{.key = "k", .answer = "yes"}}});
    world.append(session_of(2), 0, "b", {.outbox_add = {{1, "start"}}});
    world.store->inject(CommitFault::slow_sync);
    world.store->step();
    world.crash(choice);
    const bool kept = choice == CrashChoice::keep_tail;
    EXPECT_EQ(world.head(session_of(1)), kept ? 1U : 0U);
    EXPECT_EQ(world.head(session_of(2)), kept ? 1U : 0U);
    EXPECT_EQ(world.store->answer("k")->has_value(), kept);
    EXPECT_TRUE(world.answers.empty());
  }
}

TEST(MemoryStore, DISK1_AfterAFailedSyncNobodyIsAnswered) {
  for (CrashChoice choice : {CrashChoice::keep_tail, CrashChoice::lose_tail}) {
    World world;
    world.append(session_of(1), 0, "a");
    world.append(session_of(1), 7, "refused");
    world.store->inject(CommitFault::eio_unknown);
    EXPECT_TRUE(world.store->step());
    EXPECT_EQ(world.fatals, 1);
    EXPECT_TRUE(world.store->is_dead());
    world.append(session_of(1), 1, "too late");
    EXPECT_FALSE(world.store->step());
    EXPECT_TRUE(world.answers.empty());
    EXPECT_EQ(world.fatals, 1);
    world.crash(choice);
    EXPECT_EQ(world.head(session_of(1)), choice == CrashChoice::keep_tail ? 1U : 0U);
  }
}

TEST(MemoryStore, DISK1_ASlowSyncMayFail) {
  World world;
  world.append(session_of(1), 0, "a");
  world.store->inject(CommitFault::slow_sync);
  world.store->step();
  world.store->inject(CommitFault::eio_unknown);
  world.store->step();
  EXPECT_EQ(world.fatals, 1);
  world.crash(CrashChoice::lose_tail);
  EXPECT_EQ(world.head(session_of(1)), 0U);
}

TEST(MemoryStore, DISK2_AFullDiskTakesOnlyTheEssential) {
  World world;
  world.append(session_of(1), 0, "a");
  world.append(session_of(2), 0, "end", {.essential = true});
  world.append(session_of(1), 1, "behind a");
  world.store->inject(CommitFault::disk_full);
  world.store->step();
  EXPECT_EQ(world.answers,
            (std::vector<std::string>{"a:disk_full", "end:ok", "behind a:conflict"}));
  world.append(session_of(1), 0, "a");
  world.store->step();
  EXPECT_EQ(world.answers.back(), "a:ok");
}

TEST(MemoryStore, DISK3_DamageStaysInItsSession) {
  World world;
  for (Seq seq = 0; seq < 5; ++seq) {
    world.append(session_of(1), seq, "a");
    world.append(session_of(2), seq, "b");
  }
  world.store->step();
  EXPECT_FALSE(world.disk.flip_bit(session_of(1), 6));
  EXPECT_TRUE(world.disk.flip_bit(session_of(1), 4));
  world.crash(CrashChoice::keep_tail);
  auto page = world.store->read(session_of(1), {.after = 0, .limit = 100});
  ASSERT_TRUE(page);
  EXPECT_EQ(page->records.size(), 3U);
  auto behind = world.store->read(session_of(1), {.after = 3, .limit = 100});
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().code(), Code::damaged);
  world.answers.clear();
  world.append(session_of(1), 5, "a");
  world.append(session_of(2), 5, "b");
  world.store->step();
  EXPECT_EQ(world.answers, (std::vector<std::string>{"a:damaged", "b:ok"}));
  EXPECT_EQ(world.disk.peek(session_of(2), 6), "b");
}

TEST(MemoryStore, S8_TheSecondOwnerFencesTheFirst) {
  World world;
  world.append(session_of(1), 0, "first");
  world.store->inject(CommitFault::slow_sync);
  world.store->step();
  auto second = MemoryStore::open(world.disk);
  EXPECT_GT(second->epoch(), world.store->epoch());
  world.store->step();  // the group was in flight: it survives and may be answered
  EXPECT_EQ(second->head(session_of(1))->seq, 1U);
  world.append(session_of(1), 1, "stale");
  world.store->step();
  EXPECT_EQ(world.answers, (std::vector<std::string>{"first:ok", "stale:stale_owner"}));
  EXPECT_EQ(world.store->remove(session_of(1)).error().code(), Code::stale_owner);
}

TEST(MemoryStore, ACrashEndsTheStoreThatWasOpen) {
  World world;
  world.append(session_of(1), 0, "a");
  world.disk.crash(CrashChoice::keep_tail);
  EXPECT_TRUE(world.store->is_dead());
  EXPECT_FALSE(world.store->step());
  EXPECT_TRUE(world.answers.empty());
}

TEST(MemoryStore, SearchScansTheInjectedText) {
  MemoryDisk disk;
  auto store = MemoryStore::open(disk, {.search_piece = [](std::string_view record) {
                                   return SearchPiece{.parts = {"text of " + std::string(record)}};
                                 }});
  for (Seq head = 0; head < 3; ++head) {
    store->append({.session = session_of(1),
                   .epoch = store->epoch(),
                   .expected_head = head,
                   .records = {"r" + std::to_string(head + 1)}},
                  nullptr);
  }
  store->step();
  auto hits = store->search({.query = "text of r", .limit = 2});
  ASSERT_EQ(hits->size(), 2U);
  EXPECT_EQ(hits->front().seq, 3U);
  EXPECT_EQ(hits->front().snippet,
            "\x02text of r\x03"
            "3");
}

}  // namespace
}  // namespace perdure
