// Files and terminals that an editor lends to the agent. The editor polls for the agent's next
// request and returns the answer. The workspace serves the agent if no editor lends, and for paths
// outside the workspace.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/supervisor/agent/agent.h"
#include "agentctl/workspace/workspace_port.h"
#include "base/json/fields.h"
#include "env/env.h"

namespace perdure {

// The lender and what it lends.
struct LendParams {
  std::string lender;     // unique per lender
  std::uint64_t got = 0;  // the last request that it received
  bool fs_read = false;
  bool fs_write = false;
  bool terminal = false;
  FIELDS {
    visit("lender", self.lender);
    visit("got", self.got);
    visit("fs_read", self.fs_read);
    visit("fs_write", self.fs_write);
    visit("terminal", self.terminal);
  }
};

class Lending {
 public:
  using AgentReply = AgentRequests::Reply;
  // Serves a request that no lender answered.
  using Workspace =
      std::function<void(const std::string& method, const std::string& params, AgentReply reply)>;
  struct Setup {
    Loop& loop;
    std::vector<std::string> roots;  // absolute paths by which the agent knows the workspace
    Workspace workspace;
  };
  explicit Lending(Setup setup);
  ~Lending();
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;

  // agent.lend: replied with {"request":{id,method,params}} when the agent needs something that is
  // lent, or with {"request":null} after lend_hold_ms. A lender calls again immediately.
  void lend(std::string_view params, WorkspacePort::Reply reply);
  // agent.lent: {id, result} or {id, error}. not_found: the request was already answered elsewhere.
  Result<std::string> give_back(std::string_view params);

  // Returns false if no editor lends that; the reply is still the caller's.
  bool offer(const std::string& method, const std::string& params, AgentReply& reply);

 private:
  struct Lender {
    LendParams terms;
    WorkspacePort::Reply reply;
    Loop::TimerId timer = 0;
  };
  struct Lent {
    std::string lender;  // empty: not handed out yet
    std::string method;
    std::string params;
    AgentReply reply;
    Loop::TimerId timer = 0;
  };

  bool is_there(std::string_view ability) const;
  bool is_inside(std::string_view params) const;
  void hand_out();
  void hand(Lender lender, std::uint64_t id);
  void drop_lender(const std::string& name);
  void hold_over(const std::string& name);
  void wait_for_return();
  void take_back(std::uint64_t id);
  void take_all_back();

  Setup setup_;
  std::deque<Lender> waiting_;
  std::map<std::uint64_t, Lent> lent_;
  std::set<std::string> terminals_;  // created by a lender
  LendParams last_;                  // the latest terms; valid while the lender may return
  Loop::TimerId absent_ = 0;         // no lender is waiting; lending ends when this fires
  std::uint64_t last_id_ = 0;
};

}  // namespace perdure
