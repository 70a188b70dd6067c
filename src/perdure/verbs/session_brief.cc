#include "perdure/verbs/session_brief.h"

#include <algorithm>

namespace perdure::cli {

std::string SessionBrief::name() const { return title.empty() ? short_id(id) : title; }

Timestamp read_time(JsonView json) { return parse_timestamp(json.text()).value_or(Timestamp{}); }

Question read_question(JsonView json) {
  Question question;
  question.permission = json["perm_id"].text();
  question.session = json["session_id"].text();
  question.title = json["title"].is_there() ? json["title"].text() : json["text"].text();
  question.digest = json["digest"].text();
  question.since = read_time(json["since"]);
  question.answerable = !json["answerable"].is_there() || json["answerable"].flag();
  for (const JsonView option : json["options"].items()) {
    question.options.push_back(
        {option["option_id"].text(), option["name"].text(), option["kind"].text()});
  }
  question.asked.question.title = question.title;
  return question;
}

SessionBrief read_session(JsonView json) {
  if (json["session"].is_object()) json = json["session"];
  SessionBrief out;
  out.id = json["id"].is_there() ? json["id"].text() : json["session_id"].text();
  out.title = json["title"].text();
  out.agent = json["agent"].is_object() ? json["agent"]["name"].text() : json["agent"].text();
  out.status = json["status"].text();
  out.state = json["state"].text();
  out.executor_status = json["executor_status"].text();
  out.liveness = json["liveness"].text();
  out.liveness_reason = json["liveness_reason"].text();
  out.runtime = json["runtime"].text();
  out.image = json["image"].text();
  out.remote = json["remote"].text();
  out.node = json["node"].text();
  out.container_id = json["container_id"].text();
  out.confinement = json["confinement"].text();
  out.confinement_reason = json["confinement_reason"].text();
  out.context = json["context"].text();
  out.context_verified = json["context_verified"].text();
  out.stop_reason = json["stop_reason"].text();
  out.resume_reason = json["resume_reason"].text();
  out.error_code = json["error_code"].text();
  out.error_message = json["error_message"].text();
  out.cwd = json["cwd"].text();
  out.worktree_branch = json["worktree_branch"].text();
  out.log_id = json["log_id"].text();
  out.seq = json["seq"].number();
  out.queue_length = json["queue_length"].is_there() ? json["queue_length"].number()
                                                     : json["queue"].items().size();
  out.connections = json["connections"].number();
  out.queue_held = json["queue_held"].flag();
  out.archived = json["archived"].flag();
  out.active = json["active"].flag();
  out.needs_resume = json["needs_resume"].flag();
  out.is_resumable = json["is_resumable"].flag();
  out.created = read_time(json["created"]);
  out.updated = read_time(json["updated"]);
  for (const JsonView item : json["pending"].items()) out.pending.push_back(read_question(item));
  out.pending_count = json["pending"].is_array() ? out.pending.size() : json["pending"].number();
  out.pending_since =
      out.pending.empty() ? read_time(json["pending_since"]) : out.pending.front().since;
  out.limit_reset = read_time(json["limit"]["reset_at"]);
  out.limit_at_reset = json["limit"]["at_reset"].text();
  out.login_hint = json["login_hint"].text();
  return out;
}

std::string short_id(const std::string& id) {
  return id.size() > 8 ? id.substr(id.size() - 8) : id;
}

std::string age_text(std::int64_t age_ms) {
  const std::int64_t seconds = std::max<std::int64_t>(0, age_ms / 1000);
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 2 * 86'400) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86'400) + "d";
}

AskedWhere where_of(const SessionBrief& session, const std::string& host) {
  AskedWhere where{.session = session.title,
                   .short_id = short_id(session.id),
                   .agent = session.agent,
                   .folder = session.cwd,
                   .place = {}};
  if (where.session.empty()) where.session = where.short_id;
  if (!session.remote.empty()) {
    where.place = "on " + session.remote;
  } else if (!session.image.empty()) {
    where.place = "in a container of " + session.image;
  }
  if (!host.empty()) where.place += (where.place.empty() ? "by " : ", by ") + host;
  return where;
}

}  // namespace perdure::cli
