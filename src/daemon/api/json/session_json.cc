#include "daemon/api/json/session_json.h"

#include "base/json/fields_json.h"
#include "daemon/api/world.h"

namespace perdure {
namespace {

void write_optional(JsonWriter& out, const std::optional<std::string>& text) {
  if (text) {
    out.string(*text);
  } else {
    out.null();
  }
}

template <class Enum>
void write_enum_or_null(JsonWriter& out, const std::optional<Enum>& value) {
  if (value) {
    out.string(enum_text(*value));
  } else {
    out.null();
  }
}

template <class T>
void write_fields_or_null(JsonWriter& out, const std::optional<T>& value) {
  if (value) {
    out.raw(encode_fields(*value));
  } else {
    out.null();
  }
}

void write_pending(JsonWriter& out, const SessionView& view) {
  out.key("pending").begin_array();
  for (const PendingItem& item : view.pending) out.raw(encode_fields(item));
  out.end_array();
}

void write_identity(JsonWriter& out, const SessionView& view, const ServedBeside& beside) {
  out.key("id").string(view.session.text());
  out.key("session_id").string(view.session.text());
  out.key("task_id");
  write_id_or_null(out, view.task);
  out.key("agent").string(view.agent).key("agent_profile").string(view.agent);
  out.key("seq").number_unsigned(view.seq).key("as_of").number_unsigned(view.seq);
  out.key("log_id").string(beside.log_id);
  out.key("node");
  write_text_or_null(out, beside.node);
}

void write_resume(JsonWriter& out, const SessionView& view) {
  out.key("needs_resume").boolean(view.resume.needs_resume);
  out.key("is_resumable").boolean(view.resume.is_resumable);
  out.key("resume_reason");
  write_text_or_null(out, enum_text(view.resume.reason));
}

void write_execution(JsonWriter& out, const SessionView& view, const ServedBeside& beside) {
  out.key("executor_status").string(enum_text(view.executor_status));
  out.key("liveness").string(enum_text(view.liveness));
  out.key("liveness_reason");
  write_text_or_null(out, view.liveness == Liveness::unknown ? beside.doubt : "");
  out.key("runtime").string(view.runtime).key("image");
  write_text_or_null(out, view.image);
  out.key("remote");
  write_text_or_null(out, view.remote);
  out.key("container_id");
  write_text_or_null(out, view.container_id);
  out.key("confinement");
  write_text_or_null(out, view.confinement);
  out.key("confinement_reason");
  write_text_or_null(out, view.confinement_reason);
  out.key("agent_execution_id");
  write_id_or_null(out, view.agent_execution_id);
  out.key("is_agent_running").boolean(view.active).key("active").boolean(view.active);
  out.key("agent_session_id");
  write_optional(out, view.agent_session_id);
  out.key("acp_caps").begin_object();
  out.key("resume").boolean(view.acp_caps.resume).key("load").boolean(view.acp_caps.load);
  out.end_object();
  out.key("supports_session_resume").boolean(view.supports_session_resume);
  out.key("supports_workspace_only").boolean(view.supports_workspace_only);
  out.key("requires_new_session").boolean(view.requires_new_session);
}

void write_workspace(JsonWriter& out, const Workspace& workspace) {
  out.key("cwd");
  write_text_or_null(out, workspace.cwd);
  out.key("worktree_id");
  write_text_or_null(out, workspace.worktree_id);
  out.key("worktree_path");
  write_text_or_null(out, workspace.worktree_path);
  out.key("worktree_branch");
  write_text_or_null(out, workspace.worktree_branch);
}

void write_status(JsonWriter& out, const SessionView& view, const ServedBeside& beside) {
  write_identity(out, view, beside);
  out.key("status").string(enum_text(view.status));
  out.key("state").string(enum_text(view.state));
  write_execution(out, view, beside);
  out.key("context");
  write_enum_or_null(out, view.context);
  out.key("context_verified").string(enum_text(view.context_verified));
  out.key("stop_reason");
  write_text_or_null(out, view.stop_reason);
  write_resume(out, view);
  out.key("error_code");
  write_text_or_null(out, view.error_code);
  out.key("error_message");
  write_text_or_null(out, view.error_message);
  out.key("limit");
  write_fields_or_null(out, view.limit);
  out.key("login_hint");
  write_text_or_null(out, needs_login(view.error_code) ? beside.login_hint : "");
  out.key("connections").number_unsigned(beside.connections);
  out.key("active_runs").number_unsigned(view.active_runs);
  out.key("runs").number_unsigned(view.runs);
  write_pending(out, view);
  out.key("queue_length").number_unsigned(view.queue.size());
  out.key("queue_held").boolean(view.queue_held);
  write_workspace(out, view.workspace);
  out.key("metadata").begin_object().key("resume_token");
  write_optional(out, view.resume_token);
  out.end_object();
}

}  // namespace

ServedBeside beside_session(ApiWorld& world, const SessionView& view) {
  const auto agent = world.agents.all().find(view.agent);
  return {.connections = world.runtime.connections(view.session),
          .log_id = world.runtime.store().log_id(),
          .doubt = world.doubt_about ? world.doubt_about(view.session) : "",
          .node = world.owner ? world.owner(view.session).value_or("") : "",
          .login_hint = agent == world.agents.all().end() ? "" : agent->second.login_hint};
}

bool needs_login(std::string_view error_code) {
  return error_code == "auth_needed" || error_code == "auth";
}

void write_text_or_null(JsonWriter& out, std::string_view text) {
  if (text.empty()) {
    out.null();
  } else {
    out.string(text);
  }
}

void write_time_or_null(JsonWriter& out, Timestamp at) {
  if (at == Timestamp{}) {
    out.null();
  } else {
    out.string(format_timestamp(at));
  }
}

std::string status_json(const SessionView& view, const ServedBeside& beside) {
  JsonWriter out;
  out.begin_object();
  write_status(out, view, beside);
  out.end_object();
  return std::move(out).take();
}

std::string session_json(const SessionView& view, const ServedBeside& beside) {
  JsonWriter out;
  out.begin_object();
  write_status(out, view, beside);
  out.key("title").string(view.title).key("archived").boolean(view.archived);
  out.key("created").string(format_timestamp(view.created));
  out.key("updated").string(format_timestamp(view.updated));
  out.key("queue").begin_array();
  for (const QueueItem& item : view.queue) out.raw(encode_fields(item));
  out.end_array();
  out.key("run");
  write_fields_or_null(out, view.run);
  out.key("last_run");
  write_fields_or_null(out, view.last_run);
  out.key("options").begin_object();
  for (const auto& [name, value] : view.options) out.key(name).string(value);
  out.end_object();
  out.key("history_enabled").boolean(view.history_enabled);
  out.key("needs_resume_context").boolean(view.needs_resume_context);
  out.key("resume_context_injected").boolean(view.resume_context_injected);
  out.end_object();
  return std::move(out).take();
}

}  // namespace perdure
