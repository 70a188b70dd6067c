// The agent's terminals. Each runs one command without input and joins stdout and stderr in the
// order of writing. It keeps the last bytes up to a limit until the agent releases it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/supervisor/services/acp_reply.h"
#include "env/env.h"
#include "env/file_tree.h"
#include "env/process.h"

namespace perdure {

class AcpTerminals {
 public:
  struct Setup {
    Loop& loop;
    Processes& processes;
    FileTree& files;
    std::vector<std::string> environment;
    std::vector<std::string> roots;  // absolute names of the workspace
  };
  explicit AcpTerminals(Setup setup);
  ~AcpTerminals();
  AcpTerminals(const AcpTerminals&) = delete;
  AcpTerminals& operator=(const AcpTerminals&) = delete;

  // Each takes the parameters of the ACP method of the same name.
  AcpResult create(std::string_view params);
  AcpResult output(std::string_view params);
  void wait_for_exit(std::string_view params, AcpReply reply);
  AcpResult kill(std::string_view params);
  // Kills the command if it still runs; waits for its exit are answered.
  AcpResult release(std::string_view params);
  void release_all();

 private:
  class Terminal;
  using Key = std::uint64_t;

  Result<Key> find(std::string_view params) const;
  void release(Key key);

  Setup setup_;
  Key last_ = 0;
  std::map<Key, std::unique_ptr<Terminal>> terminals_;
};

}  // namespace perdure
