// What people see of a session without opening it: its row in the list, a fork's title, the output
// of an agent that failed to start. Recomputed here from the records alone.
#include <charconv>
#include <sstream>

#include "sim/judges/ledger.h"

namespace perdure::sim {
namespace {

// "a" → "a (fork)" → "a (fork 2)" → "a (fork 3)".
std::string title_of_fork(const std::string& title) {
  constexpr std::string_view word = " (fork";
  const std::size_t at = title.rfind(word);
  if (at == std::string::npos || !title.ends_with(')')) return title + " (fork)";
  const std::string_view inside(title.data() + at + word.size(),
                                title.size() - at - word.size() - 1);
  std::uint64_t number = 1;
  if (!inside.empty()) {
    const char* const last = inside.data() + inside.size();
    const auto [end, error] = std::from_chars(inside.data() + 1, last, number);
    if (inside.front() != ' ' || error != std::errc() || end != last) return title + " (fork)";
  }
  return title.substr(0, at) + " (fork " + std::to_string(number + 1) + ")";
}

// The last non-empty line of a program's output, up to where a row cuts it.
std::string last_words(const std::string& said) {
  std::string last;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  }
  while (!last.empty() && (last.back() == ' ' || last.back() == '\r')) last.pop_back();
  return last.size() > 100 ? std::string() : last;
}

}  // namespace

void Ledger::see_title_of_copy(const std::string& title) {
  renamed_ = true;
  const bool nameless = title_.empty() && title.starts_with("fork of ");
  expect(nameless || title == title_of_fork(title_), "C7", "a fork is called '" + title + "'");
}

// For an agent that ended before its session was open, the failure says how (L37).
void Ledger::see_early_end(const ResumeFailed& e) {
  if (e.failure != OpenFailure::startup || !owed_.exit || copying_) return;
  const AgentExited& exit = *owed_.exit;
  std::string words = "before its session was open";
  if (exit.why == "not_started") {
    words = "could not be started";
  } else if (exit.signal) {
    words = "by signal " + std::to_string(*exit.signal) + " " + words;
  } else if (exit.exit_code) {
    words = "with code " + std::to_string(*exit.exit_code) + " " + words;
  }
  expect(e.message.contains(words), "L37", "an early end is told as '" + e.message + "'");
  const std::string reason = last_words(exit.stderr_tail);
  expect(e.message.ends_with(reason) && !e.message.contains('\n'), "L37",
         "of an early end's reason '" + reason + "' is told '" + e.message + "'");
}

// L15: its agent was lost and keeps nothing, and the next one gets no history.
bool Ledger::is_beyond_resume() const {
  const bool ended_by_somebody =
      !stop_reason_.empty() && stop_reason_ != "agent_crashed" && stop_reason_ != "interrupted";
  return exec_.gen != 0 && exec_gone_ && !ended_by_somebody && !agent_keeps() && !may_be_told();
}

bool Ledger::agent_keeps() const {
  return agent_.supports_session_resume && agent_.native_session_resume;
}

bool Ledger::may_be_told() const {
  return policy_.inject != Inject::off || agent_.history_context_injection;
}

bool Ledger::has_what_to_resume() const {
  const bool has_id = !agent_session_id_.empty() && !rejected_ && context_cwd_ == workspace_cwd_;
  return may_be_told() || (agent_keeps() && has_id);
}

// The one problem shown in a row: a failed resume, otherwise an execution that was lost or never
// started, otherwise the last run.
Failure Ledger::shown_failure() const {
  if (failure_) return {"", failure_->code, failure_->message};
  const bool was_lost = exec_gone_ && !run_ && !exec_error_code_.empty();
  if (was_lost || exec_status_ == ExecutorStatus::error) {
    return {"", exec_error_code_, exec_error_};
  }
  const bool failed = !run_ && last_run_ && last_run_->end == RunEnd::failed;
  if (failed) return Failure{"", last_run_->code, last_run_->message};
  if (run_ || !is_beyond_resume()) return {};
  return {"", "not_resumable", "this agent cannot resume; create a new session"};
}

// The list row that is stored with the batch.
void Ledger::see_listing(const Listing& listing) {
  const SessionSummary row = read_summary(listing.summary);
  // Half a fork is not a session yet: its row only says that it is being copied.
  if (row.copying) return;
  expect(listing.open || !needs_reconcile(), "Q5", "reconcile would pass the session over");
  expect(listing.archived == archived_, "C7", "the list says otherwise about archived");
  expect(row.task == task_ && row.title == title_ && row.agent == agent_.name, "C7",
         "the list has another task, title or agent");
  expect(row.cwd == workspace_cwd_ && row.created == created_, "C7",
         "the list has another folder or age");
  expect(row.stop_reason == stop_reason_, "C7", "the list has another reason of the stop");
  expect(row.queue == queue_.size() && row.queue_held == fold_.queue_held, "C7",
         "the list has another queue");
  const Failure failure = shown_failure();
  expect(row.error == failure.message && row.error_code == failure.code, "C7",
         "the list has the error '" + row.error + "' and not '" + failure.message + "'");
  see_listed_execution(row.executor);
}

void Ledger::see_listed_execution(const std::optional<ExecutorSummary>& listed) {
  if (!expect(listed.has_value() == (exec_.gen != 0), "L8", "an execution is listed, or is not")) {
    return;
  }
  if (!listed) return;
  expect(listed->exec == exec_.exec && listed->gen == exec_.gen, "L8", "another one is listed");
  expect(listed->status == exec_status_ && listed->error_message == exec_error_, "L8",
         "the list has another state of the execution");
  expect(listed->url == exec_ready_.url && listed->pid == exec_ready_.pid, "L8",
         "the list has another process");
}

}  // namespace perdure::sim
