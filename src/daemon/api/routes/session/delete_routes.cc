// Deletes a session permanently after confirmation (U11), and redacts the text of records.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "core/session/transitions/draft.h"
#include "daemon/api/gate/audited.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/gate/session_argument.h"
#include "daemon/api/json/session_json.h"
#include "daemon/api/routes/node_routes.h"
#include "daemon/api/routes/read_routes.h"
#include "daemon/api/streams/live_children.h"
#include "daemon/runtime/care/node_redaction.h"
#include "daemon/runtime/care/redaction.h"
#include "daemon/runtime/care/removal.h"
#include "daemon/runtime/reads/folds.h"

namespace perdure {

namespace {

constexpr std::size_t redact_records_max = 100;
constexpr std::size_t redact_text_bytes_max = 16UL << 10;
constexpr std::size_t redact_ids_max = audit_ids_max;  // so that the trail names each
constexpr int cut_tries = 20;
constexpr std::int64_t cut_pause_ms = 100;

struct RedactBody {
  std::vector<Seq> seqs;
  std::string text;
};

Result<std::vector<Seq>> seqs_of(const JsonObject& body) {
  constexpr const char* form =
      R"(the body must be {"seq": number} or {"seqs": [number, …]}, with an optional "text")";
  const std::size_t members = body.find("text").empty() ? 1 : 2;
  if (body.members().size() != members) return fail(Code::invalid_argument, form);
  if (const Result<std::uint64_t> one = json_uint(body.find("seq"))) return std::vector<Seq>{*one};
  const Result<std::vector<std::string_view>> many = json_elements(body.find("seqs"));
  if (!many || many->empty()) return fail(Code::invalid_argument, form);
  if (many->size() > redact_records_max) {
    return fail(Code::limit_reached,
                "one request redacts at most " + std::to_string(redact_records_max) + " records");
  }
  std::vector<Seq> seqs;
  for (const std::string_view raw : *many) {
    const Result<std::uint64_t> seq = json_uint(raw);
    if (!seq) return fail(Code::invalid_argument, form);
    seqs.push_back(*seq);
  }
  std::ranges::sort(seqs);
  seqs.erase(std::unique(seqs.begin(), seqs.end()), seqs.end());
  return seqs;
}

Result<RedactBody> redact_body(const JsonObject& body) {
  RedactBody out{.seqs = TRY(seqs_of(body)), .text = {}};
  if (body.find("text").empty()) return out;
  const Result<std::string> text = json_string(body.find("text"));
  if (!text || text->empty() || text->size() > redact_text_bytes_max) {
    return fail(Code::invalid_argument,
                "text: expected 1 to " + std::to_string(redact_text_bytes_max) + " bytes");
  }
  out.text = *text;
  return out;
}

void write_left(JsonWriter& out, const std::vector<Leftover>& places) {
  out.begin_array();
  for (const Leftover& left : places) {
    out.begin_object().key("where").string(left.where).key("until").string(left.until);
    out.end_object();
  }
  out.end_array();
}

// {"ids": ["task_…", "rule_…", "tok_…", "sess_…"]}
Result<std::vector<std::string>> ids_of(const JsonObject& body) {
  const Result<std::vector<std::string_view>> raw = json_elements(body.find("ids"));
  if (body.members().size() != 1 || !raw || raw->empty()) {
    return fail(Code::invalid_argument, R"(the body must be {"ids": ["task_…", …]})");
  }
  if (raw->size() > redact_ids_max) {
    return fail(Code::limit_reached,
                "one request redacts at most " + std::to_string(redact_ids_max) + " ids");
  }
  std::vector<std::string> ids;
  for (const std::string_view each : *raw) ids.push_back(TRY(json_string(each)));
  return ids;
}

// Journals that were moved aside are not read, and are never changed.
std::vector<Leftover> set_aside(const ApiWorld& world) {
  std::vector<Leftover> left;
  for (const std::string& folder :
       world.set_aside ? world.set_aside() : std::vector<std::string>()) {
    left.push_back({.where = "perhaps the older data in " + folder, .until = "you delete it"});
  }
  return left;
}

std::string redaction_json(SessionId session, const std::vector<Seq>& seqs,
                           const RedactionReport& report) {
  const auto name = [&](Seq seq) { return session.text() + "/" + std::to_string(seq); };
  JsonWriter out;
  out.begin_object().key("redacted").string(name(seqs.front()));
  out.key("records").begin_array();
  for (const Seq seq : seqs) out.string(name(seq));
  out.end_array().key("also_in").begin_array();
  for (const Seq seq : report.also_in) out.number_unsigned(seq);
  out.end_array().key("left");
  write_left(out, report.left);
  out.key("lost").begin_array();
  for (const std::string& setting : report.lost) out.string(setting);
  out.end_array().key("left_queue").boolean(report.left_queue).end_object();
  return std::move(out).take();
}

// Has the running agentctl cut from its spool what is already in the journal. New frames can delay
// that, so it is retried.
class SpoolCut : public std::enable_shared_from_this<SpoolCut> {
 public:
  using Done = std::move_only_function<void(const std::optional<Leftover>& left)>;

  SpoolCut(ApiWorld& world, const ExecKey& exec, Done done)
      : world_(world), exec_(exec), done_(std::move(done)) {}

  void ask() {
    world_.workspaces.call(exec_, "spool.cut", "{}",
                           [self = shared_from_this()](const Result<std::string>& answer) {
                             self->on_answer(answer);
                           });
  }

 private:
  void on_answer(const Result<std::string>& answer) {
    if (answer && answer->contains("true")) return done_(std::nullopt);
    if (!answer || ++tries_ == cut_tries) {
      return done_(Leftover{.where = "the spool of the running agent",
                            .until = "the agent is stopped (perdure stop)"});
    }
    world_.loop.after_ms(cut_pause_ms, [self = shared_from_this()] { self->ask(); });
  }

  ApiWorld& world_;
  ExecKey exec_;
  Done done_;
  int tries_ = 0;
};

void cut_spool(ApiWorld& world, SessionId session, SpoolCut::Done done) {
  const Result<State> state = world.runtime.state(session);
  if (!state || !execution_may_live(*state)) return done(std::nullopt);
  const ExecKey exec{session, state->exec.id, state->exec.gen};
  std::make_shared<SpoolCut>(world, exec, std::move(done))->ask();
}

}  // namespace

void ReadRoutes::add_deletion(Router& router) {
  get(router, "/api/sessions/{id}/delete-preview", "Shows what a deletion would remove",
      &ReadRoutes::delete_preview);
  router.add({.method = "POST",
              .pattern = "/api/sessions/{id}/redact",
              .access = Access::operate,
              .summary = "Destroys the text of records; their hashes stay",
              .handler = of_session(&ReadRoutes::redact),
              .at_owner = true});
  router.add({.method = "POST",
              .pattern = "/api/redact",
              .access = Access::admin,
              .summary = "Destroys the texts of tasks, tokens, removed rules and deleted sessions",
              .handler = [this](Call call) {
                if (const Result<> done = redact_ids(call); !done) call.fail(done.error());
              }});
  for (const char* const pattern : {"/api/sessions/{id}", "/api/v1/ops/sessions/{id}"}) {
    router.add({.method = "DELETE",
                .pattern = pattern,
                .access = Access::operate,
                .summary = "Deletes a session for good; needs ?confirm=true",
                .handler = of_session(&ReadRoutes::remove),
                .at_owner = true});
  }
}

void ReadRoutes::redact_noted(Call call, RedactionOrder order) {
  const SessionId session = order.session;
  const std::vector<Seq> seqs = order.seqs;
  redact_records(
      world_.runtime, std::move(order),
      [this, session, seqs, call = std::move(call)](Result<RedactionReport> report) mutable {
        past_.forget(session);
        if (!report) return call.fail(report.error());
        cut_spool(world_, session,
                  [session, seqs, report = std::move(*report), aside = set_aside(world_),
                   call = std::move(call)](const std::optional<Leftover>& left) mutable {
                    if (left) report.left.push_back(*left);
                    std::ranges::move(aside, std::back_inserter(report.left));
                    call.answer(redaction_json(session, seqs, report));
                  });
      });
}

Result<> ReadRoutes::redact(Call& call, SessionId session) {
  TRY_VOID(check_outside(call.principal, "redact records"));
  RedactBody body = TRY(redact_body(TRY(call.body())));
  RedactionOrder order{
      .session = session,
      .seqs = std::move(body.seqs),
      .by = call.principal.id,
      .text = std::move(body.text),
      .may_see = [principal = call.principal](SessionId other) { return principal.may_see(other); },
      .may_see_node = !call.principal.is_restricted()};
  AuditEntry entry = audit_entry(world_, call, "session.redact");
  entry.on = {session.text()};
  for (const Seq seq : order.seqs) entry.on.push_back(session.text() + "/" + std::to_string(seq));
  audited(world_, std::move(call), std::move(entry),
          [this, order = std::move(order)](Call noted) mutable {
            redact_noted(std::move(noted), std::move(order));
          });
  return {};
}

Result<> ReadRoutes::redact_ids(Call& call) {
  TRY_VOID(check_outside(call.principal, "redact"));
  const std::vector<std::string> ids = TRY(ids_of(TRY(call.body())));
  AuditEntry entry = audit_entry(world_, call, "node.redact");
  entry.on = ids;
  entry.essential = true;
  audited(world_, std::move(call), std::move(entry), [this, ids](Call noted) {
    NodeRedaction order{.ids = ids, .request = node_request(noted)};
    redact_node(world_.runtime, world_.node, std::move(order),
                [this, ids, call = std::move(noted)](Result<std::vector<Leftover>> left) {
                  if (!left) return call.fail(left.error());
                  std::ranges::move(set_aside(world_), std::back_inserter(*left));
                  JsonWriter out;
                  out.begin_object().key("redacted").begin_array();
                  for (const std::string& id : ids) out.string(id);
                  out.end_array().key("left");
                  write_left(out, *left);
                  call.answer(std::move(out.end_object()).take());
                });
  });
  return {};
}

Result<> ReadRoutes::delete_preview(Call& call, SessionId session) {
  return answer_preview(call, session, 200);
}

Result<> ReadRoutes::answer_preview(Call& call, SessionId session, int status) {
  const SessionView view = TRY(world_.runtime.view(session));
  auto fold = std::make_shared<SizeFold>();
  auto answer = [this, fold, view, session, status,
                 call = std::move(call)](const Result<>& scanned) {
    if (!scanned) return call.fail(scanned.error());
    JsonWriter out;
    out.begin_object();
    if (status != 200) {
      out.key("error").begin_object().key("code").string("conflict");
      out.key("message").string("nothing was deleted: repeat with ?confirm=true");
      out.key("actions").begin_array().string("confirm").end_array().end_object();
    }
    out.key("session_id").string(session.text()).key("title").string(view.title);
    out.key("records").number_unsigned(view.seq).key("bytes").number_unsigned(fold->bytes());
    out.key("blobs").number_unsigned(fold->blobs());
    out.key("blob_bytes").number_unsigned(fold->blob_bytes());
    const std::string& cwd = view.workspace.cwd;
    const bool made_for_it = cwd.starts_with(world_.workspaces_folder + "/");
    out.key("workspace");
    write_text_or_null(out, made_for_it ? cwd : std::string());
    out.key("worktree_path");
    write_text_or_null(out, view.workspace.worktree_path);
    write_live_children(out, world_, session, call.principal);
    out.key("open_run").boolean(view.run.has_value());
    out.key("needs_force")
        .boolean(view.run || view.liveness != Liveness::dead ||
                 !check_no_live_children(world_, session));
    out.end_object();
    call.answer(status, std::move(out).take());
  };
  scan_journal(world_.runtime, session, {.upto = view.seq}, fold, std::move(answer));
  return {};
}

Result<> ReadRoutes::remove(Call& call, SessionId session) {
  TRY_VOID(check_outside(call.principal, "delete sessions"));
  if (text_parameter(call.request, "confirm") != "true") {
    return answer_preview(call, session, 409);
  }
  const bool force = flag_parameter(call.request, "force");
  if (!force) TRY_VOID(check_no_live_children(world_, session));
  RemovalOrder order{
      .session = session,
      .mode = force ? RemovalMode::stop_first : RemovalMode::only_stopped,
      .request = {.by = call.principal.id, .key = call.key(), .body_hash = call.body_hash()}};
  AuditEntry entry = audit_entry(world_, call, "session.delete");
  entry.on = {session.text()};
  audited(world_, std::move(call), std::move(entry),
          [this, session, order = std::move(order)](Call noted) mutable {
            remove_session(world_.runtime, world_.node, std::move(order),
                           [this, session, call = std::move(noted)](const Result<>& removed) {
                             if (!removed) return call.fail(removed.error());
                             stop_live_children(world_, session, call.principal.id);
                             past_.forget(session);
                             if (world_.forget_session) world_.forget_session(session);
                             call.answer(R"({"deleted":")" + session.text() + R"("})");
                           });
          });
  return {};
}

}  // namespace perdure
