// The one message of `perdure-agentctl worktree`, and its one answer: one JSON object per line.
#pragma once

#include <string>
#include <string_view>

#include "base/id.h"
#include "base/json/fields.h"
#include "base/result.h"
#include "core/wire/agentctl/hidden_folders.h"

namespace perdure {

struct WorktreeRequest {
  SessionId session;       // to which the worktree will belong
  std::string repository;  // a folder in it
  std::string path;        // an empty folder for the worktree
  std::string branch;      // created at HEAD, or used if it exists and is checked out nowhere
  // The `.git` folder that `repository` must belong to; empty: any.
  std::string git_folder;
  HiddenFolders hide;  // but not `path`, nor `repository` if it lies in one of them
  FIELDS {
    visit("session_id", self.session);
    visit("repository", self.repository);
    visit("path", self.path);
    visit("branch", self.branch);
    visit("git_folder", self.git_folder);
    self.hide.fields(visit);
  }
};

struct WorktreeAnswer {
  std::string code;  // empty: created. Otherwise a code of base/result.h
  std::string message;
  // The `.git` folder that it belongs to, if that is certain: see docs/operations/containers.md.
  std::string git_folder;
  FIELDS {
    visit("code", self.code);
    visit("message", self.message);
    visit("git_folder", self.git_folder);
  }
};

std::string encode_worktree_request(const WorktreeRequest& request);
// Any bytes.
Result<WorktreeRequest> decode_worktree_request(std::string_view text);
std::string encode_worktree_answer(const WorktreeAnswer& answer);
Result<WorktreeAnswer> decode_worktree_answer(std::string_view text);

}  // namespace perdure
