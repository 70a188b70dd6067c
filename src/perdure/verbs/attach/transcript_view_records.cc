// The rows of everything except conversation: runs and their ends, questions, boundaries, the
// agent's process.
#include <algorithm>

#include "perdure/verbs/attach/transcript_view.h"
#include "perdure/verbs/question/answers.h"
#include "perdure/verbs/words.h"

namespace perdure::cli {
namespace {

constexpr std::size_t question_rows_max = 40;  // of a question that cannot be answered here

}  // namespace

bool TranscriptView::add_run_record(std::string_view kind, JsonView record) {
  if (kind == "run.started") {
    run_ = record["run_id"].text();
    if (run_.empty()) run_ = "run";
    is_cancelling_ = false;
  } else if (kind == "run.cancelling") {
    is_cancelling_ = true;
  } else if (kind == "run.stalled") {
    end_speech();
    add_row(Ink::yellow, "… ",
            "the agent has been quiet for " + age_text(record["quiet_ms"].signed_number()));
    notices_.push_back(Notice::stalled);
  } else if (kind == "run.completed") {
    settle_all("unknown");
    end_run("completed");
    const std::string reason = record["stop_reason"].text();
    if (!reason.empty() && reason != "end_turn") {
      add_row(Ink::yellow, "■ ", "ended: " + clean_line(reason));
    }
    notices_.push_back(Notice::finished);
  } else if (kind == "run.failed") {
    end_run("failed");
    const std::string message = clean_line(record["message"].text());
    add_row(Ink::red, "✗ ", "failed: " + (message.empty() ? record["code"].text() : message));
    notices_.push_back(Notice::failed);
  } else if (kind == "limit.waiting") {
    const std::string at = record["reset_at"].text();
    add_row(Ink::yellow, "… ", "usage limit reached until " + clean_line(at));
  } else if (kind == "limit.over") {
    const bool goes_on = record["outcome"].text() == "continued";
    add_row(Ink::yellow, "… ",
            goes_on ? "the limit was reset; it continues automatically" : "the limit was reset");
  } else if (kind == "session.adopted") {
    add_row(Ink::dim, "· ",
            "adopted from " + clean_line(record["agent"].text()) + ": " +
                std::to_string(record["turns"].number()) + " turns");
  } else if (kind == "run.cancelled") {
    end_run("cancelled");
    add_row(Ink::yellow, "■ ", "cancelled");
  } else if (kind == "run.interrupted") {
    end_run("interrupted");
    add_row(Ink::yellow, "⚡ ", "interrupted: " + interruption_words(record["reason"].text()));
    notices_.push_back(Notice::failed);
  } else {
    return false;
  }
  return true;
}

void TranscriptView::end_run(std::string_view end) {
  end_speech();
  settle_all(end == "cancelled" ? "cancelled" : "unknown");
  run_.clear();
  is_cancelling_ = false;
  last_end_ = end;
  for (const Question& question : questions_) {
    if (open_questions_ == OpenQuestions::apart) add_question(question);
  }
  questions_.clear();
}

void TranscriptView::add_question(const Question& question) {
  if (open_questions_ == OpenQuestions::apart) {
    add_row(Ink::yellow, "? ", clean_line(question.title));
    return;
  }
  std::vector<std::string> rows = asked_rows(style_, question.asked, {}, cells_);
  const std::vector<std::string> options = option_rows(style_, question, cells_);
  rows.insert(rows.end(), options.begin(), options.end());
  const std::size_t shown = std::min(rows.size(), question_rows_max);
  rows_.insert(rows_.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown == rows.size()) return;
  add_row(Ink::yellow, "  ",
          "… " + std::to_string(rows.size() - shown) + " more rows; `perdure answer " +
              question.permission + "` shows them all");
}

// One that is shown apart is read from the daemon, which has all of it.
Asked TranscriptView::asked_of(JsonView record) const {
  if (open_questions_ == OpenQuestions::apart) return read_question(record).asked;
  const auto tool = std::ranges::find(tools_, record["tool_call_id"].text(), &Tool::id);
  if (tool == tools_.end()) return read_asked_record(record, {});
  Asked asked = read_asked_record(record, tool->updates);
  if (tool->updates.size() >= tool_updates_max) asked.question.is_whole = false;
  return asked;
}

void TranscriptView::add_details(const std::string& permission, JsonView details) {
  const auto question = std::ranges::find(questions_, permission, &Question::permission);
  if (question == questions_.end()) return;
  question->asked = read_asked(details);
  question->digest = details["digest"].text();
}

bool TranscriptView::add_wait_record(std::string_view kind, JsonView record) {
  if (kind == "permission.requested") {
    end_speech();
    Question question = read_question(record);
    question.since = read_time(record["ts"]);
    question.asked = asked_of(record);
    if (open_questions_ == OpenQuestions::in_rows) add_question(question);
    questions_.push_back(std::move(question));
    notices_.push_back(Notice::needs_input);
  } else if (kind == "permission.resolved") {
    resolve(record);
  } else {
    return false;
  }
  return true;
}

void TranscriptView::resolve(JsonView record) {
  end_speech();
  const auto question =
      std::ranges::find(questions_, record["perm_id"].text(), &Question::permission);
  const std::string outcome = record["outcome"].text();
  std::string words = outcome;
  if (outcome == "selected") {
    words = record["option_name"].text();
    if (words.empty()) words = record["option_id"].text();
    if (question != questions_.end()) {
      const auto option = std::ranges::find(question->options, words, &QuestionOption::id);
      if (option != question->options.end() && !option->name.empty()) words = option->name;
    }
  }
  const std::string by = record["by"].text();
  if (open_questions_ == OpenQuestions::apart && question != questions_.end()) {
    add_question(*question);
  }
  add_row(Ink::dim, "  → ", clean_line(words + (by.empty() ? "" : " (" + by + ")")));
  if (question != questions_.end()) questions_.erase(question);
}

bool TranscriptView::add_session_record(std::string_view kind, JsonView record) {
  if (kind == "context.boundary") {
    // The first start of a session is not worth a line: there was no context to lose.
    if (record["reason"].text() == "never_prompted" && last_end_.empty()) return true;
    add_rule(Ink::magenta, boundary_words(record));
  } else if (kind == "context.injected") {
    add_rule(Ink::magenta, "history of " + std::to_string(record["turns"].number()) + " of " +
                               std::to_string(record["turns_of"].number()) +
                               " turns were sent with the prompt");
  } else if (kind == "resume.failed") {
    const bool first = record["gen"].number() == 1;
    add_rule(Ink::red, (first ? "the agent did not start: " : "the agent was not resumed: ") +
                           record["message"].text());
    notices_.push_back(Notice::failed);
  } else if (kind == "session.created" || kind == "session.renamed") {
    title_ = clean_line(record["title"].text());
  } else if (kind == "session.stopped") {
    add_rule(Ink::dim, "stopped: " + record["reason"].text());
  } else if (kind == "session.archived") {
    add_rule(Ink::dim, "archived");
  } else if (kind == "executor.error") {
    add_rule(Ink::red, "the agent's host has a problem: " + record["message"].text());
  } else if (kind == "agent.exited") {
    const std::string why = record["why"].text();
    if (why == "stopped" || why == "exited") return true;
    add_rule(Ink::red, "the agent ended: " + why);
    const std::string tail = clean_text(record["stderr_tail"].text());
    if (!tail.empty()) add_row(Ink::dim, "  ", clean_line(tail));
  } else if (kind == "mode") {
    const bool is_here = !record["imported"].flag();
    if (is_here && record["option"].text() == "mode") mode_ = clean_line(record["value"].text());
  } else if (kind == "usage") {
    const std::uint64_t size = record["size"].number();
    used_percent_ =
        size == 0 ? 0 : std::min<std::uint64_t>(record["used"].number(), size) * 100 / size;
  } else if (kind == "repair.truncated") {
    add_rule(Ink::red, "records were lost here: " + record["why"].text());
  } else if (kind == "redacted") {
    add_row(Ink::dim, "", "(redacted)");
  } else {
    return false;
  }
  return true;
}

}  // namespace perdure::cli
