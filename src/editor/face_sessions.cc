// Opens sessions for an editor: new, load, resume, fork, and the list. Each is answered only after
// its journal was read, so that the answer can state what the agent offers.
#include <algorithm>
#include <utility>

#include "base/json/json.h"
#include "base/limits.h"
#include "editor/face.h"

namespace perdure::face {
namespace {

using client::JsonView;

// The `session` of a response, as JSON text.
std::string session_in(std::string_view body) {
  return std::string(JsonView(body)["session"].raw());
}

std::string id_of(std::string_view session) { return JsonView(session)["id"].text(); }

void write_meta(JsonWriter& out, JsonView session) {
  out.key("_meta").begin_object().key("perdure").begin_object();
  out.key("session").string(session["id"].text());
  for (const char* const key : {"agent", "title", "status", "cwd"}) {
    if (const std::string text = session[key].text(); !text.empty()) out.key(key).string(text);
  }
  out.end_object().end_object();
}

// Repeats the mode for editors without support for options.
void write_modes(JsonWriter& out, const std::vector<acp::ConfigOption>& options) {
  const auto mode = std::ranges::find(options, "mode", &acp::ConfigOption::category);
  if (mode == options.end() || mode->choices.empty()) return;
  out.key("modes").begin_object().key("currentModeId").string(mode->value);
  out.key("availableModes").begin_array();
  for (const acp::OptionChoice& choice : mode->choices) {
    out.begin_object().key("id").string(choice.value).key("name").string(choice.name).end_object();
  }
  out.end_array().end_object();
}

std::string make_body(const FaceSetup& setup, const acp::SessionAsked& asked) {
  const JsonView wanted = JsonView(asked.meta.text)["perdure"];
  const std::string named = wanted["agent"].text();
  const std::string agent = named.empty() ? setup.agent : named;
  JsonWriter body;
  body.begin_object().key("cwd").string(asked.setup.cwd);
  if (!agent.empty()) body.key("agent").string(agent);
  if (const std::string title = wanted["title"].text(); !title.empty()) {
    body.key("title").string(title);
  }
  if (asked.setup.mcp_servers.text.starts_with('[')) {
    body.key("mcp_servers").raw(asked.setup.mcp_servers.text);
  }
  return std::move(body.end_object()).take();
}

}  // namespace

OpenSession& Face::open(Opening opening) {
  const std::string id = id_of(opening.session);
  if (find(id)) close(id);
  const JsonView session(opening.session);
  OpenSession::Setup setup{.id = id,
                           .past = opening.past,
                           .head = session["seq"].number(),
                           .is_titled = !session["title"].text().empty(),
                           .lent = opening.cwd == session["cwd"].text() ? lent_ : LentAbilities{},
                           .lender = setup_.key_prefix + "-" + id};
  OpenSession::OnCaughtUp then = std::move(opening.then);
  if (!then) {
    then = [this, opening = std::move(opening)](std::expected<void, acp::RpcError> caught_up) {
      if (!caught_up) return give_error(opening.id, caught_up.error());
      give_opened(opening);
      if (OpenSession* const open = find(id_of(opening.session))) open->go_live();
    };
  }
  auto made = std::make_unique<OpenSession>(static_cast<Connection&>(*this), std::move(setup),
                                            std::move(then));
  OpenSession& out = *made;
  sessions_.insert_or_assign(id, std::move(made));
  wishes_.emplace_back(FollowWish{id});
  return out;
}

void Face::give_opened(const Opening& opening) {
  OpenSession* const open = find(id_of(opening.session));
  if (!open) return give_error(opening.id, {.message = "the session was closed in the meantime"});
  const std::vector<acp::ConfigOption>& options = open->teller().options();
  JsonWriter result;
  result.begin_object();
  const bool is_known = opening.call == acp::Call::load || opening.call == acp::Call::resume;
  if (!is_known) result.key("sessionId").string(open->id());
  write_modes(result, options);
  if (!options.empty()) {
    result.key("configOptions").raw(acp::print_options(options, acp::Dialect::v1));
  }
  write_meta(result, JsonView(opening.session));
  give_result(opening.id, result.end_object().text());
}

void Face::open_new(const acp::SessionAsked& asked) {
  call(post_request({"/api/sessions", make_body(setup_, asked), next_key()}),
       [this, asked](Result<client::ApiAnswer> answer) {
         const auto body = body_of(std::move(answer));
         if (!body) return give_error(asked.id, body.error());
         start_agent(asked, session_in(*body));
       });
}

// An editor needs to know at once what the agent offers, or why it does not start.
void Face::start_agent(const acp::SessionAsked& asked, const SessionJson& session) {
  const std::string path = session_path(id_of(session), "/resume");
  call(post_request({path, "{}", next_key()}),
       [this, asked, session](Result<client::ApiAnswer> answer) {
         const auto body = body_of(std::move(answer));
         if (!body) {
           acp::RpcError error = body.error();
           error.message += " (the session " + id_of(session) + " was made)";
           return give_error(asked.id, error);
         }
         const SessionJson now = session_in(*body);
         open({.id = asked.id, .session = now.empty() ? session : now, .cwd = asked.setup.cwd});
       });
}

// The history follows the answer: until then the editor does not know the session's id.
void Face::open_given(const acp::SessionAsked& asked) {
  call(get_request(session_path(setup_.session)), [this, asked](Result<client::ApiAnswer> answer) {
    const auto body = body_of(std::move(answer));
    if (!body) return give_error(asked.id, body.error());
    const SessionJson session = session_in(*body);
    open({.id = asked.id,
          .session = session,
          .then = [this, id = asked.id, session](std::expected<void, acp::RpcError> caught_up) {
            if (!caught_up) return give_error(id, caught_up.error());
            give_opened({.id = id, .session = session});
            tell_history(session);
          }});
  });
}

void Face::tell_history(const SessionJson& session) {
  open({.session = session,
        .past = Past::told,
        .then = [this, id = id_of(session)](std::expected<void, acp::RpcError> told) {
          OpenSession* const open = find(id);
          if (told && open) open->go_live();
        }});
}

void Face::reopen(const acp::SessionAsked& asked) {
  call(get_request(session_path(asked.session_id)),
       [this, asked](Result<client::ApiAnswer> answer) {
         const auto body = body_of(std::move(answer));
         if (!body) return give_error(asked.id, body.error());
         SessionJson session = session_in(*body);
         // The daemon also accepts titles and parts of ids; an editor must give the whole id.
         if (id_of(session) != asked.session_id) {
           return give_error(asked.id, {.code = acp::rpc_code::not_found,
                                        .message = "no such session: " + asked.session_id});
         }
         open({.id = asked.id,
               .session = std::move(session),
               .call = asked.call,
               .past = asked.call == acp::Call::load ? Past::told : Past::silent,
               .cwd = asked.setup.cwd});
       });
}

// In the same folder, because the editor has it open.
void Face::fork(const acp::SessionAsked& asked) {
  call(post_request({session_path(asked.session_id, "/fork"), R"({"share_cwd":true})", next_key()}),
       [this, asked](Result<client::ApiAnswer> answer) {
         const auto body = body_of(std::move(answer));
         if (!body) return give_error(asked.id, body.error());
         open({.id = asked.id, .session = session_in(*body), .cwd = asked.setup.cwd});
       });
}

void Face::list(const acp::ListAsked& asked) {
  client::ApiRequest request = get_request("/api/sessions");
  request.query.emplace_back("limit", std::to_string(face_list_rows));
  if (!asked.cursor.empty()) request.query.emplace_back("cursor", asked.cursor);
  call(std::move(request), [this, asked](Result<client::ApiAnswer> answer) {
    const auto body = body_of(std::move(answer));
    if (!body) return give_error(asked.id, body.error());
    const JsonView page(*body);
    JsonWriter result;
    result.begin_object().key("sessions").begin_array();
    for (const JsonView session : page["sessions"].items()) {
      const std::string cwd = session["cwd"].text();
      if (!asked.cwd.empty() && cwd != asked.cwd) continue;
      result.begin_object().key("sessionId").string(session["id"].text()).key("cwd").string(cwd);
      if (const std::string title = session["title"].text(); !title.empty()) {
        result.key("title").string(title);
      }
      if (const std::string updated = session["updated"].text(); !updated.empty()) {
        result.key("updatedAt").string(updated);
      }
      write_meta(result, session);
      result.end_object();
    }
    result.end_array();
    if (const std::string next = page["next"].text(); !next.empty()) {
      result.key("nextCursor").string(next);
    }
    give_result(asked.id, result.end_object().text());
  });
}

}  // namespace perdure::face
