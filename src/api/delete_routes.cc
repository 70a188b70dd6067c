// Deleting a session for good, only when that is said twice (U11), and redacting one record.
#include "api/query.h"
#include "api/read_routes.h"
#include "api/session_json.h"
#include "runtime/folds.h"
#include "runtime/redaction.h"
#include "runtime/removal.h"

namespace perdure {

void ReadRoutes::add_deletion(Router& router) {
  get(router, "/api/sessions/{id}/delete-preview", "What a deletion would take",
      &ReadRoutes::delete_preview);
  router.add({.method = "POST",
              .pattern = "/api/sessions/{id}/redact",
              .access = Access::operate,
              .summary = "Destroys the content of one record; its hash stays",
              .handler = of_session(&ReadRoutes::redact),
              .at_owner = true});
  for (const char* const pattern : {"/api/sessions/{id}", "/api/v1/ops/sessions/{id}"}) {
    router.add({.method = "DELETE",
                .pattern = pattern,
                .access = Access::operate,
                .summary = "Deletes a session for good; needs ?confirm=true",
                .handler = of_session(&ReadRoutes::remove),
                .at_owner = true});
  }
}

Result<> ReadRoutes::redact(Call& call, SessionId session) {
  const JsonObject body = TRY(call.body());
  const Result<std::uint64_t> seq = json_uint(body.find("seq"));
  if (!seq || body.members().size() != 1) {
    return fail(Code::invalid_argument, "the body has to be {\"seq\": number}");
  }
  redact_record(
      world_.runtime, session, *seq,
      [this, session, seq = *seq, call = std::move(call)](const Result<>& redacted) {
        past_.forget(session);
        if (!redacted) return call.fail(redacted.error());
        call.answer(R"({"redacted":")" + session.text() + "/" + std::to_string(seq) + R"("})");
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
    out.key("open_run").boolean(view.run.has_value());
    out.key("needs_force").boolean(view.run || view.liveness != Liveness::dead);
    out.end_object();
    call.answer(status, std::move(out).take());
  };
  scan_journal(world_.runtime, session, {.upto = view.seq}, fold, std::move(answer));
  return {};
}

Result<> ReadRoutes::remove(Call& call, SessionId session) {
  if (text_parameter(call.request, "confirm") != "true") {
    return answer_preview(call, session, 409);
  }
  RemovalOrder order{
      .session = session,
      .mode = flag_parameter(call.request, "force") ? RemovalMode::stop_first
                                                    : RemovalMode::only_stopped,
      .request = {.by = call.principal.id, .key = call.key(), .body_hash = call.body_hash()}};
  remove_session(world_.runtime, world_.node, std::move(order),
                 [this, session, call = std::move(call)](const Result<>& removed) {
                   if (!removed) return call.fail(removed.error());
                   past_.forget(session);
                   if (world_.forget_session) world_.forget_session(session);
                   call.answer(R"({"deleted":")" + session.text() + R"("})");
                 });
  return {};
}

}  // namespace perdure
