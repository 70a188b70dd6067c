// Files and terminals that an editor lends to the agent: the editor's side asks for what the agent
// wants next, and brings the answers. While nobody lends, and for what lies outside of the
// workspace, the agent is served by the workspace as ever.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "env/env.h"
#include "supervisor/agent.h"
#include "supervisor/workspace_port.h"

namespace perdure {

// Who lends, and what.
struct LendParams {
  std::string lender;     // unlike that of every other one
  std::uint64_t got = 0;  // the last request that it has received
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
  // Serves a request that no lender has answered.
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

  // agent.lend: replied with {"request":{id,method,params}} as soon as the agent wants something
  // that is lent, with {"request":null} after lend_hold_ms. Whoever lends asks again at once.
  void lend(std::string_view params, WorkspacePort::Reply reply);
  // agent.lent: {id, result} or {id, error}. not_found: the agent was answered by somebody else.
  Result<std::string> give_back(std::string_view params);

  // False: nobody lends that, and the reply is still the caller's.
  bool offer(const std::string& method, const std::string& params, AgentReply& reply);

 private:
  struct Lender {
    LendParams terms;
    WorkspacePort::Reply reply;
    Loop::TimerId timer = 0;
  };
  struct Lent {
    std::string lender;  // empty: handed out to nobody yet
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
  std::set<std::string> terminals_;  // that a lender has made
  LendParams last_;                  // what was lent last; counts while its lender may come back
  Loop::TimerId absent_ = 0;         // nobody waits; when it runs out nobody lends
  std::uint64_t last_id_ = 0;
};

}  // namespace perdure
