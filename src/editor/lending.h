// The editor's abilities lent to the agent of an open session: its files, including unsaved text,
// and its terminals. While a turn runs, this forwards the agent's requests to the editor and the
// editor's answers to the daemon. Pure, like the whole face.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/json_view.h"
#include "core/acp/agent/agent.h"
#include "editor/connection.h"

namespace perdure::face {

struct LentAbilities {
  bool fs_read = false;
  bool fs_write = false;
  bool terminal = false;
  bool any() const { return fs_read || fs_write || terminal; }
};

class Lending {
 public:
  struct Setup {
    std::string session;
    std::string lender;  // globally unique per connection
    LentAbilities abilities;
  };
  Lending(Connection& connection, Setup setup);

  // A turn has started or ended. May be repeated: after a disconnect this lends again.
  void set_running(bool running);
  // False: the answer belongs to none of its requests.
  bool answer(const acp::AnswerGiven& given);
  bool refuse(const acp::AnswerRefused& refused);

 private:
  void wait_for_request();
  void pass_on(client::JsonView request);
  void give_back(const acp::RpcId& asked, std::string_view member, std::string_view json);

  Connection& connection_;
  Setup setup_;
  bool is_running_ = false;
  bool is_waiting_ = false;                     // for a request
  std::uint64_t got_ = 0;                       // the last request
  std::map<acp::RpcId, std::uint64_t> passed_;  // sent to the editor, not answered yet
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure::face
