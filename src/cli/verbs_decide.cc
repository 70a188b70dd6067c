// Verbs that answer: inbox, approve, deny. A plain yes is for this once, never for always.
#include <algorithm>

#include "base/json.h"
#include "cli/clean_text.h"
#include "cli/verb_call.h"
#include "cli/verbs.h"
#include "cli/width.h"

namespace perdure::cli {
namespace {

Outcome<int> inbox(VerbCall& call) {
  const Answered answer = TRY(call.get("/api/inbox"));
  if (call.print_json(answer)) return exit_done;
  const std::vector<JsonView> items = answer["items"].items();
  if (items.empty()) {
    call.print_line("Nothing waits for you.");
    return exit_done;
  }
  const Style style = call.style();
  const std::size_t cells = call.world().console.size().cells;
  for (const JsonView item : items) {
    const std::string session = item["session_id"].text();
    const std::string title = clean_line(item["session_title"].text());
    const std::string kind = clean_line(item["kind"].text());
    const bool is_question = kind == "permission" || kind == "input";
    const std::string lead =
        pad(age_text(item["age_ms"].signed_number()), 5) + pad(kind, 12) +
        pad((title.empty() ? "" : shorten(title, 18) + " ") + short_id(session), 28);
    const std::size_t used = text_width(lead) + 1;
    call.print_line(
        style.paint(is_question ? Ink::yellow : Ink::dim, lead) + " " +
        shorten(clean_line(item["text"].text()), cells > used + 20 ? cells - used : 20));
    std::string options;
    for (const QuestionOption& option : read_question(item).options) {
      options += (options.empty() ? "" : ", ") + clean_line(option.id);
    }
    if (!options.empty()) {
      call.print_line(style.paint(Ink::dim, "     " + item["perm_id"].text() + ": " + options));
    }
  }
  return exit_done;
}

std::unexpected<Trouble> refused(Code code, std::string message) {
  return std::unexpected(Trouble::of(Error(code, std::move(message))));
}

// The one open question that the word means: of a permission's id or its end, or of a session.
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
    return refused(Code::not_found, word.empty() ? "nothing waits for an answer"
                                                 : "no open question of " + clean_line(word));
  }
  if (found.size() > 1) {
    std::string list;
    for (const JsonView item : found) list += (list.empty() ? "" : ", ") + item["perm_id"].text();
    return refused(Code::conflict, "several questions are open, name one: " + list);
  }
  return read_question(found.front());
}

Outcome<std::string> choose(VerbCall& call, const Question& question, Answer answer) {
  std::string names;
  for (const QuestionOption& option : question.options) {
    names += (names.empty() ? "" : ", ") + clean_line(option.id);
  }
  if (const auto wanted = call.args().value("option")) {
    const auto found = std::ranges::find(question.options, *wanted, &QuestionOption::id);
    if (found != question.options.end()) return found->id;
    return usage("the question has no option '" + clean_line(*wanted) + "', but: " + names);
  }
  if (const QuestionOption* option = option_for(question, answer)) return option->id;
  if (answer == Answer::no) return std::string();  // cancelled
  return refused(Code::conflict, "the question has no plain yes; choose with --option: " + names);
}

Outcome<int> answer_question(VerbCall& call, Answer answer) {
  const Question question = TRY(find_question(call));
  const std::string option = TRY(choose(call, question, answer));
  JsonWriter body;
  body.begin_object();
  if (option.empty()) {
    body.key("cancel").boolean(true);
  } else {
    body.key("option_id").string(option);
  }
  body.end_object();
  const Answered answered = TRY(call.change(
      {.path = "/api/permissions/" + question.permission, .body = std::move(body).take()}));
  if (call.print_json(answered)) return exit_done;
  call.print_line((option.empty() ? "cancelled" : clean_line(option)) + ": " +
                  clean_line(question.title));
  return exit_done;
}

Outcome<int> approve(VerbCall& call) { return answer_question(call, Answer::yes); }
Outcome<int> deny(VerbCall& call) { return answer_question(call, Answer::no); }

}  // namespace

std::vector<Verb> decide_verbs() {
  const Positional question = {"QUESTION", Count::optional, Completes::permission};
  const Option option = {
      .name = "option", .value_name = "ID", .help = "another answer that the agent offers"};
  return {
      {.name = "inbox",
       .group = Group::decide,
       .summary = "what waits for a person, over all sessions",
       .example = "perdure inbox",
       .run = inbox},
      {.name = "approve",
       .group = Group::decide,
       .summary = "answer an agent's question with yes, for this once",
       .positionals = {question},
       .options = {option},
       .detail = "QUESTION is its id or the session that asks; without it the only open one.",
       .example = "perdure approve parser\nperdure approve parser --option allow_always",
       .run = approve},
      {.name = "deny",
       .group = Group::decide,
       .summary = "answer an agent's question with no",
       .positionals = {question},
       .options = {option},
       .example = "perdure deny parser",
       .run = deny},
  };
}

}  // namespace perdure::cli
