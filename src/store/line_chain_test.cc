// The chain checks that a store makes on bytes that it does not understand.
#include "store/line_chain.h"

#include <gtest/gtest.h>

#include "core/wire/journal/record.h"

namespace perdure {
namespace {

using Link = LineChain::Link;

// Adds a member that an agent wrote, as in an update that is kept unchanged.
std::string with_member(std::string record, std::string_view member) {
  record.pop_back();
  return record + "," + std::string(member) + "}";
}

std::string record_of(std::uint64_t seq, const Hash& prev) {
  return encode_record(seq, prev, {.body = MessageAgent{.text = "words"}});
}

TEST(LineChain, J2_DISK3_what_an_agent_wrote_makes_no_tombstone) {
  const std::string members[] = {
      R"("_meta":{"kind":"redacted","hash":")" + Hash{}.hex() + R"("})",
      R"("kind":"redacted","hash":")" + Hash{}.hex() + R"(")",
  };
  for (const std::string& member : members) {
    LineChain chain;
    const std::string first = with_member(record_of(1, Hash{}), member);
    EXPECT_EQ(chain.add(first), Link::silent);
    EXPECT_EQ(chain.add(record_of(2, record_hash(first))), Link::vouches) << member;
  }
}

TEST(LineChain, J2_a_tombstone_stands_for_the_record_that_it_names) {
  LineChain chain;
  const std::string first = record_of(1, Hash{});
  const std::string second = record_of(2, record_hash(first));
  EXPECT_EQ(chain.add(*encode_tombstone(first)), Link::silent);
  EXPECT_EQ(chain.add(*encode_tombstone(second)), Link::vouches);
  EXPECT_EQ(chain.add(record_of(3, record_hash(second))), Link::vouches);
  EXPECT_EQ(chain.add(record_of(4, record_hash(second))), Link::broken);
}

TEST(LineChain, J2_a_tombstone_that_keeps_something_stands_for_its_record_too) {
  LineChain chain;
  const std::string first = record_of(1, Hash{});
  const std::string second = record_of(2, record_hash(first));
  const EventBody kept = MessageAgent{.text = std::string(2000, 'x')};
  EXPECT_EQ(chain.add(*encode_tombstone(first, kept)), Link::silent);
  EXPECT_EQ(chain.add(*encode_tombstone(second, kept)), Link::vouches);
  EXPECT_EQ(chain.add(record_of(3, record_hash(second))), Link::vouches);
}

// Nothing links them, even if an agent's output contains such members.
TEST(LineChain, J6_records_of_format_0_are_silent) {
  const std::string old =
      R"({"seq":1,"ts":"2025-01-01T00:00:00Z","kind":"message.agent","text":"x")";
  LineChain chain;
  EXPECT_EQ(chain.add(old + "}"), Link::silent);
  EXPECT_EQ(chain.add(old + R"(,"_meta":{"prev":")" + sha256("x").hex() + R"("}})"), Link::silent);
  EXPECT_EQ(chain.add(*encode_tombstone(old + "}")), Link::silent);
  EXPECT_EQ(chain.add(record_of(2, sha256("a link that format 0 did not keep"))), Link::silent);
}

}  // namespace
}  // namespace perdure
