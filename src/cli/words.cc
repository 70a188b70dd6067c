#include "cli/words.h"

#include "cli/clean_text.h"

namespace perdure::cli {
namespace {

std::string how_words(std::string_view how) {
  if (how == "fresh") return "a new start without history";
  if (how == "native_resume") return "resumed by the agent itself";
  if (how == "native_load") return "loaded by the agent from its own store";
  if (how == "injected") return "a new start, with the history put before the next prompt";
  if (how == "cleared") return "cleared";
  if (how == "compacted") return "compacted by the agent";
  if (how == "handover") return "handed over to another agent";
  return std::string(how);
}

std::string verified_words(std::string_view verified) {
  if (verified == "full") return "all of it was seen again";
  if (verified == "partial") return "part of it was seen again";
  if (verified == "id_only") return "the agent confirmed the session, not its content";
  return {};
}

std::string rung_sentence(std::string_view rung) {
  if (rung == "attach") return "The agent was alive and was attached to; it knows everything.";
  if (rung == "resume") return "The agent resumed its own session.";
  if (rung == "load") return "The agent loaded its own session.";
  if (rung == "inject") return "The agent started anew; the history goes along with a prompt.";
  if (rung == "new") return "The agent started anew and knows nothing of what was before.";
  return "No way of resuming served; nothing was changed or lost.";
}

// Codes of the journal in words; what is a sentence already stays.
std::string reason_words(std::string reason) {
  if (reason == "capability_missing") return "the agent cannot restore sessions";
  if (reason == "session_unknown") return "the agent does not know its session any more";
  if (reason == "never_prompted") return "the agent has no session of its own to go on with";
  if (reason == "not_restored") return "the agent said yes and did not restore its session";
  if (reason == "other_session") return "the agent gave another session than the one asked for";
  if (reason == "cwd_changed") return "the session works in another folder now";
  return reason;
}

std::string attempt_words(JsonView attempt) {
  const std::string method = attempt["method"].text();
  const std::string message = clean_line(attempt["message"].text());
  std::string out = "session/" + method + ": " + attempt["failure"].text();
  if (!message.empty()) out += " (" + message + ")";
  return out;
}

std::string since_words(Timestamp since, Timestamp now) {
  return since.ms == 0 ? "" : " for " + age_text(now.ms - since.ms);
}

void add_pending(const SessionBrief& session, Timestamp now, std::vector<std::string>& out) {
  for (const Question& question : session.pending) {
    const std::string title = clean_line(question.title);
    if (!question.answerable) {
      out.push_back("The question \"" + title +
                    "\" cannot be answered any more: who asked is gone, or its time is over.");
      continue;
    }
    out.push_back("The agent has been asking" + since_words(question.since, now) + ": \"" + title +
                  "\". Answer with `perdure approve " + short_id(session.id) +
                  "` or `perdure deny " + short_id(session.id) + "`.");
  }
}

void add_resume(const SessionBrief& session, std::vector<std::string>& out) {
  const std::string resume = "`perdure resume " + short_id(session.id) + "`";
  if (session.archived) {
    out.emplace_back("It is archived: it can be read, and takes no new work.");
  } else if (session.needs_resume && session.resume_reason == "agent_not_running_fresh_start") {
    out.push_back("Its agent is not running and left no id to resume by; " + resume +
                  " starts it anew, with the history before the next prompt.");
  } else if (session.needs_resume) {
    out.push_back("Its agent is not running; " + resume + " or the next prompt brings it back.");
  } else if (session.executor_status == "stopped" && session.is_resumable) {
    out.push_back("Its agent is not running; the next prompt or " + resume + " brings it back.");
  } else if (session.resume_reason == "not_resumable") {
    out.push_back("This agent cannot resume a session: a prompt starts it without what it knew.");
  } else if (session.resume_reason == "missing_resume_token") {
    out.emplace_back(
        "There is no id to resume by and the history is not given along: a prompt "
        "starts the agent without what it knew.");
  }
}

// What comes of the limit's end, as the daemon foretells it.
std::string limit_sentence(std::string_view at_reset, const std::string& id) {
  if (at_reset == "continued") return "It goes on by itself then.";
  if (at_reset == "too_often") return "It went on by itself as often as it may; prompt it then.";
  if (at_reset == "too_late") return "That is later than it may go on by itself; prompt it then.";
  if (at_reset == "tool_open") {
    return "A tool call was cut off, so it does not go on by itself; look, and prompt it then.";
  }
  if (at_reset == "queue_full") return "Its queue is full, so it does not go on by itself.";
  return "It does not go on by itself; prompt it then with `perdure send " + id + "`.";
}

void add_limit(const SessionBrief& session, Timestamp now, std::vector<std::string>& out) {
  if (session.limit_reset.ms != 0) {
    out.push_back("The limit of its agent's provider is used up " +
                  reset_words(session.limit_reset, now) + ". " +
                  limit_sentence(session.limit_at_reset, short_id(session.id)));
  }
  if (!needs_login(session)) return;
  out.push_back("The agent needs a login" +
                (session.login_hint.empty() ? std::string(": log in with its own program")
                                            : ": " + clean_line(session.login_hint)) +
                ". Then prompt it again.");
}

std::string status_sentence(const SessionBrief& session) {
  const std::string name = "\"" + clean_line(session.name()) + "\" ";
  if (session.status == "waiting" && session.limit_reset.ms != 0) {
    return name + "is waiting for the end of a limit.";
  }
  if (session.status == "running") return name + "is running: the agent works on a prompt.";
  if (session.status == "waiting") return name + "is waiting: the agent needs an answer.";
  if (session.status == "interrupted_startup") {
    return name + "was interrupted: its last run was under way when the agent's process was lost.";
  }
  if (session.status == "interrupted_waiting") {
    return name + "was interrupted while it waited for an answer that did not come in time.";
  }
  if (session.state == "FAILED" && session.error_code == "startup") {
    return name + "is idle; its agent could not be started.";
  }
  if (session.state == "FAILED") return name + "is idle; its last run has failed.";
  if (session.state == "ERROR") return name + "is idle; its agent could not be brought back.";
  if (session.state == "CANCELLED") return name + "is idle; its last run was cancelled.";
  if (session.state == "STARTING") return name + "is starting its agent.";
  return name + "is idle: nothing is under way, and it takes prompts.";
}

}  // namespace

std::vector<std::string> receipt_sentences(JsonView receipt) {
  std::vector<std::string> out;
  if (receipt["already_running"].flag()) {
    out.emplace_back("The session was running already; nothing was started.");
    return out;
  }
  const std::string rung =
      receipt["rung_name"].is_there() ? receipt["rung_name"].text() : receipt["rung"].text();
  out.push_back(rung_sentence(rung));
  if (const std::string verified = verified_words(receipt["verified"].text()); !verified.empty()) {
    out.push_back("Of its context, " + verified + ".");
  }
  if (const JsonView injected = receipt["injected"]; injected.is_object()) {
    out.push_back("The history of " + std::to_string(injected["turns"].number()) + " of " +
                  std::to_string(injected["of"].number()) + " turns went along (" +
                  std::to_string(injected["chars"].number()) + " characters).");
  } else if (receipt["inject_armed"].flag()) {
    out.emplace_back("The history goes along with the next prompt.");
  }
  for (const JsonView lost : receipt["lost"].items()) {
    out.push_back("Lost: " + clean_line(lost.text()));
  }
  if (const std::string reason = reason_words(clean_line(receipt["reason"].text()));
      !reason.empty()) {
    out.push_back("Why not better: " + reason + ".");
  }
  for (const JsonView attempt : receipt["attempts"].items()) {
    out.push_back("Tried " + attempt_words(attempt) + ".");
  }
  return out;
}

std::string boundary_words(JsonView record) {
  std::string out = "context: " + how_words(record["how"].text());
  if (const std::string agent = clean_line(record["agent"].text()); !agent.empty()) {
    out += " " + agent;
  }
  if (const std::string words = verified_words(record["verified"].text()); !words.empty()) {
    out += "; " + words;
  }
  if (const std::string reason = reason_words(clean_line(record["reason"].text()));
      !reason.empty()) {
    out += " (" + reason + ")";
  }
  return out;
}

std::string interruption_words(std::string_view reason) {
  if (reason == "process_exit") return "the agent's process ended";
  if (reason == "process_restart") return "the daemon and the agent were gone";
  if (reason == "wait_timeout") return "nobody answered in time";
  if (reason == "wait_lost") return "who asked is gone";
  if (reason == "forked") return "the copy was made in the middle of it";
  return clean_line(reason);
}

std::string reset_words(Timestamp reset, Timestamp now) {
  const std::string at = format_timestamp(reset);
  const bool is_near = reset.ms - now.ms < 20 * 3600'000LL;
  const std::string when = is_near ? at.substr(11, 5) : at.substr(0, 10) + " " + at.substr(11, 5);
  return "until " + when + " UTC (in " + age_text(reset.ms - now.ms) + ")";
}

bool needs_login(const SessionBrief& session) {
  return session.error_code == "auth_needed" || session.error_code == "auth";
}

std::vector<std::string> why_sentences(const SessionBrief& session, Timestamp now) {
  std::vector<std::string> out;
  out.push_back(status_sentence(session));
  add_pending(session, now, out);
  add_limit(session, now, out);
  if (const std::string message = clean_line(session.error_message); !message.empty()) {
    out.push_back("What went wrong: " + message +
                  (session.error_code.empty() ? "" : " [" + session.error_code + "]") + ".");
  }
  if (!session.stop_reason.empty()) {
    out.push_back("It was last stopped because: " + clean_line(session.stop_reason) + ".");
  }
  if (session.liveness == "unknown") {
    out.emplace_back(
        "Whether its agent is alive is not known just now; that is not taken for dead.");
    const std::string reason = clean_line(session.liveness_reason);
    if (!reason.empty()) out.push_back("Why not: " + reason + ".");
  }
  if (session.runtime == "local_docker") {
    out.push_back("It runs in a container of the image " + clean_line(session.image) +
                  (session.container_id.empty()
                       ? std::string("; just now it has none.")
                       : ": " + clean_line(session.container_id).substr(0, 12) + "."));
  }
  if (session.runtime == "remote") {
    out.push_back("It runs on the host " + clean_line(session.remote) + ".");
  }
  if (session.queue_held) {
    out.push_back((session.queue_length == 1
                       ? std::string("A prompt is")
                       : std::to_string(session.queue_length) + " prompts are") +
                  " held back: `perdure resume " + short_id(session.id) +
                  " --release` lets them go on; a new prompt goes before them.");
  } else if (session.queue_length > 0) {
    out.push_back((session.queue_length == 1
                       ? std::string("A prompt is")
                       : std::to_string(session.queue_length) + " prompts are") +
                  " queued.");
  }
  add_resume(session, out);
  if (!session.context.empty()) {
    out.push_back("The agent knows what it knows by this: " + how_words(session.context) + ".");
  }
  return out;
}

}  // namespace perdure::cli
