#include "agentctl/workspace/git/workspace_worktrees.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "agentctl/workspace/workspace_files.h"
#include "base/text.h"
#include "core/wire/agentctl/git_name.h"

namespace perdure {
namespace {

struct NoParams {
  FIELDS {}
};

struct AddParams {
  std::string path;
  std::string branch;
  std::string base;
  FIELDS {
    visit("path", self.path);
    visit("branch", self.branch);
    visit("base", self.base);
  }
};

struct RemoveParams {
  std::string path;
  FIELDS { visit("path", self.path); }
};

void write_worktree(JsonWriter& out, const GitWorktree& worktree, const std::string& home) {
  out.begin_object().key("absolute_path").string(escape_name(worktree.path));
  // A call can name only worktrees in the home.
  if (worktree.path.starts_with(home + "/")) {
    out.key("path").string(escape_name(std::string_view(worktree.path).substr(home.size() + 1)));
  }
  out.key("oid").string(worktree.oid).key("branch").string(worktree.branch);
  out.key("bare").boolean(worktree.bare).key("locked").boolean(worktree.locked);
  out.key("gone").boolean(worktree.prunable).end_object();
}

// The first few names, for an error message.
std::string some_names(const std::vector<std::string>& paths) {
  constexpr std::size_t shown = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(shown, paths.size()); ++i) {
    out += (i == 0 ? "" : ", ") + escape_name(paths[i]);
  }
  if (paths.size() > shown) out += ", …";
  return out;
}

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace

// A removal while its checks run, with the reasons against it.
struct WorktreeCalls::Removal {
  GitWorktree worktree;
  GitRepository repository;  // from the worktree's cwd
  std::vector<std::string> reasons;
  WorkspaceReply reply;
};

void WorktreeCalls::list(std::string_view json, WorkspaceReply reply) {
  if (const auto params = read_params<NoParams>(json); !params) {
    return reply(std::unexpected(params.error()));
  }
  GitJob job{.arguments = {"worktree", "list", "--porcelain"}, .cwd = trees_.files.root()};
  git_.run(std::move(job), [this, reply = std::move(reply)](Result<GitOutput> output) mutable {
    if (!output) return reply(std::unexpected(std::move(output).error()));
    if (output->exit_code != 0) return reply(std::unexpected(git_refusal(*output)));
    JsonWriter out;
    out.begin_object().key("worktrees").begin_array();
    for (const GitWorktree& worktree : parse_git_worktrees(output->output)) {
      write_worktree(out, worktree, trees_.home.root());
    }
    out.end_array().key("cut").boolean(output->cut).end_object();
    reply(std::move(out).take());
  });
}

void WorktreeCalls::add(std::string_view json, WorkspaceReply reply) {
  std::string text;
  auto arguments = [&]() -> Result<std::vector<std::string>> {
    auto params = TRY(read_params<AddParams>(json));
    const TreePath path = TRY(TreePath::parse(params.path));
    if (path.is_root()) return fail(Code::invalid_argument, "path is missing");
    text = path.text();
    std::string branch = TRY(checked_git_name(std::move(params.branch)));
    std::string base = params.base.empty() ? "" : TRY(checked_git_name(std::move(params.base)));
    // We create the parent folders, beneath the home; git creates only the last one.
    TRY_VOID(make_folders(trees_.home, path.parent()));
    if (trees_.home.stat(path)) return fail(Code::conflict, text + ": is there already");
    std::vector<std::string> out = {"worktree", "add", "--quiet"};
    if (!base.empty()) out.insert(out.end(), {"-b", branch});
    out.insert(out.end(), {"--", trees_.home.root() + "/" + path.bytes()});
    out.push_back(base.empty() ? branch : base);
    return out;
  }();
  if (!arguments) return reply(std::unexpected(std::move(arguments).error()));
  GitJob job{.arguments = *std::move(arguments),
             .cwd = trees_.files.root(),
             .access = GitAccess::write_with_hooks};
  git_.run(std::move(job), [this, text = std::move(text),
                            reply = std::move(reply)](Result<GitOutput> output) mutable {
    if (!output) return reply(std::unexpected(std::move(output).error()));
    if (output->exit_code != 0) return reply(std::unexpected(git_refusal(*output)));
    find(text, [this, reply = std::move(reply)](Result<GitWorktree> made) mutable {
      if (!made) return reply(std::unexpected(std::move(made).error()));
      JsonWriter out;
      write_worktree(out, *made, trees_.home.root());
      reply(std::move(out).take());
    });
  });
}

void WorktreeCalls::find(std::string_view text,
                         std::move_only_function<void(Result<GitWorktree>)> then) {
  const auto path = TreePath::parse(text);
  if (!path) return then(std::unexpected(path.error()));
  std::string absolute = trees_.home.root() + "/" + path->bytes();
  GitJob job{.arguments = {"worktree", "list", "--porcelain"}, .cwd = trees_.files.root()};
  git_.run(std::move(job), [absolute = std::move(absolute),
                            then = std::move(then)](Result<GitOutput> output) mutable {
    if (!output) return then(std::unexpected(std::move(output).error()));
    if (output->exit_code != 0) return then(std::unexpected(git_refusal(*output)));
    const auto all = parse_git_worktrees(output->output);
    const auto at = std::ranges::find(all, absolute, &GitWorktree::path);
    if (at == all.end()) return then(fail(Code::not_found, "no such worktree"));
    if (at == all.begin()) {
      return then(fail(Code::conflict, "this is the main worktree of the repository"));
    }
    then(*at);
  });
}

void WorktreeCalls::remove(std::string_view json, WorkspaceReply reply) {
  const auto params = read_params<RemoveParams>(json);
  if (!params) return reply(std::unexpected(params.error()));
  find(params->path, [this, reply = std::move(reply)](Result<GitWorktree> found) mutable {
    if (!found) return reply(std::unexpected(std::move(found).error()));
    if (found->locked) return reply(fail(Code::conflict, "not removed: the worktree is locked"));
    std::string cwd = found->path;
    open_git_repository(
        git_, std::move(cwd),
        [this, worktree = *std::move(found),
         reply = std::move(reply)](Result<GitRepository> opened) mutable {
          if (!opened) return reply(std::unexpected(std::move(opened).error()));
          look_at_files({std::move(worktree), *std::move(opened), {}, std::move(reply)});
        });
  });
}

// Runs one check; if it fails, the worktree is kept.
void WorktreeCalls::run(Removal removal, GitJob job, Step step) {
  job.cwd = removal.repository.cwd;
  job.settings = removal.repository.settings;
  git_.run(std::move(job), [removal = std::move(removal),
                            step = std::move(step)](Result<GitOutput> output) mutable {
    if (!output) return removal.reply(std::unexpected(std::move(output).error()));
    if (output->exit_code != 0) return removal.reply(std::unexpected(git_refusal(*output)));
    step(std::move(removal), *std::move(output));
  });
}

void WorktreeCalls::look_at_files(Removal removal) {
  GitJob job{.arguments = {"status", "--porcelain=v2", "-z", "--untracked-files=all",
                           "--ignore-submodules=dirty"}};
  run(std::move(removal), std::move(job), [this](Removal next, const GitOutput& output) {
    std::vector<std::string> changed;
    std::vector<std::string> untracked;
    for (GitFileStatus& file : parse_git_status(output.output).files) {
      const bool tracked = file.unstaged != GitChange::untracked;
      (tracked ? changed : untracked).push_back(std::move(file.path));
    }
    if (!changed.empty()) {
      next.reasons.push_back(counted(changed.size(), "changed file") + " (" + some_names(changed) +
                             ")");
    }
    if (!untracked.empty()) {
      next.reasons.push_back(counted(untracked.size(), "untracked file") + " (" +
                             some_names(untracked) + ")");
    }
    if (output.cut) next.reasons.emplace_back("more changes than could be counted");
    look_at_unfinished(std::move(next));
  });
}

void WorktreeCalls::look_at_unfinished(Removal removal) {
  GitJob job{.arguments = {"cat-file", "--batch-check"},
             .input = "MERGE_HEAD\nCHERRY_PICK_HEAD\nREVERT_HEAD\nREBASE_HEAD\nBISECT_HEAD\n"};
  run(std::move(removal), std::move(job), [this](Removal next, const GitOutput& output) {
    constexpr std::string_view doing[] = {"merge", "cherry-pick", "revert", "rebase", "bisect"};
    std::string_view lines = output.output;
    for (const std::string_view name : doing) {
      const std::size_t end = lines.find('\n');
      if (end == std::string_view::npos) break;
      if (!lines.substr(0, end).ends_with(" missing")) {
        next.reasons.push_back("an unfinished " + std::string(name));
      }
      lines.remove_prefix(end + 1);
    }
    look_at_commits(std::move(next));
  });
}

void WorktreeCalls::look_at_commits(Removal removal) {
  constexpr std::string_view no_commit = "0000000000000000000000000000000000000000";
  if (removal.worktree.oid.empty() || removal.worktree.oid == no_commit) {
    return decide(std::move(removal));
  }
  GitJob job{.arguments = {"rev-list", "--count", "HEAD", "--not"}};
  if (!removal.worktree.branch.empty()) {
    job.arguments.push_back("--exclude=" + removal.worktree.branch);
  }
  job.arguments.insert(job.arguments.end(), {"--branches", "--remotes", "--"});
  run(std::move(removal), std::move(job), [this](Removal next, GitOutput output) {
    if (output.output.ends_with('\n')) output.output.pop_back();
    if (output.output != "0") {
      const std::string of = next.worktree.branch.empty()
                                 ? "the detached head"
                                 : "branch " + utf8_scrub(next.worktree.branch);
      next.reasons.push_back(output.output + " commit" + (output.output == "1" ? "" : "s") +
                             " of " + of + " on no remote and on no other branch");
    }
    decide(std::move(next));
  });
}

void WorktreeCalls::decide(Removal removal) {
  if (!removal.reasons.empty()) {
    std::string message = "not removed: ";
    for (std::size_t i = 0; i < removal.reasons.size(); ++i) {
      message += (i == 0 ? "" : "; ") + removal.reasons[i];
    }
    return removal.reply(fail(Code::conflict, std::move(message)));
  }
  // Without --force git checks again itself, right before it removes.
  GitJob job{.arguments = {"worktree", "remove", "--", removal.worktree.path},
             .settings = removal.repository.settings,
             .cwd = trees_.files.root(),
             .access = GitAccess::write};
  git_.run(std::move(job), [reply = std::move(removal.reply)](Result<GitOutput> output) mutable {
    if (!output) return reply(std::unexpected(std::move(output).error()));
    if (output->exit_code != 0) return reply(std::unexpected(git_refusal(*output)));
    reply("{}");
  });
}

}  // namespace perdure
