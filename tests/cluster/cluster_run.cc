// The order matters: sessions come to rest, then clients catch up, then everything is compared.
#include "cluster_run.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/check.h"
#include "heal.h"
#include "journal_check.h"

namespace perdure {
namespace {

constexpr std::int64_t client_answer_ms = 3'000;  // a stopped daemon sends nothing

void add(std::vector<std::string>& found, const std::vector<std::string>& more) {
  found.insert(found.end(), more.begin(), more.end());
}

std::string make_folder() {
  const char* const temporary = std::getenv("TMPDIR");
  std::string name = std::string(temporary ? temporary : "/tmp") + "/perdure-cluster-XXXXXX";
  CHECK(mkdtemp(name.data()) != nullptr);
  std::filesystem::create_directory(name + "/agent");
  return name;
}

// All daemons start the same agent with the same home: two processes of one session's agent would
// meet there.
std::string config_of(const std::string& folder) {
  return "[agents.test]\ncommand = ['" + std::string(PERDURE_TESTAGENT) + "', '--home', '" +
         folder + "/agent']\nnative_session_resume = true\n";
}

}  // namespace

ClusterRun::ClusterRun(const Setup& setup) : store_(setup.store), folder_(make_folder()) {
  for (std::size_t i = 0; i < setup.nodes; ++i) {
    DaemonSetup daemon{.agents = {},
                       .config = config_of(folder_),
                       .arguments = {"--store", store_, "--node", name(i), "--lease",
                                     std::to_string(setup.lease_secs)}};
    if (setup.homes == Setup::Homes::one) {
      daemon.arguments.insert(daemon.arguments.end(), {"--executions", executions()});
    }
    nodes_.push_back(std::make_unique<DaemonProcess>(std::move(daemon)));
  }
  for (int i = 1; i <= setup.clients; ++i) {
    const auto first = static_cast<std::size_t>(i) % nodes_.size();
    CrashClientSetup client{
        .daemon = nodes_[first]->endpoint(),
        .answer_ms = client_answer_ms,
        .log = folder_ + "/client" + std::to_string(i),
        .number = i,
        .seed = setup.seed + static_cast<std::uint64_t>(i),
        .sessions_max = 2,
        .scripts = {"say 3", "chunks 60 64; tool 1; sleep 30; say 1", "permission 1; say 2",
                    "sleep 150; chunks 200 40", "think 2; tool 2; permission 1; tool 1",
                    "chunks 5 3000; sleep 400; say 2", "paced 40 50"}};
    for (std::size_t other = 0; other < nodes_.size(); ++other) {
      if (other != first) client.others.push_back(nodes_[other]->endpoint());
    }
    clients_.push_back(std::make_unique<CrashClient>(std::move(client)));
  }
}

ClusterRun::~ClusterRun() {
  clients_.clear();
  for (const auto& node : nodes_) {
    if (node->is_running()) node->signal(SIGCONT);
  }
  nodes_.clear();
  std::error_code none;
  std::filesystem::remove_all(folder_, none);
}

Result<> ClusterRun::start_all() {
  for (const auto& node : nodes_) {
    if (!node->is_running()) TRY_VOID(node->start());
  }
  return {};
}

bool ClusterRun::is_shared() {
  ApiClient api(nodes_[0]->endpoint());
  return !json_list(api.get("/api/nodes").body, "nodes").empty();
}

void ClusterRun::start_clients() {
  for (const auto& client : clients_) client->start();
}

void ClusterRun::stop_clients() {
  for (const auto& client : clients_) client->stop();
}

std::vector<std::string> ClusterRun::session_ids() const {
  std::vector<std::string> ids;
  for (const auto& client : clients_) {
    for (const auto& [id, owned] : client->sessions()) ids.push_back(id);
  }
  return ids;
}

PgRows ClusterRun::ask(const PgStatement& statement, std::size_t number) {
  if (!database_) {
    Result<std::unique_ptr<PgLink>> link = PgLink::open(store_, {});
    CHECK(link.has_value(), "the test's own database answers");
    database_ = std::move(*link);
  }
  PgResult<PgRows> rows = database_->run(statement, PgParams().text(name(number)));
  CHECK(rows.has_value(), "the test's own database answers");
  return *std::move(rows);
}

std::size_t ClusterRun::owned_by(std::size_t number) {
  // A session whose creation was cut off has a lease but cannot be taken over.
  return ask({"count_sessions",
              "SELECT count(*) FROM perdure.leases JOIN perdure.sessions ON id = session "
              "WHERE node = $1"},
             number)
      .u64({});
}

std::string ClusterRun::leases_of(std::size_t number) {
  const PgRows rows = ask({"describe_leases", R"(
SELECT coalesce(string_agg(concat_ws(' ', l.session, 'lease', l.epoch, 'head', coalesce(s.head, -1),
  CASE WHEN s.open THEN 'open' ELSE 'closed' END, 'heard of', now() - n.heartbeat), '; '), 'none')
FROM perdure.leases l LEFT JOIN perdure.sessions s ON s.id = l.session
LEFT JOIN perdure.nodes n ON n.name = l.node WHERE l.node = $1
)"},
                          number);
  return std::string(rows.bytes({}));
}

std::vector<std::string> ClusterRun::findings() {
  std::vector<std::string> found;
  ApiClient api(nodes_[0]->endpoint());
  if (const std::string restless = heal(api, session_ids()); !restless.empty()) {
    found.push_back("Q1 a session comes to no rest: " + restless);
    return found;
  }
  catch_up(found);
  judge_all(found);
  look_for_strangers(found);
  if (std::filesystem::exists(folder_ + "/agent/violations")) {
    found.push_back("PROC1 two agents of one session");
  }
  return found;
}

// At rest every client sees the head, and every daemon has the same one.
void ClusterRun::catch_up(std::vector<std::string>& found) {
  for (const auto& client : clients_) {
    for (const auto& [id, owned] : client->sessions()) {
      const std::size_t head = client->api().records(id).size();
      for (const auto& node : nodes_) {
        ApiClient api(node->endpoint());
        const bool agrees = until([&] { return api.records(id).size() >= head; }, 30'000);
        if (!agrees) found.push_back("STREAM5 a daemon does not see the head of " + id);
      }
    }
    add(found, client->read_to_the_heads());
  }
}

void ClusterRun::judge_all(std::vector<std::string>& found) {
  records_ = 0;
  for (const auto& client : clients_) {
    const CrashClient::Judged judged = client->judge_sessions();
    add(found, judged.wrong);
    records_ += judged.records;
  }
}

// ACK2 for creations: a request that got no answer and was sent to another daemon made one session.
void ClusterRun::look_for_strangers(std::vector<std::string>& found) {
  const std::vector<std::string> ids = session_ids();
  const std::set<std::string> known(ids.begin(), ids.end());
  ApiClient api(nodes_[0]->endpoint());
  for (const std::string& row :
       json_list(api.get("/api/sessions?archived=all&limit=100").body, "sessions")) {
    const std::string id = json_at(row, "id");
    if (!known.contains(id)) found.push_back("ACK2 a session that nobody was told of: " + id);
  }
}

std::vector<std::string> ClusterRun::end() {
  std::vector<std::string> found;
  std::size_t turn = 0;
  for (const std::string& id : session_ids()) {
    ApiClient api(nodes_[turn++ % nodes_.size()]->endpoint());
    const ApiReply reply = api.post("/api/sessions/" + id + "/stop");
    if (!reply.ok()) found.push_back("a stop was refused: " + reply.body);
  }
  for (const auto& node : nodes_) {
    if (!node->until_no_hosted()) found.push_back("PROC6 processes are left");
  }
  for (const auto& node : nodes_) {
    if (const int code = node->stop(); code != 0) {
      found.push_back("a daemon ended with " + std::to_string(code));
    }
  }
  add(found, judge_database(store_));
  if (!found.empty()) {
    for (const auto& node : nodes_) found.push_back(node->output());
  }
  return found;
}

CrashClient::Counts ClusterRun::counts() const {
  CrashClient::Counts sum;
  for (const auto& client : clients_) sum += client->counts();
  return sum;
}

}  // namespace perdure
