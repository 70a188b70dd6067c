// A session as the verbs show it, read from the daemon's JSON. A missing member reads as empty, so
// that older and newer daemons work too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "client/json_view.h"
#include "perdure/verbs/question/asked.h"

namespace perdure::cli {

using client::JsonView;

struct QuestionOption {
  std::string id;
  std::string name;
  std::string kind;  // allow_once, reject_once, …
};

// A question that waits for a person.
struct Question {
  std::string permission;  // its id; empty: not a permission
  std::string session;     // its session; empty if clear from the context
  std::string title;
  std::string digest;  // the daemon rejects an answer with another question's digest
  std::vector<QuestionOption> options;
  Timestamp since;
  bool answerable = true;
  Asked asked;  // only its title until the daemon was asked for the rest
};

struct SessionBrief {
  std::string id;
  std::string title;
  std::string agent;
  std::string status;
  std::string state;
  std::string executor_status;
  std::string liveness;
  std::string liveness_reason;  // why it is unknown, if there is a reason
  std::string runtime;
  std::string image;
  std::string remote;
  std::string node;  // its owner, if that is another daemon on the same database
  std::string container_id;
  std::string confinement;  // of its agent: full, partial, none; empty: unknown
  std::string confinement_reason;
  std::string context;
  std::string context_verified;
  std::string stop_reason;
  std::string resume_reason;
  std::string error_code;
  std::string error_message;
  std::string cwd;
  std::string worktree_branch;
  std::string log_id;
  std::uint64_t seq = 0;
  std::uint64_t queue_length = 0;
  std::uint64_t connections = 0;
  bool queue_held = false;
  bool archived = false;
  bool active = false;
  bool needs_resume = false;
  bool is_resumable = false;
  Timestamp created;
  Timestamp updated;
  std::vector<Question> pending;  // only if read as a single session
  std::uint64_t pending_count = 0;
  Timestamp pending_since;
  Timestamp limit_reset;       // when the provider's usage limit resets; 0: no limit
  std::string limit_at_reset;  // what happens then: continued, not_asked, …
  std::string login_hint;      // only if the agent needs a login

  // Its display name: its title, or the end of its id.
  std::string name() const;
};

// Reads a session object, or a response with one under `session`.
SessionBrief read_session(JsonView json);
// Reads `options` and the rest of a pending item or a permission.requested record.
Question read_question(JsonView json);
Timestamp read_time(JsonView json);

// The last eight characters of an id: enough to distinguish one user's sessions.
std::string short_id(const std::string& id);
// "4s", "12m", "3h", "5d".
std::string age_text(std::int64_t age_ms);
// Where the session works, shown with its agent's questions. `host` names the daemon's host if it
// is not this machine.
AskedWhere where_of(const SessionBrief& session, const std::string& host);

}  // namespace perdure::cli
