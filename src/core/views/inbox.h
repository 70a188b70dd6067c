// The inbox: everything that requires a person, in one session and across all. It is derived, so an
// item disappears with its cause. A finished turn is not an item (N15).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/views/read_model.h"

namespace perdure {

// Most urgent first: the first two block work until a person answers.
enum class InboxKind { permission, input, expired, interrupted, failed, held };
ENUM_TEXT(InboxKind, "permission", "input", "expired", "interrupted", "failed", "held");

struct InboxItem {
  InboxKind kind = InboxKind::permission;
  SessionId session;
  TaskId task;
  std::string session_title;
  std::string text;  // the question, or what happened
  Timestamp since;
  std::int64_t age_ms = 0;
  RunId run;
  WaitTokenId token;  // the token's id, never its secret
  PermissionId permission;
  std::string tool_call_id;
  std::vector<PermissionOption> options;
  std::string digest;  // of the question, as in PendingItem
  std::optional<Deadline> deadline;
  std::uint64_t prompts_held = 0;
  bool operator==(const InboxItem&) const = default;
  FIELDS {
    visit("kind", self.kind);
    visit("session_id", self.session);
    visit("task_id", self.task);
    visit("session_title", self.session_title);
    visit("text", self.text);
    visit("since", self.since);
    visit("age_ms", self.age_ms);
    visit("run_id", self.run);
    visit("resume_token_id", self.token);
    visit("perm_id", self.permission);
    visit("tool_call_id", self.tool_call_id);
    visit("options", self.options);
    visit("digest", self.digest);
    visit("deadline", self.deadline);
    visit("prompts_held", self.prompts_held);
  }
};

// The items of one session, in order. Archived sessions have none. For a stopped session, earlier
// failures are omitted.
std::vector<InboxItem> project_inbox(const State& state, const World& world);

// The order of items: by kind, oldest first, then session and token.
bool inbox_before(const InboxItem& a, const InboxItem& b);

// One inbox over many sessions.
std::vector<InboxItem> merge_inboxes(std::vector<std::vector<InboxItem>> inboxes);

}  // namespace perdure
