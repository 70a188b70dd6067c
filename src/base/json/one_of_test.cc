// OneOf holds exactly one value, destroys it once, and copies, moves and compares it correctly.
#include "base/json/one_of.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/json/one_of_members.h"

namespace perdure {
namespace {

struct Empty {
  bool operator==(const Empty&) const = default;
};
struct Text {
  std::string text;
  bool operator==(const Text&) const = default;
};
struct Shared {
  std::shared_ptr<int> alive;  // counts the living copies
  bool operator==(const Shared&) const = default;
};
struct Incomparable {
  int number = 0;
};

}  // namespace

using SomeKinds = Kinds<Empty, Text, Shared>;
using Some = OneOf<SomeKinds>;
template class OneOf<SomeKinds>;
using OtherKinds = Kinds<Incomparable, Empty>;
template class OneOf<OtherKinds>;

namespace {

static_assert(!std::equality_comparable<OneOf<OtherKinds>>);
static_assert(!std::constructible_from<Some, Incomparable>);
static_assert(std::is_nothrow_move_constructible_v<Some>);

std::string name_of(const Some& some) {
  return visit(
      []<class T>(const T&) -> std::string {
        if constexpr (std::same_as<T, Empty>) return "empty";
        if constexpr (std::same_as<T, Text>) return "text";
        return "shared";
      },
      some);
}

TEST(OneOf, a_new_one_holds_the_first_kind) {
  const Some some;
  EXPECT_EQ(some.index(), 0U);
  EXPECT_TRUE(holds_alternative<Empty>(some));
  EXPECT_EQ(get_if<Text>(&some), nullptr);
}

TEST(OneOf, it_is_visited_as_what_it_is) {
  EXPECT_EQ(name_of(Empty{}), "empty");
  EXPECT_EQ(name_of(Text{"a"}), "text");
  EXPECT_EQ(name_of(Shared{}), "shared");
  Some some = Text{"a"};
  visit(
      [](auto& value) {
        if constexpr (requires { value.text; }) value.text = "changed";
      },
      some);
  EXPECT_EQ(get<Text>(some).text, "changed");
}

TEST(OneOf, copies_are_apart_and_equal) {
  const std::string text = "longer than what a string keeps inside of itself";
  Some first = Text{text};
  Some second = first;
  EXPECT_EQ(first, second);
  get<Text>(second).text += '!';
  EXPECT_NE(first, second);
  EXPECT_EQ(get<Text>(first).text, text);
  second = first;
  EXPECT_EQ(first, second);
  EXPECT_NE(first, Some(Empty{}));
}

TEST(OneOf, every_value_is_ended_once) {
  auto alive = std::make_shared<int>(0);
  {
    Some first = Shared{alive};
    EXPECT_EQ(alive.use_count(), 2);
    Some second = first;
    EXPECT_EQ(alive.use_count(), 3);
    Some third = std::move(second);
    EXPECT_EQ(alive.use_count(), 3);
    first = Text{"another kind takes the place"};
    EXPECT_EQ(alive.use_count(), 2);
    first = third;
    EXPECT_EQ(alive.use_count(), 3);
    first = std::move(third);
    EXPECT_EQ(alive.use_count(), 2);
    EXPECT_TRUE(first.emplace<Text>().text.empty());
    EXPECT_EQ(alive.use_count(), 1);
    third = Shared{alive};
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(OneOf, assignment_to_itself_changes_nothing) {
  Some some = Text{"the same"};
  Some& alias = some;
  some = alias;
  EXPECT_EQ(get<Text>(some).text, "the same");
  some = std::move(alias);
  EXPECT_EQ(get<Text>(some).text, "the same");
}

TEST(OneOfDeathTest, taking_it_for_another_kind_is_our_bug) {
  Some some = Text{"a"};
  EXPECT_DEATH(get<Shared>(some), "holds_alternative");
}

}  // namespace
}  // namespace perdure
