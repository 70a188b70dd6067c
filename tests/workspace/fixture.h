// A workspace in a temporary folder with the real services on it, and a repository if a test needs
// one. The machine's own git settings are hidden.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "agentctl/workspace/workspace.h"
#include "base/json/json.h"
#include "env/posix/files/file_tree.h"
#include "env/posix/loop/loop.h"
#include "env/posix/process/processes.h"

namespace perdure::test {

void put(const std::filesystem::path& path, std::string_view bytes);
std::string get(const std::filesystem::path& path);

class WorkspaceFixture : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Runs the loop until the condition holds; false after one minute.
  bool run_until(const std::function<bool()>& condition);
  // Starts the services on this root, with everything else unchanged.
  void serve(const std::filesystem::path& root);

  // One call; waits for its result.
  Result<std::string> call(std::string_view method, std::string_view params = "{}");
  // A call that must succeed.
  std::string done(std::string_view method, std::string_view params = "{}");
  // A call that must fail.
  Error refused(std::string_view method, std::string_view params = "{}");
  // Runs a shell command in a folder below the root, without the services. Must succeed.
  void sh(std::string_view command, std::string_view folder = "");

  // A repository at the root with one commit of `a.txt` on the branch main.
  void make_repository();

  std::filesystem::path base_;
  std::filesystem::path root_;
  std::vector<std::string> environment_;
  std::unique_ptr<EpollLoop> loop_;
  std::unique_ptr<PosixProcesses> processes_;
  std::unique_ptr<FileTree> files_;
  std::unique_ptr<FileTree> worktrees_;
  std::unique_ptr<WorkspaceCalls> workspace_;
};

// The member of an object as a raw value, or a nested one: "branch.name", "files.0.path".
std::string at(std::string_view json, std::string_view path);

}  // namespace perdure::test
