// Verbs that answer: inbox, approve, deny, answer. On a terminal the whole question is shown before
// it can be answered. Without a terminal, the call must name the question.
#include <algorithm>
#include <charconv>

#include "base/json/json.h"
#include "perdure/terminal/clean_text.h"
#include "perdure/terminal/width.h"
#include "perdure/verbs/call/verb_call.h"
#include "perdure/verbs/question/answers.h"
#include "perdure/verbs/question/rule_words.h"
#include "perdure/verbs/verbs.h"

namespace perdure::cli {
namespace {

constexpr std::size_t inbox_rows_max = 16;       // of one question; a longer one needs `answer`
constexpr std::size_t inbox_questions_max = 50;  // shown with their content
constexpr std::string_view indent = "     ";

enum class Wish { yes, no, any };

std::unexpected<Trouble> refused(Code code, std::string message) {
  return std::unexpected(Trouble::of(Error(code, std::move(message))));
}

// What the question asks for, as the daemon shows it. Without its answer nothing can be allowed.
Outcome<void> load_asked(VerbCall& call, Question& question) {
  const auto answer = call.get("/api/permissions/" + encode_segment(question.permission));
  if (answer) {
    question.asked = read_asked(answer->view());
  } else if (answer.error().exit_code == exit_unreachable) {
    return std::unexpected(answer.error());
  } else {
    question.asked.is_read = true;
  }
  return {};
}

void print_item(VerbCall& call, JsonView item, const std::string& text) {
  const std::string session = item["session_id"].text();
  const std::string title = clean_line(item["session_title"].text());
  const std::string kind = clean_line(item["kind"].text());
  const Ink ink = kind == "permission" || kind == "input" ? Ink::yellow : Ink::dim;
  const std::string lead = pad(age_text(item["age_ms"].signed_number()), 5) + pad(kind, 12);
  const std::string name =
      (title.empty() ? "" : shorten(title, text.empty() ? 50 : 18) + " ") + short_id(session);
  if (text.empty()) {
    call.print_line(call.style().paint(ink, lead + name));
    return;
  }
  const std::string whole = lead + pad(name, 28);
  const std::size_t cells = call.world().console.size().cells;
  const std::size_t used = text_width(whole) + 1;
  call.print_line(call.style().paint(ink, whole) + " " +
                  shorten(text, cells > used + 20 ? cells - used : 20));
}

// The request and its answers, as far as the list has room. A question that is not shown completely
// cannot be answered from here.
Outcome<void> print_question(VerbCall& call, JsonView item) {
  Question question = read_question(item);
  TRY_VOID(load_asked(call, question));
  const SessionBrief session = TRY(call.session(question.session));
  const Style style = call.style();
  const std::size_t cells = std::max<std::size_t>(call.world().console.size().cells, 40);
  std::vector<std::string> rows =
      asked_rows(style, question.asked, where_of(session, call.host()), cells - indent.size() - 1);
  const std::vector<std::string> options = option_rows(style, question, cells - indent.size() - 1);
  rows.insert(rows.end(), options.begin(), options.end());
  const bool is_long = rows.size() > inbox_rows_max;
  const std::size_t shown = is_long ? inbox_rows_max / 2 : rows.size();
  for (std::size_t i = 0; i < shown; ++i) call.print_line(std::string(indent) + rows[i]);
  const std::string verb = "perdure answer " + question.permission;
  if (is_long || !question.asked.question.is_whole) {
    const std::string more =
        is_long ? "… " + std::to_string(rows.size() - shown) + " more rows. " : "";
    call.print_line(style.paint(Ink::dim, std::string(indent) + more + "Review: " + verb));
  } else {
    call.print_line(style.paint(Ink::dim, std::string(indent) + "Answer: " + verb));
  }
  return {};
}

Outcome<int> inbox(VerbCall& call) {
  const Answered answer = TRY(call.get("/api/inbox"));
  if (call.print_json(answer)) return exit_done;
  const std::vector<JsonView> items = answer["items"].items();
  if (items.empty()) {
    call.print_line("Nothing waits for you.");
    return exit_done;
  }
  std::size_t questions = 0;
  for (const JsonView item : items) {
    const bool is_shown = item["kind"].text() == "permission" && questions < inbox_questions_max;
    print_item(call, item, is_shown ? "" : clean_line(item["text"].text()));
    if (!is_shown) continue;
    questions += 1;
    // A question that was answered since then is not an error of the list.
    if (const auto done = print_question(call, item); !done && done.error().exit_code != 3) {
      return std::unexpected(done.error());
    }
  }
  return exit_done;
}

std::string list_questions(const std::vector<JsonView>& items) {
  std::string out = std::to_string(items.size()) + " questions are open. Name one:";
  for (const JsonView item : items) {
    out += "\n  " + item["perm_id"].text() + "  " + clean_line(item["session_title"].text()) +
           ": " + shorten(clean_line(item["text"].text()), 60);
  }
  return out;
}

// The only open question that the word matches: by a permission's id or its end, or by session.
Outcome<Question> find_question(VerbCall& call) {
  const std::string word = call.args().word(0);
  const Answered answer = TRY(call.get("/api/inbox"));
  std::vector<JsonView> open;
  for (const JsonView item : answer["items"].items()) {
    if (item["kind"].text() == "permission") open.push_back(item);
  }
  std::vector<JsonView> found;
  for (const JsonView item : open) {
    const std::string id = item["perm_id"].text();
    if (word.empty() || id == word || (word.size() >= 4 && id.ends_with(word))) {
      found.push_back(item);
    }
  }
  if (found.empty() && !word.empty() && !word.starts_with("perm_")) {
    const SessionBrief session = TRY(call.session(word));
    for (const JsonView item : open) {
      if (item["session_id"].text() == session.id) found.push_back(item);
    }
  }
  if (found.empty()) {
    return refused(Code::not_found, word.empty() ? "no question is open"
                                                 : "no open question of " + clean_line(word));
  }
  if (found.size() > 1) return refused(Code::conflict, list_questions(found));
  return read_question(found.front());
}

std::string option_list(const Question& question) {
  std::string names;
  for (const QuestionOption& option : question.options) {
    names += "\n  --option " + clean_line(option.id) + "  " + name_of(option);
    if (const std::string kind = kind_of(option); !kind.empty()) names += " (" + kind + ")";
  }
  return names;
}

// The answer that the call itself names: an option, or null if it withdraws the question.
Outcome<const QuestionOption*> named_option(VerbCall& call, const Question& question, Wish wish) {
  if (const auto wanted = call.args().value("option")) {
    const auto found = std::ranges::find(question.options, *wanted, &QuestionOption::id);
    if (found != question.options.end()) return &*found;
    return usage("the question has no option '" + clean_line(*wanted) +
                 "'. It has:" + option_list(question));
  }
  if (wish != Wish::any) {
    const Answer plain = wish == Wish::yes ? Answer::yes : Answer::no;
    if (const QuestionOption* option = option_for(question, plain)) return option;
    if (wish == Wish::no && has_no_refusal(question)) return nullptr;
  }
  return refused(Code::conflict, "name the answer:" + option_list(question));
}

Outcome<int> send_answer(VerbCall& call, const Question& question, const QuestionOption* option,
                         const std::string& session) {
  JsonWriter body;
  body.begin_object();
  if (option == nullptr) {
    body.key("cancel").boolean(true);
  } else {
    body.key("option_id").string(option->id);
  }
  const std::string digest = call.args().value("if-question").value_or(question.digest);
  if (!digest.empty()) body.key("if_question").string(digest);
  body.end_object();
  const Answered answered = TRY(call.change(
      {.path = "/api/permissions/" + question.permission, .body = std::move(body).take()}));
  const std::string chosen = option == nullptr ? "" : option->id;
  const bool was_first = !answered["nothing_to_do"].flag();
  const bool is_same = was_first || answered["option_id"].text() == chosen;
  if (!call.print_json(answered) && is_same) {
    call.print_line(answered_words(question, option, session));
  }
  if (is_same) return exit_done;
  const std::string standing = answered["option_id"].text();
  const auto found = std::ranges::find(question.options, standing, &QuestionOption::id);
  const std::string outcome = found == question.options.end()
                                  ? clean_line(answered["outcome"].text())
                                  : outcome_words(question, *found);
  return refused(Code::conflict, "it was answered before, by " +
                                     clean_line(answered["decided_by"].text()) + ": " + outcome);
}

// False: the user left before the end.
bool print_paged(VerbCall& call, const std::vector<std::string>& rows) {
  const std::size_t screen = call.world().console.size().rows;
  const std::size_t page = screen > 6 ? screen - 2 : 4;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && i % page == 0) {
      const auto typed =
          call.world().console.ask("-- " + std::to_string(rows.size() - i) +
                                   " more rows. Enter: read on, q: leave without an answer ");
      if (!typed || (!typed->empty() && *typed != " ")) return false;
    }
    call.print_line(rows[i]);
  }
  return true;
}

std::unexpected<Trouble> not_answered() {
  return refused(Code::conflict, "not answered; the question is still open");
}

// The option with the typed number; null for any other input.
const QuestionOption* typed_option(const Question& question, const std::string& typed) {
  std::size_t number = 0;
  const char* const end = typed.data() + typed.size();
  const auto [at, error] = std::from_chars(typed.data(), end, number);
  const bool is_number = error == std::errc() && at == end;
  if (!is_number || number < 1 || number > question.options.size()) return nullptr;
  return &question.options[number - 1];
}

struct Choice {
  bool is_made = false;
  const QuestionOption* option = nullptr;  // null: the question is withdrawn
};

// If the call names no answer or an ambiguous one, the person types a number; a plain yes or no is
// confirmed.
Choice ask_person(VerbCall& call, const Question& question, Wish wish) {
  const Outcome<const QuestionOption*> named = named_option(call, question, wish);
  if (named) {
    const std::string what = *named == nullptr
                                 ? std::string("Withdraw the question without an answer")
                                 : "Answer \"" + name_of(**named) + "\"";
    const auto typed = call.world().console.ask(what + "? [y/N] ");
    return {.is_made = typed == "y" || typed == "Y" || typed == "yes", .option = *named};
  }
  const std::string range = "1-" + std::to_string(question.options.size());
  const auto typed = call.world().console.ask("Which answer? [" + range + ", Enter: none] ");
  const QuestionOption* option = typed ? typed_option(question, *typed) : nullptr;
  return {.is_made = option != nullptr, .option = option};
}

// The rule that --always saves after the answer. It is chosen first, while the question is open.
Outcome<std::optional<std::string>> wanted_rule(VerbCall& call, const Question& question,
                                                const QuestionOption* option) {
  const bool allows = option != nullptr && !option->kind.starts_with("reject");
  if (!call.args().has("always") || !allows) return std::nullopt;
  auto rule = TRY(choose_rule_for(call, question.permission));
  if (!rule) return not_answered();
  return rule;
}

Outcome<int> answer_and_keep(VerbCall& call, const Question& question, const QuestionOption* option,
                             const std::string& session) {
  const std::optional<std::string> rule = TRY(wanted_rule(call, question, option));
  const int code = TRY(send_answer(call, question, option, session));
  if (rule && code == exit_done) TRY_VOID(keep_rule(call, *rule));
  return code;
}

Outcome<int> answer_on_terminal(VerbCall& call, Question question, Wish wish) {
  if (call.args().has("option")) TRY_VOID(named_option(call, question, wish));
  TRY_VOID(load_asked(call, question));
  const SessionBrief session = TRY(call.session(question.session));
  const Style style = call.style();
  const std::size_t cells = std::max<std::size_t>(call.world().console.size().cells, 20) - 1;
  std::vector<std::string> rows =
      asked_rows(style, question.asked, where_of(session, call.host()), cells);
  for (std::string& row : option_rows(style, question, cells)) rows.push_back(std::move(row));
  call.world().console.forget_typed();
  if (!print_paged(call, rows)) return not_answered();
  call.world().console.forget_typed();
  const Choice choice = ask_person(call, question, wish);
  if (!choice.is_made) return not_answered();
  const bool refuses = choice.option == nullptr || choice.option->kind.starts_with("reject");
  if (!question.asked.question.is_whole && !refuses) {
    return refused(Code::conflict,
                   "this question cannot be shown whole here, so it cannot be allowed here; "
                   "`perdure open` shows it in the browser");
  }
  return answer_and_keep(call, question, choice.option, session.name());
}

Outcome<int> answer_question(VerbCall& call, Wish wish) {
  const Question question = TRY(find_question(call));
  const bool is_person =
      call.world().console.is_interactive() && !call.args().has("yes") && !call.is_json();
  if (is_person) return answer_on_terminal(call, question, wish);
  // The question is not shown here, so the caller must name it.
  if (call.args().word(0) != question.permission) {
    return usage("without a terminal, name the question that is meant: perdure " +
                 std::string(call.verb().name) + " " + question.permission);
  }
  const QuestionOption* option = TRY(named_option(call, question, wish));
  Question loaded = question;
  if (!call.is_json()) TRY_VOID(load_asked(call, loaded));
  const SessionBrief session = TRY(call.session(question.session));
  return answer_and_keep(call, loaded, option, session.name());
}

Outcome<int> approve(VerbCall& call) { return answer_question(call, Wish::yes); }
Outcome<int> deny(VerbCall& call) { return answer_question(call, Wish::no); }
Outcome<int> answer(VerbCall& call) { return answer_question(call, Wish::any); }

std::vector<Option> answer_options() {
  return {{.name = "option", .value_name = "ID", .help = "one of the agent's answers, by its id"},
          {.name = "yes", .letter = 'y', .help = "do not show and ask; needs the question's id"},
          {.name = "if-question",
           .value_name = "DIGEST",
           .help = "refuse if it is another question (`digest` in inbox --json)"}};
}

std::vector<Option> approve_options() {
  std::vector<Option> options = answer_options();
  options.push_back({.name = "always",
                     .help = "also keep a rule that allows such questions from now on; it is tried "
                             "on past questions first"});
  return options;
}

}  // namespace

std::vector<Verb> decide_verbs() {
  const Positional question = {"QUESTION", Count::optional, Completes::permission};
  return {
      {.name = "inbox",
       .group = Group::decide,
       .summary = "what waits for a person, over all sessions",
       .detail = "Shows what each question asks for. A long one is cut, and `perdure answer` shows "
                 "all of it.",
       .example = "perdure inbox",
       .run = inbox},
      {.name = "answer",
       .group = Group::decide,
       .summary = "show an agent's question and choose an answer",
       .positionals = {question},
       .options = answer_options(),
       .detail = "QUESTION is its id or the session that asks. It may be left out while only one "
                 "is open. Without a terminal, or with --yes or --json, name the question's id and "
                 "--option.",
       .example = "perdure answer parser\n"
                  "perdure answer perm_01m7gcyk958nvgc8p86b20ewxe --option allow_always",
       .run = answer},
      {.name = "approve",
       .group = Group::decide,
       .summary = "show an agent's question and allow it once",
       .positionals = {question},
       .options = approve_options(),
       .detail = "Shows the whole request, then asks y/N. Without a terminal, or with --yes or "
                 "--json, it does not ask: then QUESTION has to be the question's id, as in "
                 "`perdure inbox --json`. Exit code 4: not answered, or someone else answered "
                 "first.",
       .example = "perdure approve parser\n"
                  "perdure approve perm_01m7gcyk958nvgc8p86b20ewxe --yes",
       .run = approve},
      {.name = "deny",
       .group = Group::decide,
       .summary = "show an agent's question and refuse it",
       .positionals = {question},
       .options = answer_options(),
       .detail = "Like approve: it shows the request and asks y/N, and a script names the "
                 "question's id.",
       .example = "perdure deny parser",
       .run = deny},
  };
}

}  // namespace perdure::cli
