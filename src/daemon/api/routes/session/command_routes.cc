#include "daemon/api/routes/session/command_routes.h"

#include <utility>

#include "base/json/fields_json.h"
#include "daemon/api/gate/audited.h"
#include "daemon/api/gate/query.h"
#include "daemon/api/gate/session_argument.h"
#include "daemon/api/json/agent_json.h"

namespace perdure {
namespace {

using OnSession = void (SessionCommands::*)(Asker, SessionId, std::string_view, OnAnswer);

// Calls the handler with the session named by the path.
void with_session(SessionCommands& commands, Call call, auto handler) {
  const Result<SessionId> session = session_of(commands.world(), call);
  if (!session) return call.fail(session.error());
  Asker asker = asker_of(call);
  const std::string body = call.request.body;
  handler(std::move(asker), *session, body, answer_to(std::move(call)));
}

struct SessionRoute {
  std::string method;
  std::string rest;  // the path after /api/sessions/{id}
  std::string summary;
  OnSession command;
};

void add_session_route(Router& router, SessionCommands& commands, SessionRoute route) {
  router.add({.method = std::move(route.method),
              .pattern = "/api/sessions/{id}" + route.rest,
              .access = Access::operate,
              .summary = std::move(route.summary),
              .handler =
                  [&commands, command = route.command](Call call) {
                    with_session(
                        commands, std::move(call),
                        [&](Asker asker, SessionId session, std::string_view body, OnAnswer done) {
                          (commands.*command)(std::move(asker), session, body, std::move(done));
                        });
                  },
              // Each reads the session's folder.
              .at_owner = true});
}

void handle_verb(SessionCommands& commands, const SessionVerb& verb, Call call) {
  const bool dry = verb.name == "repair" && flag_parameter(call.request, "dry_run");
  const bool force = verb.name == "cancel" && flag_parameter(call.request, "force");
  with_session(commands, std::move(call),
               [&](Asker asker, SessionId session, std::string_view body, OnAnswer done) {
                 if (const Result<> may = check_verb(asker.principal, verb, session); !may) {
                   return done(std::unexpected(may.error()));
                 }
                 if (dry) return commands.plan_repair(asker, session, std::move(done));
                 Result<InputBody> input = verb.read(body);
                 if (input && force) get<CancelRun>(*input).force = true;
                 commands.submit(std::move(asker), session, std::move(input), std::move(done));
               });
}

// PATCH and DELETE of a prompt in the queue.
void handle_queue_item(SessionCommands& commands, Call call) {
  const Result<MessageId> message = MessageId::parse(call.arguments.at(1));
  if (!message) return call.fail(Error(Code::not_found, "no such prompt in the queue"));
  const bool removes = call.request.method == "DELETE";
  with_session(
      commands, std::move(call),
      [&](Asker asker, SessionId session, std::string_view text, OnAnswer done) {
        const auto read = [&]() -> Result<InputBody> {
          if (removes) return InputBody(RemoveQueued{*message});
          const auto body = TRY(read_body<QueueEditBody>(text));
          return InputBody(EditQueued{*message, TRY(make_prompt(body.text, body.content))});
        };
        commands.submit(std::move(asker), session, read(), std::move(done));
      });
}

}  // namespace

Asker asker_of(const Call& call) {
  return {call.principal, call.key(), call.body_hash(), from_of(call.request)};
}

OnAnswer answer_to(Call call) {
  return [call = std::move(call)](Result<ApiAnswer> answer) {
    if (!answer) return call.fail(answer.error());
    call.answer(answer->status, std::move(answer->json));
  };
}

void add_session_command_routes(Router& router, SessionCommands& commands) {
  router.add({.method = "POST",
              .pattern = "/api/sessions",
              .access = Access::operate,
              .summary = "Make a session",
              .handler = [&commands](Call call) {
                Asker asker = asker_of(call);
                const std::string body = call.request.body;
                commands.create(std::move(asker), body, answer_to(std::move(call)));
              }});
  const SessionRoute routes[] = {
      {"PATCH", "", "Change the title, the policy, the task or the folder",
       &SessionCommands::change},
      {"POST", "/resume", "Bring the agent back; answers with a receipt", &SessionCommands::resume},
      {"POST", "/fork", "Copy the session up to a record", &SessionCommands::fork},
  };
  for (const SessionRoute& route : routes) add_session_route(router, commands, route);
  for (const SessionVerb& verb : session_verbs()) {
    router.add({.method = "POST",
                .pattern = "/api/sessions/{id}/" + std::string(verb.name),
                .access = Access::operate,
                .summary = std::string(verb.summary),
                .handler = [&commands, &verb](Call call) {
                  handle_verb(commands, verb, std::move(call));
                }});
  }
  for (const auto& [method, summary] : {std::pair("PATCH", "Edit a queued prompt"),
                                        std::pair("DELETE", "Remove a queued prompt")}) {
    router.add(
        {.method = method,
         .pattern = "/api/sessions/{id}/queue/{item}",
         .access = Access::operate,
         .summary = summary,
         .handler = [&commands](Call call) { handle_queue_item(commands, std::move(call)); }});
  }
}

void add_wait_routes(Router& router, SessionCommands& commands) {
  router.add({.method = "POST",
              .pattern = "/api/permissions/{id}",
              .access = Access::answer,
              .summary = "Answer a permission question",
              .handler = [&commands](Call call) {
                const Result<PermissionId> id = PermissionId::parse(call.arguments.at(0));
                if (!id) return call.fail(Error(Code::not_found, "no such question"));
                Asker asker = asker_of(call);
                const std::string body = call.request.body;
                commands.answer_permission(std::move(asker), *id, body, answer_to(std::move(call)));
              }});
  router.add({.method = "POST",
              .pattern = "/api/waits/{token_id}",
              .access = Access::answer,
              .summary = "Use a wait token",
              .handler = [&commands](Call call) {
                const Result<WaitTokenId> id = WaitTokenId::parse(call.arguments.at(0));
                if (!id) return call.fail(Error(Code::token_not_found, "no such wait token"));
                Asker asker = asker_of(call);
                const std::string body = call.request.body;
                commands.answer_wait(std::move(asker), *id, body, answer_to(std::move(call)));
              }});
  router.add({.method = "GET",
              .pattern = "/api/waits/{token_id}/secret",
              .access = Access::answer,
              .summary = "The secret of a wait token",
              .handler = [&commands](Call call) {
                const Result<WaitTokenId> id = WaitTokenId::parse(call.arguments.at(0));
                if (!id) return call.fail(Error(Code::token_not_found, "no such wait token"));
                const Asker asker = asker_of(call);
                commands.show_wait_secret(asker, *id, answer_to(std::move(call)));
              }});
}

namespace {

void tell_probed(const ApiWorld::Probed& probed, const Call& call, int status) {
  JsonWriter json;
  std::string steps;
  append_json(steps, probed.steps);
  json.begin_object().key("running").boolean(probed.is_running).key("steps").raw(steps);
  json.key("error").string(probed.error);
  if (probed.report) json.key("report").raw(encode_fields(*probed.report));
  json.end_object();
  call.answer(status, std::move(json).take());
}

void add_probe_routes(Router& router, ApiWorld& world) {
  router.add({.method = "POST",
              .pattern = "/api/agents/{name}/probe",
              .access = Access::admin,
              .summary = "Starts the agent in a scratch folder and measures what it can do",
              .handler = [&world](const Call& call) {
                const std::string& name = call.arguments.at(0);
                if (!world.start_probe) {
                  return call.fail(Error(Code::unavailable, "not in this daemon"));
                }
                const Result<> begun = world.start_probe(name);
                if (!begun) return call.fail(begun.error());
                tell_probed(world.probed(name), call, 202);
              }});
  router.add({.method = "GET",
              .pattern = "/api/agents/{name}/probe",
              .access = Access::observe,
              .summary = "How far the probe of an agent is, and its last report",
              .handler = [&world](const Call& call) {
                const std::string& name = call.arguments.at(0);
                if (const auto known = world.agents.find(name); !known) {
                  return call.fail(known.error());
                }
                if (!world.probed) return call.fail(Error(Code::unavailable, "not in this daemon"));
                tell_probed(world.probed(name), call, 200);
              }});
}

}  // namespace

void add_agent_routes(Router& router, ApiWorld& world) {
  add_probe_routes(router, world);
  router.add({.method = "GET",
              .pattern = "/api/agents",
              .access = Access::observe,
              .summary = "The agents that there are",
              .handler = [&world](const Call& call) {
                JsonWriter out;
                out.begin_object().key("agents").begin_array();
                for (const auto& [name, agent] : world.agents.all()) {
                  out.raw(agent_json(agent, world));
                }
                out.end_array().end_object();
                call.answer(std::move(out).take());
              }});
}

}  // namespace perdure
