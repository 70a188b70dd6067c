// Copies are cheap and independent: an edit of one does not affect the others.
#include "base/shared_value.h"

#include <string>

#include <gtest/gtest.h>

#include "base/json/fields.h"

namespace perdure {
namespace {

struct Note {
  std::string text;
  bool operator==(const Note&) const = default;
  FIELDS { visit("text", self.text); }
};

TEST(SharedValue, copies_share_until_one_is_edited) {
  SharedValue<Note> first(Note{"a"});
  const SharedValue<Note> second = first;
  EXPECT_EQ(&*first, &*second);
  first.edit().text = "b";
  EXPECT_EQ(first->text, "b");
  EXPECT_EQ(second->text, "a");
  EXPECT_NE(first, second);
  first.edit().text = "a";
  EXPECT_EQ(first, second);
}

TEST(SharedValue, the_only_copy_is_edited_in_place) {
  SharedValue<Note> only(Note{"a"});
  const Note* const before = &*only;
  only.edit().text = "b";
  EXPECT_EQ(&*only, before);
}

TEST(SharedValue, reading_fields_shares_and_writing_them_does_not) {
  SharedValue<Note> first(Note{"a"});
  const SharedValue<Note> second = first;
  std::string seen;
  second.fields([&](std::string_view, const std::string& text) { seen = text; });
  EXPECT_EQ(seen, "a");
  EXPECT_EQ(&*first, &*second);
  first.fields([](std::string_view, std::string& text) { text = "b"; });
  EXPECT_EQ(first->text, "b");
  EXPECT_EQ(second->text, "a");
}

TEST(SharedValue, a_moved_from_value_is_whole) {
  SharedValue<Note> first(Note{"a"});
  const SharedValue<Note> second = std::move(first);
  EXPECT_EQ(second->text, "a");
  EXPECT_EQ(first->text, "a");  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace perdure
