// The fs.search call: by name pattern, content, or both. In a repository git searches and skips
// ignored files; elsewhere we walk the tree in small steps. Every search ends: by its match, file
// or time limit, or when the caller cancels it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "agentctl/workspace/git/git_runner.h"
#include "agentctl/workspace/workspace_params.h"
#include "env/env.h"
#include "env/file_tree.h"

namespace perdure {

class SearchCalls {
 public:
  struct Setup {
    Loop& loop;
    FileTree& files;
    GitRunner& git;
  };
  explicit SearchCalls(Setup setup);
  ~SearchCalls();
  SearchCalls(const SearchCalls&) = delete;
  SearchCalls& operator=(const SearchCalls&) = delete;

  void search(std::string_view params, WorkspaceReply reply);
  // Ends the searches with that id; each answers with its matches so far.
  Result<std::string> cancel(std::string_view params);

 private:
  class Search;
  using Key = std::uint64_t;

  Setup setup_;
  Key last_key_ = 0;
  std::map<Key, std::unique_ptr<Search>> searches_;
};

}  // namespace perdure
