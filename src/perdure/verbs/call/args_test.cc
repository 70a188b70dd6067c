// Parses command lines by the table of verbs.
#include "perdure/verbs/call/args.h"

#include <set>

#include <gtest/gtest.h>

#include "perdure/verbs/call/help.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

Outcome<ParsedCall> parse(const std::vector<std::string>& words) {
  return parse_words(all_verbs(), words);
}

ParsedCall good(const std::vector<std::string>& words) {
  auto call = parse(words);
  EXPECT_TRUE(call.has_value()) << (call ? "" : call.error().message);
  return call ? std::move(*call) : ParsedCall{};
}

std::string wrong(const std::vector<std::string>& words) {
  const auto call = parse(words);
  if (call) return "(was taken)";
  EXPECT_EQ(call.error().exit_code, exit_usage);
  return call.error().message;
}

TEST(Args, options_and_words_in_any_order) {
  const ParsedCall call = good({"--json", "send", "-w", "parser", "--timeout=5m", "do", "it"});
  EXPECT_EQ(call.verb->name, "send");
  EXPECT_TRUE(call.args.has("json"));
  EXPECT_TRUE(call.args.has("wait"));
  EXPECT_EQ(call.args.word(0), "parser");
  EXPECT_EQ(call.args.rest(1), "do it");
  EXPECT_EQ(**call.args.duration_ms("timeout"), 300'000);
}

TEST(Args, letters_can_be_joined_and_carry_a_value) {
  const ParsedCall call = good({"events", "-fn20", "parser"});
  EXPECT_TRUE(call.args.has("follow"));
  EXPECT_EQ(**call.args.number("last"), 20U);
}

TEST(Args, behind_two_dashes_everything_is_a_word) {
  const ParsedCall call = good({"send", "parser", "--", "--json", "-f"});
  EXPECT_FALSE(call.args.has("json"));
  EXPECT_EQ(call.args.rest(1), "--json -f");
}

TEST(Args, a_value_is_never_read_as_an_option) {
  const ParsedCall call = good({"new", "demo", "--title", "--no-cwd"});
  EXPECT_EQ(*call.args.value("title"), "--no-cwd");
  EXPECT_FALSE(call.args.has("no-cwd"));
}

TEST(Args, A4_A14_session_in_front_of_a_verb_is_the_verb) {
  for (const Verb& verb : all_verbs()) {
    std::vector<std::string> words = {"session"};
    std::string rest(verb.name);
    for (std::size_t space = 0; (space = rest.find(' ')) != std::string::npos;) {
      words.push_back(rest.substr(0, space));
      rest.erase(0, space + 1);
    }
    words.push_back(rest);
    words.emplace_back("--help");
    EXPECT_EQ(good(words).verb, &verb) << verb.name;
  }
  EXPECT_EQ(good({"session", "resume", "x"}).verb->name, "resume");
  EXPECT_TRUE(good({"session", "repair", "x", "--dry-run"}).args.has("dry-run"));
}

TEST(Args, every_verb_of_the_contract_is_there) {
  for (const char* name : {"serve",
                           "run",
                           "new",
                           "ls",
                           "show",
                           "status",
                           "attach",
                           "send",
                           "wait",
                           "cancel",
                           "stop",
                           "resume",
                           "rename",
                           "archive",
                           "rm",
                           "open",
                           "token create",
                           "token ls",
                           "token revoke",
                           "logs",
                           "events",
                           "history",
                           "transcript",
                           "search",
                           "export",
                           "import",
                           "inbox",
                           "approve",
                           "deny",
                           "doctor",
                           "nodes",
                           "why",
                           "agents ls",
                           "agents probe",
                           "adopt",
                           "verify",
                           "repair",
                           "backup",
                           "restore",
                           "store salvage",
                           "gc",
                           "fork",
                           "redact",
                           "version",
                           "service install",
                           "service status",
                           "config show",
                           "completion",
                           "acp"}) {
    const Verb* verb = find_verb(all_verbs(), name);
    ASSERT_NE(verb, nullptr) << name;
    EXPECT_FALSE(verb->is_hidden) << name;
  }
}

TEST(Args, no_two_options_of_a_verb_are_alike) {
  for (const Verb& verb : all_verbs()) {
    std::set<std::string_view> names;
    std::set<char> letters;
    const auto add = [&](std::span<const Option> options) {
      for (const Option& option : options) {
        EXPECT_TRUE(names.insert(option.name).second) << verb.name << " --" << option.name;
        if (option.letter == 0) continue;
        EXPECT_TRUE(letters.insert(option.letter).second) << verb.name << " -" << option.letter;
      }
    };
    add(verb.options);
    add(common_options());
    ASSERT_NE(verb.run, nullptr) << verb.name;
  }
}

TEST(Args, mistakes_are_named_and_guessed) {
  EXPECT_NE(wrong({"atach"}).find("did you mean attach?"), std::string::npos);
  EXPECT_NE(wrong({"resmue", "x"}).find("did you mean resume?"), std::string::npos);
  EXPECT_NE(wrong({"token", "creat", "x"}).find("token create"), std::string::npos);
  EXPECT_NE(wrong({"token"}).find("create, ls, revoke"), std::string::npos);
  EXPECT_NE(wrong({"ls", "--al"}).find("did you mean --all?"), std::string::npos);
  EXPECT_NE(wrong({"prompt", "x", "hello"}).find("did you mean send?"), std::string::npos);
  EXPECT_EQ(wrong({"xyzzyplugh"}).find("did you mean"), std::string::npos);
  EXPECT_NE(wrong({"xyzzyplugh"}).find("perdure help"), std::string::npos);
  EXPECT_NE(wrong({"send", "parser"}).find("needs TEXT"), std::string::npos);
  EXPECT_NE(wrong({"send"}).find("needs SESSION"), std::string::npos);
  EXPECT_NE(wrong({"show", "a", "b"}).find("'b'"), std::string::npos);
  EXPECT_NE(wrong({"events", "--last"}).find("needs a value"), std::string::npos);
  EXPECT_NE(wrong({"ls", "--json=1"}).find("takes no value"), std::string::npos);
  EXPECT_NE(wrong({"-"}).find("not a command"), std::string::npos);
}

TEST(Args, a_hostile_word_is_shown_without_its_control_characters) {
  EXPECT_EQ(wrong({"\x1B[31mred"}).find('\x1B'), std::string::npos);
  EXPECT_EQ(wrong({"ls", "--\x1B]0;x\x07"}).find('\x1B'), std::string::npos);
}

TEST(Args, numbers_and_times) {
  const auto ms = [](const char* text) {
    return good({"wait", "--timeout", text}).args.duration_ms("timeout");
  };
  EXPECT_EQ(**ms("30"), 30'000);
  EXPECT_EQ(**ms("500ms"), 500);
  EXPECT_EQ(**ms("2h"), 7'200'000);
  for (const char* text :
       {"", "x", "-5", "5w", "1.5h", "99999999999999999999", "9999999999999999d"}) {
    EXPECT_FALSE(ms(text).has_value()) << text;
  }
  EXPECT_FALSE(good({"events", "--last", "-1"}).args.number("last").has_value());
  EXPECT_FALSE(good({"events", "--last", "1x"}).args.number("last").has_value());
}

TEST(Help, every_verb_has_a_summary_an_example_and_its_options) {
  for (const Verb& verb : all_verbs()) {
    const std::string text = help_verb(verb, Style());
    EXPECT_FALSE(verb.summary.empty()) << verb.name;
    EXPECT_NE(text.find("Example\n  "), std::string::npos) << verb.name;
    EXPECT_NE(verb.example.find("perdure"), std::string_view::npos) << verb.name;
    for (const Option& option : verb.options) {
      EXPECT_NE(text.find("--" + std::string(option.name)), std::string::npos) << verb.name;
      EXPECT_FALSE(option.help.empty()) << verb.name << " --" << option.name;
    }
  }
}

TEST(Help, the_overview_names_every_visible_verb_and_no_hidden_one) {
  const std::string text = help_overview(all_verbs(), Style());
  for (const Verb& verb : all_verbs()) {
    const bool is_named = text.find("\n  " + std::string(verb.name) + " ") != std::string::npos;
    EXPECT_EQ(is_named, !verb.is_hidden) << verb.name;
  }
}

// The examples in the help are command lines that this program accepts.
TEST(Help, every_example_can_be_parsed) {
  for (const Verb& verb : all_verbs()) {
    const std::size_t begin = verb.example.find("perdure ");
    ASSERT_NE(begin, std::string_view::npos) << verb.name;
    std::string line(verb.example.substr(begin + 8));
    line.resize(std::min({line.find('\n'), line.find(')'), line.find(" > "), line.find(" | "),
                          line.find(" && "), line.size()}));
    std::vector<std::string> words;
    std::string word;
    bool is_quoted = false;
    for (const char c : line + " ") {
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (c == ' ' && !is_quoted) {
        if (!word.empty()) words.push_back(std::exchange(word, {}));
      } else {
        word += c;
      }
    }
    const auto call = parse(words);
    ASSERT_TRUE(call.has_value()) << line << ": " << call.error().message;
    EXPECT_EQ(call->verb, &verb) << line;
  }
}

}  // namespace
}  // namespace perdure::cli
