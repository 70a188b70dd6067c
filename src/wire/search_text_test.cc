// What a record can be found by, and what it cannot.
#include "wire/search_text.h"

#include <gtest/gtest.h>

#include "wire/record.h"

namespace perdure {
namespace {

std::string stored(EventBody body) {
  return encode_record(1, {}, Event{.at = {}, .body = std::move(body)});
}

TEST(SearchText, what_was_said_can_be_found) {
  EXPECT_EQ(search_text(stored(MessageAgent{.text = "a needle"})), "a needle");
  EXPECT_EQ(search_text(stored(MessageUser{.prompt = {.text = "find it"}})), "find it");
}

TEST(SearchText, records_without_words_and_garbage_are_passed_over) {
  EXPECT_EQ(search_text(stored(SessionStopped{.reason = "stopped_by_user"})), std::nullopt);
  EXPECT_EQ(search_text(stored(MessageAgent{.text = ""})), std::nullopt);
  EXPECT_EQ(search_text("garbage"), std::nullopt);
  const std::string record = stored(MessageAgent{.text = "a secret"});
  EXPECT_EQ(search_text(encode_tombstone(record).value()), std::nullopt);
}

}  // namespace
}  // namespace perdure
