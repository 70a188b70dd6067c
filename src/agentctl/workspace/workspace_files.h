// The fs.* calls except search: parameters in, one or a few FileTree calls, result out.
#pragma once

#include <memory>
#include <string_view>

#include "agentctl/workspace/workspace_params.h"
#include "env/env.h"
#include "env/file_tree.h"

namespace perdure {

// Creates the folder and its missing parents.
Result<> make_folders(FileTree& files, const TreePath& folder);

class FileCalls {
 public:
  FileCalls(Loop& loop, FileTree& files) : loop_(loop), files_(files) {}

  Result<std::string> list(std::string_view params);
  Result<std::string> stat(std::string_view params);
  Result<std::string> read(std::string_view params);
  Result<std::string> write(std::string_view params);
  Result<std::string> make_folder(std::string_view params);
  Result<std::string> rename(std::string_view params);
  // Removes a folder in steps, so that other work can run in between.
  void remove(std::string_view params, WorkspaceReply reply);

 private:
  void remove_part(TreePath path, std::uint64_t removed, WorkspaceReply reply);

  Loop& loop_;
  FileTree& files_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace perdure
