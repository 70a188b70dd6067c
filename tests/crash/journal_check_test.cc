// The checker itself: a sound journal passes, and each possible error is named.
#include "journal_check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes/hash.h"

namespace perdure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

// `bodies` are the members after `prev` of each record; numbers, chain and served prefix are
// generated.
JudgedSession journal(const std::vector<std::string>& bodies) {
  JudgedSession session{.id = "sess_1"};
  std::string prev(64, '0');
  for (const std::string& body : bodies) {
    const std::string seq = std::to_string(session.records.size() + 1);
    const std::string stored =
        R"({"v":1,"seq":)" + seq + R"(,"prev":")" + prev + "\"," + body + "}";
    session.records.push_back(R"({"id":"sess_1/)" + seq + R"(","type":"system",)" +
                              stored.substr(1));
    prev = sha256(stored).hex();
  }
  return session;
}

const std::string started = R"("kind":"run.started","run_id":"r1")";
const std::string ended = R"("kind":"run.completed","run_id":"r1")";
const std::string user =
    R"("kind":"message.user","run_id":"r1","message_id":"m1","key":"uid:0/k1")";
const std::string asked = R"("kind":"permission.requested","perm_id":"p1")";
const std::string answered = R"("kind":"permission.resolved","perm_id":"p1")";

JudgedSession sound() {
  JudgedSession session = journal({started, user, asked, answered, ended});
  session.prompts["k1"] = {.text = "x", .acknowledged = true, .message_id = "m1"};
  return session;
}

TEST(JournalCheck, a_sound_journal_passes) {
  EXPECT_THAT(judge(sound(), Rest::quiet), IsEmpty());
  EXPECT_THAT(judge_view(sound(), sound().records), IsEmpty());
}

TEST(JournalCheck, a_changed_or_missing_record_is_found) {
  JudgedSession changed = sound();
  changed.records[1].replace(changed.records[1].find("m1"), 2, "m2");
  EXPECT_THAT(judge(changed, Rest::quiet), testing::Contains(StartsWith("J2")));
  JudgedSession missing = sound();
  missing.records.erase(missing.records.begin() + 2);
  EXPECT_THAT(judge(missing, Rest::busy), testing::Contains(StartsWith("J1")));
}

TEST(JournalCheck, lost_doubled_and_foreign_prompts_are_found) {
  JudgedSession lost = sound();
  lost.prompts["k2"] = {.text = "y", .acknowledged = true, .message_id = "m2"};
  EXPECT_THAT(judge(lost, Rest::quiet), ElementsAre(StartsWith("ACK1")));
  lost.prompts["k2"].acknowledged = false;
  EXPECT_THAT(judge(lost, Rest::quiet), IsEmpty());
  JudgedSession twice =
      journal({started, user, ended, R"("kind":"queue.added","message_id":"m2","key":"uid:0/k1")"});
  twice.prompts = sound().prompts;
  EXPECT_THAT(judge(twice, Rest::quiet), ElementsAre(StartsWith("ACK2")));
  JudgedSession foreign = sound();
  foreign.prompts.clear();
  EXPECT_THAT(judge(foreign, Rest::quiet), ElementsAre(StartsWith("ACK2")));
}

TEST(JournalCheck, runs_and_permissions_without_exactly_one_end_are_found) {
  EXPECT_THAT(judge(journal({started}), Rest::busy), IsEmpty());
  EXPECT_THAT(judge(journal({started}), Rest::quiet), ElementsAre(StartsWith("RUN1")));
  EXPECT_THAT(judge(journal({started, ended, ended}), Rest::quiet),
              ElementsAre(StartsWith("RUN2")));
  EXPECT_THAT(judge(journal({started, R"("kind":"run.started","run_id":"r2")"}), Rest::busy),
              ElementsAre(StartsWith("RUN3")));
  EXPECT_THAT(judge(journal({asked, answered, answered}), Rest::quiet),
              ElementsAre(StartsWith("TOK3")));
  EXPECT_THAT(judge(journal({asked}), Rest::quiet), ElementsAre(StartsWith("TOK3")));
}

TEST(JournalCheck, gaps_in_an_agents_text_and_frames_that_return_are_found) {
  const std::string first = R"("kind":"message.agent","exec_id":"e","frame":1,"text":"<p1:1>a")";
  const std::string third = R"("kind":"message.agent","exec_id":"e","frame":3,"text":"<p1:3>c")";
  EXPECT_THAT(judge(journal({first, third}), Rest::busy), ElementsAre(StartsWith("PROC5")));
  EXPECT_THAT(judge(journal({third, first}), Rest::busy),
              testing::Contains(StartsWith("PROC5 a frame")));
}

TEST(JournalCheck, what_a_client_saw_and_the_journal_has_not_is_found) {
  std::vector<std::string> seen = sound().records;
  seen.push_back("{}");
  EXPECT_THAT(judge_view(sound(), seen), ElementsAre(StartsWith("STREAM2")));
  seen = sound().records;
  seen[0] += " ";
  EXPECT_THAT(judge_view(sound(), seen), ElementsAre(StartsWith("STREAM1")));
}

}  // namespace
}  // namespace perdure
