// The executors table (L8, K39): one row per session that ever had an execution.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/views/read_model.h"

namespace perdure {

struct ExecutorRow {
  ExecId id;
  Gen gen = 0;
  SessionId session;
  TaskId task;
  std::string runtime;
  std::string agentctl_url;
  std::optional<std::uint16_t> agentctl_port;  // of a tls:// url
  std::string container_id;
  std::int64_t pid = 0;
  ExecutorStatus status = ExecutorStatus::none;
  Liveness liveness = Liveness::dead;  // L10: the stored status and the last health check
  bool supports_session_resume = false;
  bool supports_workspace_only = false;
  bool requires_new_session = false;
  std::optional<std::string> resume_token;
  std::string last_message_uuid;  // K42: for agents that resume at a message
  Workspace workspace;
  Timestamp last_seen;
  std::string error_message;
  bool operator==(const ExecutorRow&) const = default;
  FIELDS {
    visit("id", self.id);
    visit("gen", self.gen);
    visit("session_id", self.session);
    visit("task_id", self.task);
    visit("runtime", self.runtime);
    visit("agentctl_url", self.agentctl_url);
    visit("agentctl_port", self.agentctl_port);
    visit("container_id", self.container_id);
    visit("pid", self.pid);
    visit("status", self.status);
    visit("liveness", self.liveness);
    visit("supports_session_resume", self.supports_session_resume);
    visit("supports_workspace_only", self.supports_workspace_only);
    visit("requires_new_session", self.requires_new_session);
    visit("resume_token", self.resume_token);
    visit("last_message_uuid", self.last_message_uuid);
    visit("workspace", self.workspace);
    visit("last_seen_at", self.last_seen);
    visit("error_message", self.error_message);
  }
};

// Absent if the session never had an execution.
std::optional<ExecutorRow> project_executor(const State& state, const World& world);

}  // namespace perdure
