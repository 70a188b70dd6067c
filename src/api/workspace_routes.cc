#include "api/workspace_routes.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/session_argument.h"
#include "api/shell_socket.h"
#include "api/workspace_link.h"

namespace perdure {
namespace {

struct WorkspaceCall {
  std::string_view method;   // of HTTP
  std::string_view pattern;  // behind /api/sessions/{id}
  std::string_view call;     // of the agentctl
  std::string_view summary;
};

constexpr std::array calls = {
    WorkspaceCall{"GET", "/fs/list", "fs.list", "The entries of a folder"},
    WorkspaceCall{"GET", "/fs/stat", "fs.stat", "One entry"},
    WorkspaceCall{"GET", "/fs/read", "fs.read", "A part of a file"},
    WorkspaceCall{"GET", "/fs/search", "fs.search", "Files by name and content"},
    WorkspaceCall{"POST", "/fs/search_cancel", "fs.search_cancel", "Ends a search"},
    WorkspaceCall{"POST", "/fs/write", "fs.write", "Replaces a file as a whole"},
    WorkspaceCall{"POST", "/fs/mkdir", "fs.mkdir", "Makes a folder"},
    WorkspaceCall{"POST", "/fs/remove", "fs.remove", "Removes a file or a folder"},
    WorkspaceCall{"POST", "/fs/rename", "fs.rename", "Renames a file or a folder"},
    WorkspaceCall{"GET", "/git/status", "git.status", "Branch and changed files"},
    WorkspaceCall{"GET", "/git/diff", "git.diff", "Changes as a unified diff"},
    WorkspaceCall{"GET", "/git/log", "git.log", "Commits, newest first"},
    WorkspaceCall{"GET", "/git/show", "git.show", "One commit and its changes"},
    WorkspaceCall{"GET", "/git/worktrees", "git.worktree_list", "The worktrees"},
    WorkspaceCall{"POST", "/git/stage", "git.stage", "Stages paths"},
    WorkspaceCall{"POST", "/git/unstage", "git.unstage", "Takes paths out of the index"},
    WorkspaceCall{"POST", "/git/commit", "git.commit", "Commits what is staged"},
    WorkspaceCall{"POST", "/git/worktree_add", "git.worktree_add", "Makes a worktree"},
    WorkspaceCall{"POST", "/git/worktree_remove", "git.worktree_remove", "Removes a worktree"},
    WorkspaceCall{"POST", "/lend", "agent.lend", "Waits for a request of the agent to an editor"},
    WorkspaceCall{"POST", "/lent", "agent.lent", "Answers such a request"},
    WorkspaceCall{"GET", "/shells", "shell.list", "The shells that run"},
    WorkspaceCall{"POST", "/shells", "shell.open", "Opens a shell"},
    WorkspaceCall{"GET", "/shells/read", "shell.read", "Output of a shell from an offset"},
    WorkspaceCall{"POST", "/shells/input", "shell.input", "Types into a shell"},
    WorkspaceCall{"POST", "/shells/resize", "shell.resize", "Resizes a shell's terminal"},
    WorkspaceCall{"POST", "/shells/close", "shell.close", "Ends a shell"},
};

constexpr std::array number_names = {"offset", "bytes", "max", "skip", "columns", "rows"};
constexpr std::array flag_names = {"regex", "ignore_case", "recursive", "parents"};

bool is_one_of(const auto& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view known) { return known == name; });
}

Result<> write_value(JsonWriter& json, std::string_view name, const std::string& value) {
  if (is_one_of(flag_names, name)) {
    if (value != "true" && value != "false") {
      return fail(Code::invalid_argument, std::string(name) + " must be true or false");
    }
    json.boolean(value == "true");
  } else if (is_one_of(number_names, name)) {
    const bool digits = !value.empty() && value.size() < 19 &&
                        std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) return fail(Code::invalid_argument, std::string(name) + " must be a number");
    json.number_unsigned(std::stoull(value));
  } else {
    json.string(value);
  }
  return {};
}

// Reading is for whoever sees the session; the rest changes it or runs programs in it.
Result<SessionId> session_for(ApiWorld& world, std::string_view call_name, const Call& call) {
  if (call_name.starts_with("shell.")) return shell_session_of(world, call);
  const bool only_reads = call.request.method == "GET" || call_name == "fs.search_cancel";
  return only_reads ? session_of(world, call) : own_session_of(world, call);
}

void serve(ApiWorld& world, std::string_view call_name, Call call) {
  const Result<SessionId> session = session_for(world, call_name, call);
  if (!session) return call.fail(session.error());
  Result<std::string> params = call.request.method == "GET"
                                   ? workspace_params(call.request)
                                   : (call.request.body.empty() ? "{}" : call.request.body);
  if (!params) return call.fail(params.error());
  if (const Result<> valid = json_validate(*params); !valid) return call.fail(valid.error());
  if (const Result<> fits = check_given("body", {*params}); !fits) return call.fail(fits.error());
  const std::string by = call.principal.id;
  with_execution(world, *session, by,
                 [&world, name = std::string(call_name), params = std::move(*params),
                  call = std::make_shared<Call>(std::move(call))](Result<ExecKey> exec) mutable {
                   if (!exec) return call->fail(exec.error());
                   world.workspaces.call(*exec, std::move(name), std::move(params),
                                         [call](Result<std::string> result) {
                                           if (!result) return call->fail(result.error());
                                           call->answer(std::move(*result));
                                         });
                 });
}

}  // namespace

Result<std::string> workspace_params(const HttpRequest& request) {
  JsonWriter json;
  json.begin_object();
  std::vector<std::string> paths;
  std::vector<std::string_view> seen;
  for (const auto& [name, value] : request.query) {
    if (name == "paths") {
      paths.push_back(value);
      continue;
    }
    if (std::ranges::find(seen, name) != seen.end()) {
      return fail(Code::invalid_argument, "'" + name + "' is given twice");
    }
    seen.push_back(name);
    json.key(name);
    TRY_VOID(write_value(json, name, value));
  }
  if (!paths.empty()) {
    json.key("paths").begin_array();
    for (const std::string& path : paths) json.string(path);
    json.end_array();
  }
  json.end_object();
  return std::move(json).take();
}

void add_workspace_routes(Router& router, Streams& streams) {
  ApiWorld& world = streams.world();
  for (const WorkspaceCall& each : calls) {
    const bool reads = each.method == "GET";
    router.add(
        {.method = std::string(each.method),
         .pattern = "/api/sessions/{id}" + std::string(each.pattern),
         .access = reads ? Access::observe : Access::operate,
         .summary = std::string(each.summary),
         .handler = [&world, name = each.call](Call call) { serve(world, name, std::move(call)); },
         .body_bytes_max = 24UL << 20,
         .at_owner = true});
  }
  router.add({.method = "GET",
              .pattern = "/api/sessions/{id}/shell",
              .access = Access::operate,
              .summary = "A shell over a WebSocket: bytes both ways, control as JSON text",
              .handler = [&streams](Call call) { open_shell_socket(streams, std::move(call)); },
              .body_bytes_max = 0,
              .at_owner = true,
              .is_socket = true});
}

}  // namespace perdure
