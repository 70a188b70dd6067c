// The client services that an agent may request over ACP: text files and terminals, confined to the
// workspace. Serve only the services that were advertised to the agent.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/supervisor/services/acp_reply.h"
#include "env/env.h"
#include "env/file_tree.h"
#include "env/process.h"

namespace perdure {

class AcpTerminals;

struct AcpServicesSetup {
  Loop& loop;
  Processes& processes;
  FileTree& files;
  std::vector<std::string> environment;  // for terminals: NAME=value
  // Other absolute paths by which the agent knows the workspace, such as the cwd it was given.
  std::vector<std::string> root_aliases;
};

class AcpServices {
 public:
  explicit AcpServices(AcpServicesSetup setup);
  // Ends the terminals; pending waits get no reply.
  ~AcpServices();
  AcpServices(const AcpServices&) = delete;
  AcpServices& operator=(const AcpServices&) = delete;

  // Returns false and leaves `reply` untouched if it does not serve this method. The reply comes
  // from the loop or before this returns.
  bool serve(std::string_view method, std::string_view params_json, AcpReply& reply);

  // Call when the agent has ended: ends its terminals and answers their pending waits.
  void release_all();

 private:
  AcpResult read_text_file(std::string_view params);
  AcpResult write_text_file(std::string_view params);
  AcpTerminals& terminals();

  AcpServicesSetup setup_;
  std::unique_ptr<AcpTerminals> terminals_;
};

}  // namespace perdure
