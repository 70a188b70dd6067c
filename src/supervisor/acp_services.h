// What an agent may ask its client for over ACP: reading and writing text files, and terminals. All
// of it stays in the workspace. Serve these only where the agent was told that we have them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "env/env.h"
#include "env/file_tree.h"
#include "env/process.h"
#include "supervisor/acp_reply.h"

namespace perdure {

class AcpTerminals;

struct AcpServicesSetup {
  Loop& loop;
  Processes& processes;
  FileTree& files;
  std::vector<std::string> environment;  // of terminals: NAME=value
  // Other absolute paths by which the agent knows the workspace: what it was given as its cwd.
  std::vector<std::string> root_aliases;
};

class AcpServices {
 public:
  explicit AcpServices(AcpServicesSetup setup);
  // Ends the terminals; who waits for one gets no reply.
  ~AcpServices();
  AcpServices(const AcpServices&) = delete;
  AcpServices& operator=(const AcpServices&) = delete;

  // False: not a method of ours, and the reply was not touched (it is still the caller's). The
  // reply comes from the loop or before this returns.
  bool serve(std::string_view method, std::string_view params_json, AcpReply& reply);

  // The agent is gone: its terminals go too, and their waits are answered.
  void release_all();

 private:
  AcpResult read_text_file(std::string_view params);
  AcpResult write_text_file(std::string_view params);
  AcpTerminals& terminals();

  AcpServicesSetup setup_;
  std::unique_ptr<AcpTerminals> terminals_;
};

}  // namespace perdure
