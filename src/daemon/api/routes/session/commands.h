// Every change of a session that a client can request, defined once: the routes and /ws both pass
// the text of a body, so that one translation serves both (O25). Nothing is decided here: the
// machine decides what is allowed, and the projector what is shown.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "core/auth/principal.h"
#include "daemon/api/gate/bodies.h"
#include "daemon/api/routes/session/resume_wait.h"
#include "daemon/api/world.h"

namespace perdure {

// The caller, and the key by which a repeat is recognised.
struct Asker {
  Principal principal;
  std::string key;  // scoped to the principal; empty: none
  Hash body_hash;
  std::string from = {};  // the address, or unix
};

struct ApiAnswer {
  int status = 200;
  std::string json;
};
// Called once, now or later, on the loop; never after the SessionCommands are destroyed.
using OnAnswer = std::move_only_function<void(Result<ApiAnswer>)>;

class SessionCommands {
 public:
  explicit SessionCommands(ApiWorld& world) : world_(world) {}
  ~SessionCommands() = default;
  SessionCommands(const SessionCommands&) = delete;
  SessionCommands& operator=(const SessionCommands&) = delete;

  // Answers {"session": {…}} plus the members of the reply. A repeat returns the first session.
  void create(Asker asker, std::string_view body, OnAnswer done);
  void change(Asker asker, SessionId session, std::string_view body, OnAnswer done);
  // Submits one input that was parsed from a body. A session that the principal may not see is
  // not_found (N17).
  void submit(Asker asker, SessionId session, Result<InputBody> input, OnAnswer done);
  // Answers with the receipt after the ladder has ended, or 202 after resume_answer_ms (K13).
  void resume(Asker asker, SessionId session, std::string_view body, OnAnswer done);
  void fork(Asker asker, SessionId session, std::string_view body, OnAnswer done);
  // Returns the records that a repair would write, without writing them (A14).
  void plan_repair(const Asker& asker, SessionId session, OnAnswer done);
  // Never allowed for a caller inside a hosted session (TOK3).
  void answer_permission(Asker asker, PermissionId permission, std::string_view body,
                         OnAnswer done);
  void answer_wait(Asker asker, WaitTokenId token, std::string_view body, OnAnswer done);
  void show_wait_secret(const Asker& asker, WaitTokenId token, OnAnswer done);

  // The session as JSON, in the form that every answer uses.
  Result<std::string> shown(SessionId session) const;

  ApiWorld& world() { return world_; }

 private:
  friend class CreateJob;
  std::unexpected<Error> refuse_answer(const Asker& asker, const std::string& on) const;
  Result<State> seen(const Asker& asker, SessionId session) const;
  // An answer to a question is first recorded in the audit trail.
  void send(const Asker& asker, SessionId session, InputBody input, ReplyFn reply);
  void send_now(const Asker& asker, SessionId session, InputBody input, ReplyFn reply);
  void send_audited(const Asker& asker, SessionId session, AuditEntry entry, InputBody input,
                    ReplyFn reply);
  ApiAnswer answer(SessionId session, const Reply& reply, int status = 200) const;
  void finish(SessionId session, const Result<Reply>& reply, OnAnswer done) const;
  Result<ResumeSession> read_resume(const State& state, const ResumeBody& body) const;
  void start_resume(Asker asker, SessionId session, ResumeSession input, OnAnswer done);
  void wait_for_receipt(SessionId session, ResumeWait::Order order, OnAnswer done);
  void answer_receipt(SessionId session, const ResumeWait::Outcome& outcome, OnAnswer done) const;
  struct ForkJob {
    Asker asker;
    SessionId from;
    SessionId to;
    Workspace workspace;  // the workspace of `from`
    ForkBody body;
  };
  void fork_into(const ForkJob& job, OnAnswer done);
  void copy_session(const ForkJob& job, std::optional<Workspace> own, OnAnswer done);
  void bind_copy(const ForkJob& job, std::optional<Workspace> own, OnAnswer done);
  Result<InputBody> read_change(const Asker& asker, const State& state,
                                const ChangeBody& body) const;
  Result<> check_task(const Principal& principal, TaskId task) const;
  // Whether the caller may have this session (null: a new one) work in the folder.
  struct Folder {
    const std::string& cwd;
    SessionId session = {};
  };
  Result<> check_folder(const Principal& principal, const Folder& folder) const;
  // Whether the caller may create sessions at all.
  Result<> check_may_make(const Principal& principal) const;

  ApiWorld& world_;
  std::map<std::uint64_t, std::unique_ptr<ResumeWait>> resumes_;
  std::uint64_t last_resume_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// The inputs that need only their body, by the last part of their path, which is also the end of
// their action's name.
struct SessionVerb {
  std::string_view name;  // prompt, cancel, …
  std::string_view summary;
  Result<InputBody> (*read)(std::string_view body);
};
std::span<const SessionVerb> session_verbs();
// denied: not for a process inside a session, or not about another one.
Result<> check_verb(const Principal& principal, const SessionVerb& verb, SessionId session);
// Null for one that there is not.
const SessionVerb* find_session_verb(std::string_view name);

}  // namespace perdure
