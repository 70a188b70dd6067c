// The calls fs.* but the search: parameters in, one FileTree call or a few, result out.
#pragma once

#include <memory>
#include <string_view>

#include "env/env.h"
#include "env/file_tree.h"
#include "supervisor/workspace_params.h"

namespace perdure {

// Makes the folders on the way that are missing, and the folder itself.
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
  // A whole folder is removed part by part, so that other work goes on between.
  void remove(std::string_view params, WorkspaceReply reply);

 private:
  void remove_part(TreePath path, std::uint64_t removed, WorkspaceReply reply);

  Loop& loop_;
  FileTree& files_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace perdure
