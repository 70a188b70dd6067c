// The order matters: sessions come to rest, then clients catch up, then everything is compared.
#include "crash_run.h"

#include "heal.h"
#include "journal_check.h"

namespace perdure {
namespace {

void add(std::vector<std::string>& found, const std::vector<std::string>& more) {
  found.insert(found.end(), more.begin(), more.end());
}

}  // namespace

CrashRun::CrashRun(const Setup& setup)
    : store_(setup.store), daemon_({.arguments = {"--store", setup.store}}) {
  for (int i = 1; i <= setup.clients; ++i) {
    clients_.push_back(std::make_unique<CrashClient>(CrashClientSetup{
        .daemon = daemon_.endpoint(),
        .log = daemon_.folder() + "/client" + std::to_string(i),
        .number = i,
        .seed = setup.seed + static_cast<std::uint64_t>(i),
        .sessions_max = setup.sessions_max,
        .scripts = {"say 3", "chunks 60 64; tool 1; sleep 30; say 1", "permission 1; say 2",
                    "sleep 150; chunks 200 40", "think 2; tool 2; permission 1; tool 1",
                    "chunks 5 3000; sleep 400; say 2"}}));
  }
}

void CrashRun::start_clients() {
  for (const auto& client : clients_) client->start();
}

void CrashRun::stop_clients() {
  for (const auto& client : clients_) client->stop();
}

std::vector<std::string> CrashRun::session_ids() const {
  std::vector<std::string> ids;
  for (const auto& client : clients_) {
    for (const auto& [id, owned] : client->sessions()) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> CrashRun::findings() {
  std::vector<std::string> found;
  ApiClient api(daemon_.endpoint());
  if (const std::string restless = heal(api, session_ids()); !restless.empty()) {
    found.push_back("Q1 a session comes to no rest: " + restless);
    return found;
  }
  for (const auto& client : clients_) add(found, client->read_to_the_heads());
  judge_all(found);
  if (daemon_.had_two_agents()) found.push_back("PROC1 two agents of one session");
  return found;
}

void CrashRun::judge_all(std::vector<std::string>& found) {
  records_ = 0;
  for (const auto& client : clients_) {
    const CrashClient::Judged judged = client->judge_sessions();
    add(found, judged.wrong);
    records_ += judged.records;
  }
}

std::vector<std::string> CrashRun::end() {
  std::vector<std::string> found;
  ApiClient api(daemon_.endpoint());
  for (const std::string& id : session_ids()) {
    const ApiReply reply = api.post("/api/sessions/" + id + "/stop");
    if (!reply.ok()) found.push_back("a stop was refused: " + reply.body);
  }
  if (!daemon_.until_no_hosted()) found.push_back("PROC6 processes are left");
  if (const int code = daemon_.stop(); code != 0) {
    found.push_back("the daemon ended with " + std::to_string(code));
  }
  if (store_ == "files") {
    add(found, judge_files(daemon_.home()));
  } else if (store_ == "sqlite") {
    add(found, judge_store(daemon_.home() + "/perdure.db"));
  } else {
    add(found, judge_database(store_));
  }
  if (!found.empty()) found.push_back(daemon_.output());
  return found;
}

CrashClient::Counts CrashRun::counts() const {
  CrashClient::Counts sum;
  for (const auto& client : clients_) sum += client->counts();
  return sum;
}

}  // namespace perdure
