// What is shown of a question. The page reads the same cases: web/src/core/question_cases.test.ts.
#include "wire/question_parts.h"

#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "base/json_view.h"

namespace perdure {
namespace {

std::string read_cases() {
  std::ifstream in(PERDURE_SOURCE_DIR "/tests/shared/question_cases.json");
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string written(const ShownQuestion& question) {
  JsonWriter json;
  json.begin_object();
  write_question(json, question);
  json.end_object();
  return std::move(json).take();
}

TEST(QuestionParts, cases_shared_with_the_page) {
  const std::string text = read_cases();
  const auto file = JsonView::read(text);
  ASSERT_TRUE(file.has_value());
  const auto cases = (*file)["cases"].items();
  ASSERT_GT(cases.size(), 15U);
  for (const JsonView one : cases) {
    std::vector<std::string> updates;
    for (const JsonView update : one["updates"].items()) updates.emplace_back(update.raw());
    const ShownQuestion shown = show_question(one["params"].raw(), updates);
    EXPECT_EQ(shown, read_shown_question(one["shown"].raw())) << one["name"].text() << "\n"
                                                              << written(shown);
    EXPECT_EQ(read_shown_question(written(shown)), shown) << one["name"].text();
  }
}

TEST(QuestionParts, what_cannot_be_read_is_not_whole) {
  for (const char* const params : {"", "x", "[]", "null", "7"}) {
    EXPECT_FALSE(show_question(params, {}).is_whole) << params;
  }
  const std::vector<std::string> cut{R"({"toolCallId":"t","rawInp)"};
  EXPECT_FALSE(show_question(R"({"toolCall":{"toolCallId":"t"}})", cut).is_whole);
  std::string many = R"({"toolCall":{"rawInput":[)";
  for (std::size_t i = 0; i <= question_parts_max; ++i) {
    many += (i > 0 ? "," : "") + std::to_string(i);
  }
  EXPECT_FALSE(show_question(many + "]}}", {}).is_whole);
}

TEST(QuestionParts, an_answer_that_is_not_understood_is_not_whole) {
  for (const char* const answer : {"", "{}", R"({"is_whole":true})", R"({"parts":[]})",
                                   R"({"is_whole":true,"parts":[{"kind":"hologram","text":"x"}]})",
                                   R"({"is_whole":true,"parts":[{"kind":"command","text":7}]})"}) {
    EXPECT_FALSE(read_shown_question(answer).is_whole) << answer;
  }
}

// Random JSON that remembers its leaves.
class Draw {
 public:
  std::vector<std::string> leaves;

  std::string value(int depth) {
    switch (*rc::gen::inRange(0, depth > 0 ? 8 : 4)) {
      case 0: return text();
      case 1: return number();
      case 2: return "null";
      case 3: return *rc::gen::element<std::string>("\"\"", "[]", "{}");
      case 4:
      case 5: return list(depth, [&] { return value(depth - 1); });
      default: return object(depth);
    }
  }
  std::string text() {
    static const std::vector<std::string> tails{"",   " ",   "\n$ ls", "'",
                                                "\"", ": x", "\u202E", "; rm"};
    const std::string leaf = "leaf" + std::to_string(leaves.size()) + *rc::gen::elementOf(tails);
    leaves.push_back(leaf);
    std::string out;
    json_append_string(out, leaf);
    return out;
  }
  std::string number() {
    leaves.push_back(std::to_string(1'000'000 + leaves.size()));
    return leaves.back();
  }
  std::string list(int, const auto& item) {
    std::string out = "[";
    const int count = *rc::gen::inRange(0, 4);
    for (int i = 0; i < count; ++i) out += (i > 0 ? "," : "") + item();
    return out + "]";
  }
  std::string object(int depth) {
    static const std::vector<std::string> names{
        "command", "cmd",  "comm\\u0061nd", "cwd", "workdir", "file_path", "content",
        "x",       "path", "new_string",    "a b", "type",    "\\n$"};
    std::string out = "{";
    const int count = *rc::gen::inRange(0, 5);
    for (int i = 0; i < count; ++i) {
      out += (i > 0 ? ",\"" : "\"") + *rc::gen::elementOf(names) + "\":" + value(depth - 1);
    }
    return out + "}";
  }
  std::string content() {
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        return R"({"type":"diff","path":)" + text() + R"(,"oldText":)" + maybe_text() +
               R"(,"newText":)" + text() + "}";
      case 1:
        return R"({"type":"content","content":{"type":"text","text":)" + text() + R"(,"x":)" +
               value(1) + "}}";
      case 2:
        return R"({"type":"diff","path":)" + value(1) + R"(,"oldText":)" + value(1) +
               R"(,"newText":)" + value(1) + R"(,"changes":)" + value(2) + "}";
      default: return value(2);
    }
  }
  std::string tool() {
    std::string out = R"({"toolCallId":"t")";
    if (*rc::gen::arbitrary<bool>()) out += R"(,"kind":"execute")";
    if (*rc::gen::arbitrary<bool>()) out += R"(,"title":)" + value(1);
    if (*rc::gen::arbitrary<bool>()) out += R"(,"rawInput":)" + value(3);
    if (*rc::gen::arbitrary<bool>()) {
      out += R"(,"content":)" + list(2, [&] { return content(); });
    }
    if (*rc::gen::arbitrary<bool>()) {
      out += R"(,"locations":)" +
             list(2, [&] { return R"({"path":)" + value(1) + R"(,"line":)" + value(1) + "}"; });
    }
    if (*rc::gen::arbitrary<bool>()) out += R"(,"_meta":)" + value(2);
    return out + "}";
  }

 private:
  std::string maybe_text() { return *rc::gen::arbitrary<bool>() ? text() : std::string("null"); }
};

std::string quoted_for_shell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

RC_GTEST_PROP(QuestionParts, nothing_that_an_agent_sends_is_left_out, ()) {
  Draw draw;
  std::vector<std::string> updates;
  for (int i = *rc::gen::inRange(0, 3); i > 0; --i) updates.push_back(draw.tool());
  std::string params = R"({"sessionId":"s","options":[])";
  if (*rc::gen::arbitrary<bool>()) params += R"(,"toolCall":)" + draw.tool();
  if (*rc::gen::arbitrary<bool>()) {
    params += R"(,"subject":{"type":"tool_call","toolCall":)" + draw.tool() + "}";
  } else if (*rc::gen::arbitrary<bool>()) {
    params += R"(,"subject":)" + draw.object(2);
  }
  if (*rc::gen::arbitrary<bool>()) params += R"(,"description":)" + draw.value(2);
  params += "}";
  const ShownQuestion shown = show_question(params, updates);
  if (!shown.is_whole) return;
  for (const std::string& leaf : draw.leaves) {
    const bool is_shown =
        shown.title == leaf || std::ranges::any_of(shown.parts, [&](const QuestionPart& part) {
          const bool is_word =
              part.kind == QuestionPart::Kind::command &&
              (part.text.contains(leaf) || part.text.contains(quoted_for_shell(leaf)));
          return is_word || part.text == leaf || part.label == leaf || part.before == leaf ||
                 part.label == "line " + leaf;
        });
    RC_ASSERT(is_shown || !(RC_LOG() << leaf << "\n" << params << "\n" << written(shown) << "\n"));
  }
}

}  // namespace
}  // namespace perdure
