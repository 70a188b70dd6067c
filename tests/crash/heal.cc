// Checks one session after the other; each check does at most what a person would.
#include "heal.h"

#include "daemon_process.h"

namespace perdure {
namespace {

// Whether it is already at rest; otherwise does what a person would.
bool brought_to_rest(ApiClient& api, const std::string& session) {
  const std::string path = "/api/sessions/" + session;
  const ApiReply reply = api.get(path);
  const std::string shown = json_at(reply.body, "session");
  for (const std::string& wait : json_list(shown, "pending")) {
    api.post("/api/permissions/" + json_at(wait, "perm_id"), R"({"option_id":"allow_once"})");
  }
  if (json_at(shown, "queue_held") == "true") api.post(path + "/queue/release");
  const std::string status = json_at(shown, "status");
  return reply.ok() && json_at(shown, "queue_length") == "0" && status != "running" &&
         status != "waiting" && json_at(shown, "executor_status") != "starting";
}

}  // namespace

std::string heal(ApiClient& api, const std::vector<std::string>& sessions, std::int64_t wait_ms) {
  for (const std::string& session : sessions) {
    if (until([&] { return brought_to_rest(api, session); }, wait_ms)) continue;
    return api.get("/api/sessions/" + session).body;
  }
  return {};
}

}  // namespace perdure
