// Parses git's machine-readable output. Pure; every parser accepts any bytes. Output may be cut, so
// an incomplete last item is dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"

namespace perdure {

// The raw paths below are relative to the repository's top.

enum class GitChange {
  none,
  modified,
  type_changed,
  added,
  deleted,
  renamed,
  copied,
  conflicted,
  untracked,
  ignored
};
ENUM_TEXT(GitChange, "none", "modified", "type_changed", "added", "deleted", "renamed", "copied",
          "conflicted", "untracked", "ignored");

struct GitFileStatus {
  std::string path;
  std::string from;  // for a rename or copy
  GitChange staged = GitChange::none;
  GitChange unstaged = GitChange::none;
  std::string conflict;  // e.g. both_modified
};

struct GitStatus {
  std::string oid;     // empty: no commit yet
  std::string branch;  // empty: detached
  std::string upstream;
  std::optional<std::int64_t> ahead;  // absent: no upstream, or it was deleted
  std::optional<std::int64_t> behind;
  std::vector<GitFileStatus> files;
};
// Of `status --porcelain=v2 -z --branch`.
GitStatus parse_git_status(std::string_view output);

struct GitFileDiff {
  std::string path;
  std::string from;
  std::optional<std::int64_t> added;  // absent: a binary file
  std::optional<std::int64_t> removed;
};
struct GitDiff {
  std::vector<GitFileDiff> files;
  std::string_view text;  // unified diff; a slice of the output
};
// Of `--numstat -p -z`.
GitDiff parse_git_diff(std::string_view output);

struct GitCommit {
  std::string oid;
  std::vector<std::string> parents;
  std::string author;
  std::string author_email;
  std::int64_t authored_s = 0;
  std::int64_t committed_s = 0;
  std::string refs;
  std::string subject;
  std::string body;
};
// The format that parse_git_log reads, for `log -z`.
inline constexpr std::string_view git_log_format =
    "--format=%H%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%D%x00%s%x00%b";
std::vector<GitCommit> parse_git_log(std::string_view output);

struct GitWorktree {
  std::string path;  // absolute
  std::string oid;
  std::string branch;  // empty: detached, or bare
  bool bare = false;
  bool locked = false;
  bool prunable = false;
};
// Of `worktree list --porcelain`; the first one is the main worktree.
std::vector<GitWorktree> parse_git_worktrees(std::string_view output);

// The names of the filters that the repository's own settings define, each once. From `config
// --list --show-scope --name-only -z`.
std::vector<std::string> parse_git_local_filters(std::string_view output);

}  // namespace perdure
