// The home of the real test agent: a folder with NAME.json for each session, NAME.lock for each
// lock and a file `violations`. Locks are the kernel's: they fall with the process, however it
// ends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testing/test_agent_home.h"

namespace perdure::testagent {

class FolderHome : public AgentHome {
 public:
  // Makes the folder (and those above it) when it is not there.
  explicit FolderHome(std::string folder);
  ~FolderHome() override;
  FolderHome(const FolderHome&) = delete;
  FolderHome& operator=(const FolderHome&) = delete;

  std::optional<std::string> get(const std::string& session_id) override;
  // Whole or not at all, also when the process is killed meanwhile.
  void put(const std::string& session_id, const std::string& text) override;
  void remove(const std::string& session_id) override;
  std::vector<std::string> list() override;
  bool lock(const std::string& name) override;
  void unlock(const std::string& name) override;
  void report_violation(const std::string& line) override;

 private:
  // Names that could leave the folder lead nowhere.
  std::optional<std::string> path_of(const std::string& name, const char* ending) const;

  std::string folder_;
  std::map<std::string, int> locks_;  // descriptors
};

}  // namespace perdure::testagent
