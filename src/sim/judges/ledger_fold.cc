// Compares the product's fold with the ledger's own, field by field, so that a bug in evolve()
// cannot hide itself.
#include <algorithm>

#include "sim/judges/ledger.h"

namespace perdure::sim {

void Ledger::see_fold() {
  const auto same = [&](bool condition, const char* field) {
    if (!condition) expect(false, "J4", std::string("the fold has another ") + field);
  };
  const State& s = fold_;
  same(s.title == title_ && s.task == task_, "title or task");
  same(s.runtime == runtime_ && s.image == image_ && s.remote == remote_,
       "runtime, image or remote");
  same(s.agent == agent_ && s.policy == policy_ && s.workspace.cwd == workspace_cwd_,
       "agent, policy or folder");
  same(s.mcp_servers.text == mcp_servers_, "mcp_servers");
  same(s.updated == updated_ && s.created == created_, "time");
  same(s.archived == archived_, "archived");
  same(s.stop_reason == stop_reason_, "stop_reason");
  same(s.options == observed_ && s.requested == requested_, "options");
  same(s.last_boot == last_boot_, "last_boot");
  same(s.resume == resume_, "resume");
  same(s.failure.has_value() == failure_.has_value() && (!failure_ || *s.failure == *failure_),
       "failure");
  see_fold_of_run();
  see_fold_of_execution();
  see_fold_of_context();
}

void Ledger::see_fold_of_run() {
  const auto same = [&](bool condition, const char* field) {
    if (!condition) expect(false, "J4", std::string("the fold has another ") + field);
  };
  const State& s = fold_;
  same(s.run.has_value() == run_.has_value() &&
           (!run_ || (s.run->id == run_->id && s.run->cancelling == run_->cancelling &&
                      s.run->message == run_->message)),
       "run");
  same(s.runs == runs_ && s.auto_continued == auto_continued_, "number or kind of runs");
  same(s.last_run.has_value() == last_run_.has_value() && (!last_run_ || *s.last_run == *last_run_),
       "last run");
  same(s.message_open == (run_ && run_->message_open), "open message");
  same(s.open_tools.size() == (run_ ? run_->tools.size() : 0), "open tools");
  const bool queue_same =
      std::ranges::equal(s.queue, queue_, [](const QueuedPrompt& a, const Queued& b) {
        return a.message == b.message && a.held == b.held && a.prompt->text == b.text &&
               a.steering == b.steering;
      });
  same(queue_same, "queue");
  same(s.limit == limit_ && s.limit_series == limit_series_, "limit");
  same(s.queue_held == std::ranges::any_of(queue_, &Queued::held), "queue_held");
  same(s.waits.size() == active_tokens_.size() &&
           std::ranges::all_of(
               s.waits, [&](const auto& entry) { return active_tokens_.contains(entry.first); }),
       "waits");
  same(s.permissions.size() == open_permissions_.size(), "permissions");
}

void Ledger::see_fold_of_execution() {
  const auto same = [&](bool condition, const char* field) {
    if (!condition) expect(false, "J4", std::string("the fold's execution has another ") + field);
  };
  const Execution& e = fold_.exec;
  same(e.id == exec_.exec && e.gen == exec_.gen, "id");
  if (exec_.gen == 0) return;
  same(e.gone == exec_gone_, "gone");
  same(e.status == exec_status_, "status");
  same(e.error_code == exec_error_code_ && e.error_message == exec_error_, "error");
  same(exec_gone_ || e.stop_requested == stop_requested_, "stop_requested");
  same(e.boot == exec_boot_ && e.last_seen == exec_seen_, "boot or last_seen");
  same(e.instance == exec_ready_.instance && e.url == exec_ready_.url && e.pid == exec_ready_.pid &&
           e.pid_started == exec_ready_.pid_started && e.container_id == exec_ready_.container_id,
       "process");
  same(e.supports_workspace_only == exec_ready_.supports_workspace_only &&
           e.tells_steered == exec_ready_.tells_steered,
       "ability");
  same(e.home == exec_start_.home && e.host_boot == exec_start_.host_boot &&
           e.ready_by == exec_start_.ready_by && e.runtime == exec_start_.runtime,
       "start");
  same(!exec_gone_ || e.agent == AgentPhase::none || copied_records_ > 0, "agent behind its end");
  if (exec_gone_) return;
  same((e.agent == AgentPhase::ready) == agent_ready_, "ready agent");
  same((e.agent == AgentPhase::opening) == agent_opening_, "opening agent");
}

void Ledger::see_fold_of_context() {
  const auto same = [&](bool condition, const char* field) {
    if (!condition) expect(false, "J4", std::string("the fold's context has another ") + field);
  };
  const Context& c = fold_.context;
  same(c.agent_session_id == agent_session_id_ && c.rejected == rejected_, "agent session");
  same(c.how == context_how_ && c.boundary == boundary_ && c.verified == verified_, "boundary");
  same(c.prompts == prompts_ && c.turns == turns_, "count of prompts or turns");
  same(c.history_from == history_from_ && c.history_prompts == history_prompts_, "history");
  same(c.inject_armed == inject_armed_, "arm");
  same(c.cwd == context_cwd_ && c.opened == context_opened_, "cwd or age");
  same(c.last_agent_message_id == last_agent_message_, "last message");
}

}  // namespace perdure::sim
