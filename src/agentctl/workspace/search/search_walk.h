// Walks a file tree for a search outside a repository: one step is one page of a folder or one
// file. It does not follow symlinks or enter `.git`, so every walk ends.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agentctl/workspace/search/glob.h"
#include "env/file_tree.h"

namespace perdure {

struct SearchQuery {
  std::string name;     // a pattern; empty: any
  std::string content;  // a text; empty: names only
  LetterCase letters = LetterCase::exact;
};

struct SearchMatch {
  std::string path;          // raw, relative to the workspace
  std::uint64_t line = 0;    // from 1; 0: the name matched
  std::uint64_t column = 0;  // in bytes, from 1
  std::string text;
};

class SearchWalk {
 public:
  // Takes a match; returns false when it wants no more.
  using OnMatch = std::move_only_function<bool(SearchMatch)>;

  SearchWalk(FileTree& files, TreePath folder, SearchQuery query, OnMatch on_match);

  enum class Progress { going_on, finished, stopped };  // stopped: a limit, or enough matches
  Progress step();

 private:
  struct Folder {
    TreePath path;
    std::string after;
  };

  Progress look_at_folder();
  Progress look_at_file(const TreePath& path);
  bool look_at_lines(const TreePath& path, std::string_view bytes);

  FileTree& files_;
  SearchQuery query_;
  OnMatch on_match_;
  std::vector<Folder> folders_;   // a stack
  std::vector<TreePath> unread_;  // matching files of the current page
  std::size_t files_seen_ = 0;
};

}  // namespace perdure
