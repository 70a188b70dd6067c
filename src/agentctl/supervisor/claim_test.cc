// Which start may begin, and which comes too late.
#include "agentctl/supervisor/claim.h"

#include <gtest/gtest.h>

#include "testing/store/memory_folder.h"

namespace perdure {
namespace {

Bootstrap execution(std::uint64_t number) {
  return {.session = SessionId(Ulid::make({1'000}, 1, 1)),
          .exec = ExecId(Ulid::make({1'000}, 2, number)),
          .gen = number};
}

Result<> claim_start(Folder& run, std::uint64_t number) {
  TRY_VOID(check_start(run, execution(number)));
  return note_start(run, execution(number));
}

TEST(SpoolClaim, PROC5_an_execution_claims_its_spool_once_also_when_it_wrote_nothing) {
  MemoryFolder folder;
  ASSERT_TRUE(claim_spool(folder));
  const Result<> again = claim_spool(folder);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::conflict);
}

TEST(StartClaim, PROC5_an_execution_starts_once_also_when_its_spool_is_gone) {
  MemoryFolder run;
  ASSERT_TRUE(claim_start(run, 4));
  const Result<> again = claim_start(run, 4);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Code::conflict);
  ASSERT_TRUE(claim_start(run, 5));
  EXPECT_FALSE(claim_start(run, 4));
  EXPECT_FALSE(claim_start(run, 5));
  EXPECT_TRUE(claim_start(run, 3));  // from an older journal that was restored
}

TEST(StartClaim, a_look_at_it_notes_nothing) {
  MemoryFolder run;
  ASSERT_TRUE(check_start(run, execution(1)));
  EXPECT_TRUE(run.files().empty());
  EXPECT_TRUE(check_start(run, execution(1)));
}

TEST(StartClaim, the_notes_stay_short) {
  MemoryFolder run;
  for (std::uint64_t number = 1; number <= 4'000; ++number) ASSERT_TRUE(claim_start(run, number));
  EXPECT_LT(*run.size(session_lock_name(execution(1).session)), 66'000U);
  EXPECT_FALSE(claim_start(run, 3'999));
}

}  // namespace
}  // namespace perdure
