// A session as the verbs show it, read from the daemon's JSON. A member that is not there reads as
// nothing: an older or newer daemon can be looked at all the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/asked.h"
#include "client/json_view.h"

namespace perdure::cli {

using client::JsonView;

struct QuestionOption {
  std::string id;
  std::string name;
  std::string kind;  // allow_once, reject_once, …
};

// Something that waits for a person.
struct Question {
  std::string permission;  // its id; empty: no permission
  std::string session;     // that asks; empty where that is clear
  std::string title;
  std::string digest;  // an answer that names it is refused for any other question
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
  std::string liveness_reason;  // why it is unknown, where somebody knows
  std::string runtime;
  std::string image;
  std::string remote;
  std::string node;  // whose it is, when that is another daemon on the same database
  std::string container_id;
  std::string confinement;  // of its agent: full, partial, none; empty: not known
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
  std::vector<Question> pending;  // only in a session that is shown alone
  std::uint64_t pending_count = 0;
  Timestamp pending_since;
  Timestamp limit_reset;       // its agent's provider takes no more until then; 0: no limit
  std::string limit_at_reset;  // what will then be: continued, not_asked, …
  std::string login_hint;      // only when a login is needed

  // What a person calls it: its title, else the end of its id.
  std::string name() const;
};

// A session object, or an answer that holds one under `session`.
SessionBrief read_session(JsonView json);
// Out of `options` and the rest of a pending item or a permission.requested record.
Question read_question(JsonView json);
Timestamp read_time(JsonView json);

// The last eight characters of an id: enough to tell sessions of one user apart.
std::string short_id(const std::string& id);
// "4s", "12m", "3h", "5d".
std::string age_text(std::int64_t age_ms);
// Where the session works, for a question of its agent. `host` names the daemon's host when it is
// not this machine.
AskedWhere where_of(const SessionBrief& session, const std::string& host);

}  // namespace perdure::cli
