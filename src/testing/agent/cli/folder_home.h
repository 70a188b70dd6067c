// The real test agent's home: a folder with NAME.json per session, NAME.lock per lock and a file
// `violations`. The kernel releases the locks with the process, however it ends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testing/agent/test_agent_home.h"

namespace perdure::testagent {

class FolderHome : public AgentHome {
 public:
  // Creates the folder and its missing parents.
  explicit FolderHome(std::string folder);
  ~FolderHome() override;
  FolderHome(const FolderHome&) = delete;
  FolderHome& operator=(const FolderHome&) = delete;

  std::optional<std::string> get(const std::string& session_id) override;
  // Atomic, even if the process is killed during it.
  void put(const std::string& session_id, const std::string& text) override;
  void remove(const std::string& session_id) override;
  std::vector<std::string> list() override;
  bool lock(const std::string& name) override;
  void unlock(const std::string& name) override;
  void report_violation(const std::string& line) override;

 private:
  // Names that could leave the folder have no path.
  std::optional<std::string> path_of(const std::string& name, const char* ending) const;

  std::string folder_;
  std::map<std::string, int> locks_;  // descriptors
};

}  // namespace perdure::testagent
