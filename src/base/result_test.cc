// Results: codes keep their names, context is prefixed, and TRY returns the error unchanged.
#include "base/result.h"

#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"

namespace perdure {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Code::invalid_argument, "odd");
  return number / 2;
}

Result<int> quarter(int number) { return TRY(half(TRY(half(number)))); }

Result<> even(int number) {
  TRY_VOID(half(number));
  return {};
}

TEST(Result, try_gives_the_value_or_returns_the_error) {
  EXPECT_EQ(quarter(8), 2);
  ASSERT_FALSE(quarter(6).has_value());
  EXPECT_EQ(quarter(6).error(), Error(Code::invalid_argument, "odd"));
  EXPECT_TRUE(even(2).has_value());
  EXPECT_EQ(even(3).error().code(), Code::invalid_argument);
}

TEST(Result, try_takes_an_expression_with_commas) {
  const auto pick = [](std::pair<int, int> both) -> Result<int> { return both.first; };
  const auto outer = [&]() -> Result<int> { return TRY(pick(std::pair<int, int>{4, 5})); };
  EXPECT_EQ(outer(), 4);
}

TEST(Result, try_moves_what_cannot_be_copied) {
  const auto make = [] { return Result<std::unique_ptr<int>>(std::make_unique<int>(7)); };
  const auto pass_on = [&]() -> Result<std::unique_ptr<int>> {
    std::unique_ptr<int> value = TRY(make());
    *value += 1;
    return value;
  };
  EXPECT_EQ(**pass_on(), 8);
}

TEST(Result, try_of_a_named_result_leaves_its_error_whole) {
  Result<int> failed = fail(Code::disk_full, "no room");
  const auto outer = [&]() -> Result<int> { return TRY(std::move(failed)) + 1; };
  EXPECT_EQ(outer().error(), Error(Code::disk_full, "no room"));
}

TEST(Result, context_goes_in_front_and_keeps_the_code) {
  Error error = Error(Code::disk_full, "disk is full").with_context("append");
  error = std::move(error).with_context("prompt");
  EXPECT_EQ(error.code(), Code::disk_full);
  EXPECT_EQ(error.message(), "prompt: append: disk is full");
}

TEST(Result, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::internal); ++code) {
    const std::string_view name = code_name(static_cast<Code>(code));
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  // Scripts match on these.
  EXPECT_EQ(code_name(Code::token_scope_mismatch), "token_scope_mismatch");
  EXPECT_EQ(code_name(Code::workspace_missing), "workspace_missing");
}

TEST(CheckDeathTest, a_broken_condition_ends_the_process_and_says_where) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "result_test.cc:[0-9]+: CHECK failed: 1 \\+ 1 == 3");
  EXPECT_DEATH(CHECK(false, "twice"), "CHECK failed: false: twice");
  EXPECT_DEATH(code_name(static_cast<Code>(1000)), "unknown error code");
}

TEST(Check, a_condition_that_holds_is_evaluated_once) {
  int evaluations = 0;
  CHECK(++evaluations == 1);
  EXPECT_EQ(evaluations, 1);
}

}  // namespace
}  // namespace perdure
