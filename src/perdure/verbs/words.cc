#include "perdure/verbs/words.h"

#include "perdure/terminal/clean_text.h"

namespace perdure::cli {
namespace {

std::string how_words(std::string_view how) {
  if (how == "fresh") return "a fresh start without history";
  if (how == "native_resume") return "resumed by the agent itself";
  if (how == "native_load") return "loaded by the agent from its own store";
  if (how == "injected") return "a fresh start; the history is sent with the next prompt";
  if (how == "cleared") return "cleared";
  if (how == "compacted") return "compacted by the agent";
  if (how == "handover") return "handed over to another agent";
  return std::string(how);
}

std::string verified_words(std::string_view verified) {
  if (verified == "full") return "the agent returned the whole conversation";
  if (verified == "partial") return "the agent returned part of the conversation";
  if (verified == "id_only")
    return "the agent confirmed the session; what it remembers cannot be checked";
  return {};
}

std::string rung_sentence(std::string_view rung) {
  if (rung == "attach") return "The agent was still running; nothing is lost.";
  if (rung == "resume") return "The agent reopened its own session.";
  if (rung == "load") return "The agent loaded its own session.";
  if (rung == "inject") return "The agent started fresh; the history is passed to it as text.";
  if (rung == "new") return "The agent started fresh, without the earlier conversation.";
  return "The session could not be resumed. Nothing was changed or lost.";
}

// Journal codes in words; a reason that is already a sentence stays.
std::string reason_words(std::string reason) {
  if (reason == "capability_missing") return "the agent cannot restore sessions";
  if (reason == "session_unknown") return "the agent no longer knows its session";
  if (reason == "never_prompted") return "the agent has no session of its own yet";
  if (reason == "not_restored") return "the agent reported success but did not restore its session";
  if (reason == "other_session") return "the agent opened a different session";
  if (reason == "cwd_changed") return "the session now works in a different folder";
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
                    "\" can no longer be answered: it expired, or the agent that asked has ended.");
      continue;
    }
    out.push_back("The agent has been waiting" + since_words(question.since, now) +
                  " for an answer to \"" + title + "\". Answer with `perdure approve " +
                  short_id(session.id) + "` or `perdure deny " + short_id(session.id) + "`.");
  }
}

void add_resume(const SessionBrief& session, std::vector<std::string>& out) {
  const std::string resume = "`perdure resume " + short_id(session.id) + "`";
  if (session.archived) {
    out.emplace_back("It is archived: you can read it, but it accepts no prompts.");
  } else if (session.needs_resume && session.resume_reason == "agent_not_running_fresh_start") {
    out.push_back("Its agent is not running and cannot be resumed; " + resume +
                  " starts it fresh and sends the history with the next prompt.");
  } else if (session.needs_resume) {
    out.push_back("Its agent is not running; " + resume + " or the next prompt resumes it.");
  } else if (session.executor_status == "stopped" && session.is_resumable) {
    out.push_back("Its agent is not running; the next prompt or " + resume + " resumes it.");
  } else if (session.resume_reason == "not_resumable") {
    out.push_back(
        "This agent cannot resume sessions: the next prompt starts it without its context.");
  } else if (session.resume_reason == "missing_resume_token") {
    out.emplace_back(
        "The agent left nothing to resume and the history is not sent along: the next prompt "
        "starts it without its context.");
  }
}

// What happens at the limit's end, as predicted by the daemon.
std::string limit_sentence(std::string_view at_reset, const std::string& id) {
  if (at_reset == "continued") return "It continues automatically then.";
  if (at_reset == "too_often")
    return "It has reached its limit of automatic continuations; send a prompt then.";
  if (at_reset == "too_late")
    return "That is too late for an automatic continuation; send a prompt then.";
  if (at_reset == "tool_open") {
    return "A tool call was cut off, so it does not continue automatically; check it, then send a "
           "prompt.";
  }
  if (at_reset == "queue_full") return "Its queue is full, so it does not continue automatically.";
  return "It does not continue automatically; send a prompt then: `perdure send " + id + "`.";
}

void add_limit(const SessionBrief& session, Timestamp now, std::vector<std::string>& out) {
  if (session.limit_reset.ms != 0) {
    out.push_back("The provider's usage limit is reached " + reset_words(session.limit_reset, now) +
                  ". " + limit_sentence(session.limit_at_reset, short_id(session.id)));
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
    return name + "is waiting for a usage limit to reset.";
  }
  if (session.status == "running") return name + "is running: the agent is working on a prompt.";
  if (session.status == "waiting") return name + "is waiting: the agent needs an answer.";
  if (session.status == "interrupted_startup") {
    return name + "was interrupted: the agent's process was lost during its last turn.";
  }
  if (session.status == "interrupted_waiting") {
    return name + "was interrupted: its question was not answered in time.";
  }
  if (session.state == "FAILED" && session.error_code == "startup") {
    return name + "is idle; its agent could not be started.";
  }
  if (session.state == "FAILED") return name + "is idle; its last turn failed.";
  if (session.state == "ERROR") return name + "is idle; its agent could not be resumed.";
  if (session.state == "CANCELLED") return name + "is idle; its last turn was cancelled.";
  if (session.state == "STARTING") return name + "is starting its agent.";
  return name + "is idle, ready for a prompt.";
}

}  // namespace

std::vector<std::string> receipt_sentences(JsonView receipt) {
  std::vector<std::string> out;
  if (receipt["already_running"].flag()) {
    out.emplace_back("The session is already running; nothing was started.");
    return out;
  }
  const std::string rung =
      receipt["rung_name"].is_there() ? receipt["rung_name"].text() : receipt["rung"].text();
  out.push_back(rung_sentence(rung));
  if (const std::string verified = verified_words(receipt["verified"].text()); !verified.empty()) {
    out.push_back("Checked: " + verified + ".");
  }
  if (const JsonView injected = receipt["injected"]; injected.is_object()) {
    out.push_back("The history of " + std::to_string(injected["turns"].number()) + " of " +
                  std::to_string(injected["of"].number()) + " turns was sent (" +
                  std::to_string(injected["chars"].number()) + " characters).");
  } else if (receipt["inject_armed"].flag()) {
    out.emplace_back("The history is sent with the next prompt.");
  }
  for (const JsonView lost : receipt["lost"].items()) {
    out.push_back("Lost: " + clean_line(lost.text()));
  }
  if (const std::string reason = reason_words(clean_line(receipt["reason"].text()));
      !reason.empty()) {
    out.push_back("Reason: " + reason + ".");
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
  if (reason == "process_restart") return "the daemon and the agent ended";
  if (reason == "wait_timeout") return "the question was not answered in time";
  if (reason == "wait_lost") return "the agent that asked has ended";
  if (reason == "forked") return "the copy was made during the turn";
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
    out.push_back("Error: " + message +
                  (session.error_code.empty() ? "" : " [" + session.error_code + "]") + ".");
  }
  if (!session.stop_reason.empty()) {
    out.push_back("It was last stopped: " + clean_line(session.stop_reason) + ".");
  }
  if (session.liveness == "unknown") {
    out.emplace_back(
        "Perdure cannot tell right now whether its agent is running, and does not assume that it "
        "ended.");
    const std::string reason = clean_line(session.liveness_reason);
    if (!reason.empty()) out.push_back("Reason: " + reason + ".");
  }
  if (session.runtime == "local_docker") {
    out.push_back("It runs in a container of the image " + clean_line(session.image) +
                  (session.container_id.empty()
                       ? std::string("; no container is running.")
                       : ": " + clean_line(session.container_id).substr(0, 12) + "."));
  }
  if (session.runtime == "remote") {
    out.push_back("It runs on the host " + clean_line(session.remote) + ".");
  }
  if (session.queue_held) {
    out.push_back((session.queue_length == 1
                       ? std::string("A prompt is")
                       : std::to_string(session.queue_length) + " prompts are") +
                  " not sent yet: `perdure resume " + short_id(session.id) +
                  " --release` sends them; a new prompt goes first.");
  } else if (session.queue_length > 0) {
    out.push_back((session.queue_length == 1
                       ? std::string("A prompt is")
                       : std::to_string(session.queue_length) + " prompts are") +
                  " queued.");
  }
  add_resume(session, out);
  if (!session.context.empty()) { out.push_back("Context: " + how_words(session.context) + "."); }
  return out;
}

}  // namespace perdure::cli
