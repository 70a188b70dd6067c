#include "daemon/api/json/list_json.h"

#include <algorithm>
#include <iterator>

#include "base/json/fields_json.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/json/session_json.h"

namespace perdure {

RowsBeside::RowsBeside(ApiWorld& world, std::span<const SessionId> sessions)
    : runtime_(world.runtime) {
  if (!world.owners) return;
  std::vector<SessionId> asked;
  std::ranges::remove_copy_if(sessions, std::back_inserter(asked),
                              [&](SessionId session) { return runtime_.is_ours(session); });
  if (asked.empty()) return;
  if (auto found = world.owners(asked)) nodes_ = *std::move(found);
}

RowBeside RowsBeside::of(SessionId session) const {
  RowBeside out{.connections = runtime_.connections(session)};
  const auto damaged = runtime_.damaged().find(session);
  if (damaged != runtime_.damaged().end()) out.damage = damaged->second.message();
  if (const auto found = nodes_.find(session); found != nodes_.end()) out.node = found->second;
  return out;
}

void write_rows(JsonWriter& out, ApiWorld& world, std::span<const SessionRow* const> rows) {
  std::vector<SessionId> sessions;
  for (const SessionRow* const row : rows) sessions.push_back(row->session);
  const RowsBeside beside(world, sessions);
  out.begin_array();
  for (const SessionRow* const row : rows) out.raw(row_json(*row, beside.of(row->session)));
  out.end_array();
}

std::string row_json(const SessionRow& row, const RowBeside& beside) {
  const SessionSummary& summary = row.summary;
  JsonWriter out;
  out.begin_object().key("id").string(row.session.text());
  out.key("session_id").string(row.session.text());
  out.key("task_id");
  write_id_or_null(out, summary.task);
  out.key("title").string(summary.title).key("agent").string(summary.agent);
  out.key("status").string(enum_text(summary.status));
  out.key("state").string(enum_text(summary.state));
  out.key("stop_reason");
  write_text_or_null(out, summary.stop_reason);
  out.key("runtime");
  write_text_or_null(out, summary.executor ? summary.executor->runtime : "");
  out.key("cwd");
  write_text_or_null(out, summary.cwd);
  out.key("created");
  write_time_or_null(out, summary.created);
  out.key("updated").string(format_timestamp(row.updated));
  out.key("archived").boolean(row.archived);
  out.key("pending").number_unsigned(summary.pending);
  out.key("pending_since");
  write_time_or_null(out, summary.pending_since);
  out.key("queue_length").number_unsigned(summary.queue);
  out.key("queue_held").boolean(summary.queue_held);
  out.key("needs_resume").boolean(summary.needs_resume);
  out.key("is_resumable").boolean(summary.is_resumable);
  out.key("error_message");
  write_text_or_null(out, beside.damage.empty() ? summary.error : beside.damage);
  out.key("error_code");
  write_text_or_null(out, summary.error_code);
  out.key("limit");
  if (summary.limit) {
    out.raw(encode_fields(*summary.limit));
  } else {
    out.null();
  }
  out.key("damaged").boolean(!beside.damage.empty());
  out.key("in_memory").boolean(row.in_memory);
  out.key("connections").number_unsigned(beside.connections);
  out.key("node");
  write_text_or_null(out, beside.node);
  out.end_object();
  return std::move(out).take();
}

std::string task_json(const TaskView& view) {
  JsonWriter out;
  out.begin_object().key("id").string(view.task.id.text());
  out.key("task_id").string(view.task.id.text()).key("title").string(view.task.title);
  out.key("description").string(view.task.description);
  out.key("state").string(enum_text(view.state));
  out.key("created").string(format_timestamp(view.task.created)).key("by").string(view.task.by);
  out.key("sessions").begin_array();
  for (const TaskSession& session : view.sessions) {
    out.begin_object().key("id").string(session.session.text());
    out.key("session_id").string(session.session.text()).key("title").string(session.title);
    out.key("agent").string(session.agent).key("status").string(enum_text(session.status));
    out.key("state").string(enum_text(session.state));
    out.key("updated").string(format_timestamp(session.updated));
    out.key("archived").boolean(session.archived).end_object();
  }
  out.end_array().end_object();
  return std::move(out).take();
}

std::string inbox_item_json(const InboxItem& item) { return encode_fields(item); }

std::string inbox_counts_json(const std::vector<InboxItem>& items) {
  JsonWriter out;
  out.begin_object();
  for (std::size_t i = 0; i < EnumText<InboxKind>::names.size(); ++i) {
    const auto kind = static_cast<InboxKind>(i);
    out.key(enum_text(kind));
    out.number(std::ranges::count(items, kind, &InboxItem::kind));
  }
  out.key("total").number_unsigned(items.size()).end_object();
  return std::move(out).take();
}

std::string executor_json(const SessionRow& row) {
  const ExecutorSummary executor = row.summary.executor.value_or(ExecutorSummary{});
  JsonWriter out;
  out.begin_object().key("id");
  write_id_or_null(out, executor.exec);
  out.key("session_id").string(row.session.text()).key("task_id");
  write_id_or_null(out, row.summary.task);
  out.key("gen").number_unsigned(executor.gen);
  out.key("status").string(enum_text(executor.status));
  out.key("runtime").string(executor.runtime).key("url");
  write_text_or_null(out, executor.url);
  out.key("agentctl_url");
  write_text_or_null(out, executor.url);
  // Only tls://host:port has a port.
  const std::size_t colon = executor.url.starts_with("tls://") ? executor.url.rfind(':') : 0;
  const Result<std::uint64_t> port =
      parse_number(std::string_view(executor.url).substr(colon + (colon > 0 ? 1 : 0)));
  out.key("port");
  if (port) {
    out.number_unsigned(*port);
  } else {
    out.null();
  }
  out.key("container_id");
  write_text_or_null(out, executor.container_id);
  out.key("confinement");
  write_text_or_null(out, executor.confinement);
  out.key("confinement_reason");
  write_text_or_null(out, executor.confinement_reason);
  out.key("pid").number(executor.pid);
  out.key("supports_session_resume").boolean(executor.supports_session_resume);
  out.key("supports_workspace_only").boolean(executor.supports_workspace_only);
  out.key("resume_token");
  write_text_or_null(out, executor.resume_token);
  out.key("workspace").raw(encode_fields(executor.workspace));
  out.key("last_seen_at");
  write_time_or_null(out, executor.last_seen);
  out.key("error_message");
  write_text_or_null(out, executor.error_message);
  out.end_object();
  return std::move(out).take();
}

}  // namespace perdure
