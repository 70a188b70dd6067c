// A newer version's records continue the journal and are unknown here; otherwise the fault would
// test nothing.
#include "sim/actors/newer_version.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/wire/journal/record.h"

namespace perdure::sim {
namespace {

TEST(NewerVersion, J6_X32_its_records_follow_the_journal_and_are_not_known_here) {
  const std::string first = encode_record(1, Hash(), {.at = {1}, .body = SessionUnarchived{}});
  Prng prng(1);
  bool saw_kind = false;
  bool saw_member = false;
  for (int i = 0; i < 20; ++i) {
    std::vector<std::string> journal{first};
    for (std::string& bytes : newer_records(first, {2}, prng)) journal.push_back(std::move(bytes));
    ASSERT_GT(journal.size(), 1U);
    const Result<> verified = verify_chain(journal);
    ASSERT_TRUE(verified) << verified.error().message();
    for (const std::string& bytes : std::span(journal).subspan(1)) {
      const Result<DecodedRecord> decoded = decode_record(bytes);
      ASSERT_TRUE(decoded);
      const bool is_kind = holds_alternative<UnknownEvent>(decoded->record.event.body);
      EXPECT_TRUE(is_kind || !decoded->extra.text.empty());
      saw_kind = saw_kind || is_kind;
      saw_member = saw_member || !decoded->extra.text.empty();
    }
  }
  EXPECT_TRUE(saw_kind && saw_member);
}

}  // namespace
}  // namespace perdure::sim
