#include "agentctl/workspace/git/workspace_git.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "agentctl/workspace/git/git_text.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/time.h"
#include "core/wire/agentctl/git_name.h"

namespace perdure {
namespace {

enum class Untracked { none, folders, all };
enum class DiffOf { unstaged, staged, since };

}  // namespace

ENUM_TEXT(Untracked, "none", "folders", "all");
ENUM_TEXT(DiffOf, "unstaged", "staged", "since");

namespace {

struct StatusParams {
  Untracked untracked = Untracked::folders;
  FIELDS { visit("untracked", self.untracked); }
};

struct DiffParams {
  DiffOf of = DiffOf::unstaged;
  std::string commit;
  std::vector<std::string> paths;
  FIELDS {
    visit("of", self.of);
    visit("commit", self.commit);
    visit("paths", self.paths);
  }
};

struct LogParams {
  std::string from;
  std::string path;
  std::uint64_t skip = 0;
  std::uint64_t max = 0;
  FIELDS {
    visit("from", self.from);
    visit("path", self.path);
    visit("skip", self.skip);
    visit("max", self.max);
  }
};

struct ShowParams {
  std::string commit;
  FIELDS { visit("commit", self.commit); }
};

struct PathsParams {
  std::vector<std::string> paths;
  FIELDS { visit("paths", self.paths); }
};

struct CommitParams {
  std::string message;
  bool amend = false;
  bool allow_empty = false;
  FIELDS {
    visit("message", self.message);
    visit("amend", self.amend);
    visit("allow_empty", self.allow_empty);
  }
};

// Raw path bytes for git's command line or stdin; the workspace itself is `.`.
Result<std::vector<std::string>> raw_paths(const std::vector<std::string>& texts) {
  if (texts.size() > git_paths_max) return fail(Code::limit_reached, "too many paths in one call");
  std::vector<std::string> out;
  for (const std::string& text : texts) {
    const TreePath path = TRY(TreePath::parse(text));
    out.push_back(path.is_root() ? "." : path.bytes());
  }
  return out;
}

void write_number(JsonWriter& out, std::string_view key, std::optional<std::int64_t> value) {
  out.key(key);
  if (value) {
    out.number(*value);
  } else {
    out.null();
  }
}

void write_file_status(JsonWriter& out, const GitRepository& repository,
                       const GitFileStatus& file) {
  const std::string_view path = repository.below(file.path);
  if (path.empty()) return;
  out.begin_object().key("path").string(escape_name(path));
  const std::string_view from = repository.below(file.from);
  if (!from.empty()) out.key("from").string(escape_name(from));
  out.key("staged").string(enum_text(file.staged));
  out.key("unstaged").string(enum_text(file.unstaged));
  if (!file.conflict.empty()) out.key("conflict").string(file.conflict);
  out.end_object();
}

std::string status_json(const GitRepository& repository, const GitOutput& output) {
  const GitStatus status = parse_git_status(output.output);
  JsonWriter out;
  out.begin_object().key("branch").begin_object();
  out.key("name").string(status.branch).key("oid").string(status.oid);
  out.key("detached").boolean(status.branch.empty());
  out.key("upstream").string(escape_name(status.upstream));
  write_number(out, "ahead", status.ahead);
  write_number(out, "behind", status.behind);
  out.end_object().key("files").begin_array();
  for (const GitFileStatus& file : status.files) write_file_status(out, repository, file);
  out.end_array().key("cut").boolean(output.cut).end_object();
  return std::move(out).take();
}

// Writes the members `files`, `text` and `cut`.
void write_diff(JsonWriter& out, const GitOutput& output) {
  const GitDiff diff = parse_git_diff(output.output);
  out.key("files").begin_array();
  for (const GitFileDiff& file : diff.files) {
    out.begin_object().key("path").string(escape_name(file.path));
    if (!file.from.empty()) out.key("from").string(escape_name(file.from));
    out.key("binary").boolean(!file.added);
    write_number(out, "added", file.added);
    write_number(out, "removed", file.removed);
    out.end_object();
  }
  out.end_array().key("text").string(utf8_scrub(diff.text)).key("cut").boolean(output.cut);
}

// Writes the members of one commit.
void write_commit(JsonWriter& out, const GitCommit& commit) {
  constexpr std::int64_t ms_per_s = 1000;
  constexpr std::int64_t seconds_max = 253'402'300'799;  // the end of the year 9999
  const auto time = [&](std::int64_t seconds) {
    return format_timestamp({std::clamp<std::int64_t>(seconds, 0, seconds_max) * ms_per_s});
  };
  out.key("oid").string(commit.oid).key("parents").begin_array();
  for (const std::string& parent : commit.parents) out.string(parent);
  out.end_array().key("author").string(commit.author);
  out.key("author_email").string(commit.author_email);
  out.key("authored_at").string(time(commit.authored_s));
  out.key("committed_at").string(time(commit.committed_s));
  out.key("refs").string(commit.refs);
  out.key("subject").string(commit.subject).key("body").string(commit.body);
}

std::vector<std::string> log_arguments() {
  return {"log",        "-z",           std::string(git_log_format), "--no-show-signature",
          "--no-color", "--no-decorate"};
}

}  // namespace

std::vector<std::string> git_diff_arguments(std::string_view subcommand) {
  return {std::string(subcommand),
          "--no-ext-diff",
          "--no-textconv",
          "--no-color",
          "--ignore-submodules=dirty",
          "--submodule=short",
          "--find-renames",
          "--relative",
          "--src-prefix=a/",
          "--dst-prefix=b/",
          "--unified=3",
          "--numstat",
          "-p",
          "-z"};
}

void GitCalls::read(GitJob job, WorkspaceReply reply, Answer answer) {
  open_git_repository(git_, files_.root(),
                      [this, job = std::move(job), reply = std::move(reply),
                       answer = std::move(answer)](Result<GitRepository> opened) mutable {
                        if (!opened) return reply(std::unexpected(std::move(opened).error()));
                        job.cwd = opened->cwd;
                        job.settings = opened->settings;
                        git_.run(std::move(job),
                                 [repository = *std::move(opened), reply = std::move(reply),
                                  answer = std::move(answer)](Result<GitOutput> output) mutable {
                                   if (!output)
                                     return reply(std::unexpected(std::move(output).error()));
                                   if (output->exit_code != 0)
                                     return reply(std::unexpected(git_refusal(*output)));
                                   reply(answer(repository, *output));
                                 });
                      });
}

void GitCalls::status(std::string_view json, WorkspaceReply reply) {
  const auto params = read_params<StatusParams>(json);
  if (!params) return reply(std::unexpected(params.error()));
  const std::string_view untracked = params->untracked == Untracked::none      ? "no"
                                     : params->untracked == Untracked::folders ? "normal"
                                                                               : "all";
  GitJob job{.arguments = {"status", "--porcelain=v2", "-z", "--branch", "--find-renames",
                           "--ignore-submodules=dirty",
                           "--untracked-files=" + std::string(untracked), "--", "."}};
  read(std::move(job), std::move(reply),
       [](const GitRepository& repository, const GitOutput& output) -> Result<std::string> {
         return status_json(repository, output);
       });
}

void GitCalls::diff(std::string_view json, WorkspaceReply reply) {
  auto arguments = [&]() -> Result<std::vector<std::string>> {
    auto params = TRY(read_params<DiffParams>(json));
    auto out = git_diff_arguments("diff");
    if ((params.of == DiffOf::since) == params.commit.empty()) {
      return fail(Code::invalid_argument, "commit goes with of: since, and only with that");
    }
    if (params.of == DiffOf::staged) out.emplace_back("--cached");
    if (params.of == DiffOf::since) {
      out.insert(out.end(), {"--end-of-options", TRY(checked_git_name(std::move(params.commit)))});
    }
    out.emplace_back("--");
    const auto paths = TRY(raw_paths(params.paths));
    out.insert(out.end(), paths.begin(), paths.end());
    return out;
  }();
  if (!arguments) return reply(std::unexpected(std::move(arguments).error()));
  read({.arguments = *std::move(arguments)}, std::move(reply),
       [](const GitRepository&, const GitOutput& output) -> Result<std::string> {
         JsonWriter out;
         out.begin_object();
         write_diff(out, output);
         out.end_object();
         return std::move(out).take();
       });
}

void GitCalls::log(std::string_view json, WorkspaceReply reply) {
  std::uint64_t wanted = 0;
  auto arguments = [&]() -> Result<std::vector<std::string>> {
    auto params = TRY(read_params<LogParams>(json));
    wanted = params.max == 0 ? 50 : std::min<std::uint64_t>(params.max, git_log_entries_max);
    auto out = log_arguments();
    out.push_back("--max-count=" + std::to_string(wanted + 1));
    out.push_back("--skip=" + std::to_string(params.skip));
    out.emplace_back("--end-of-options");
    out.push_back(params.from.empty() ? "HEAD" : TRY(checked_git_name(std::move(params.from))));
    out.emplace_back("--");
    const TreePath path = TRY(TreePath::parse(params.path));
    if (!path.is_root()) out.push_back(path.bytes());
    return out;
  }();
  if (!arguments) return reply(std::unexpected(std::move(arguments).error()));
  read({.arguments = *std::move(arguments)}, std::move(reply),
       [wanted](const GitRepository&, const GitOutput& output) -> Result<std::string> {
         auto commits = parse_git_log(output.output);
         const bool more = commits.size() > wanted || output.cut;
         if (commits.size() > wanted) commits.resize(wanted);
         JsonWriter out;
         out.begin_object().key("commits").begin_array();
         for (const GitCommit& commit : commits) {
           out.begin_object();
           write_commit(out, commit);
           out.end_object();
         }
         out.end_array().key("more").boolean(more).end_object();
         return std::move(out).take();
       });
}

void GitCalls::show(std::string_view json, WorkspaceReply reply) {
  auto revision = [&]() -> Result<std::string> {
    return checked_git_name(TRY(read_params<ShowParams>(json)).commit);
  }();
  if (!revision) return reply(std::unexpected(std::move(revision).error()));
  auto arguments = log_arguments();
  arguments.insert(arguments.end(), {"--max-count=1", "--end-of-options", *revision, "--"});
  // Resolve the name to a commit first; then diff exactly that commit.
  open_git_repository(
      git_, files_.root(),
      [this, arguments, reply = std::move(reply)](Result<GitRepository> opened) mutable {
        if (!opened) return reply(std::unexpected(std::move(opened).error()));
        GitJob head{.arguments = arguments, .settings = opened->settings, .cwd = opened->cwd};
        git_.run(std::move(head), [this, repository = *std::move(opened),
                                   reply = std::move(reply)](Result<GitOutput> found) mutable {
          if (!found) return reply(std::unexpected(std::move(found).error()));
          auto commits = parse_git_log(found->output);
          if (found->exit_code != 0 || commits.empty()) {
            return reply(std::unexpected(git_refusal(*found)));
          }
          auto diff = git_diff_arguments("show");
          diff.insert(diff.end(), {"--format=", "--no-show-signature", "--diff-merges=first-parent",
                                   commits.front().oid, "--"});
          GitJob job{
              .arguments = std::move(diff), .settings = repository.settings, .cwd = repository.cwd};
          git_.run(std::move(job), [commit = std::move(commits.front()),
                                    reply = std::move(reply)](Result<GitOutput> output) mutable {
            if (!output) return reply(std::unexpected(std::move(output).error()));
            if (output->exit_code != 0) return reply(std::unexpected(git_refusal(*output)));
            JsonWriter out;
            out.begin_object();
            write_commit(out, commit);
            write_diff(out, *output);
            out.end_object();
            reply(std::move(out).take());
          });
        });
      });
}

void GitCalls::change_index(std::vector<std::string> arguments, std::string_view json,
                            WorkspaceReply reply) {
  auto paths = [&]() -> Result<std::vector<std::string>> {
    const auto params = TRY(read_params<PathsParams>(json));
    if (params.paths.empty()) return fail(Code::invalid_argument, "paths is empty");
    return raw_paths(params.paths);
  }();
  if (!paths) return reply(std::unexpected(std::move(paths).error()));
  GitJob job{.arguments = std::move(arguments), .cwd = files_.root(), .access = GitAccess::write};
  job.arguments.insert(job.arguments.end(), {"--pathspec-from-file=-", "--pathspec-file-nul"});
  for (const std::string& path : *paths) {
    job.input += path;
    job.input += '\0';
  }
  git_.run(std::move(job), [reply = std::move(reply)](Result<GitOutput> output) mutable {
    if (!output) return reply(std::unexpected(std::move(output).error()));
    if (output->exit_code != 0) return reply(std::unexpected(git_refusal(*output)));
    reply("{}");
  });
}

void GitCalls::stage(std::string_view params, WorkspaceReply reply) {
  change_index({"add", "--all"}, params, std::move(reply));
}

void GitCalls::unstage(std::string_view params, WorkspaceReply reply) {
  change_index({"reset", "--quiet"}, params, std::move(reply));
}

void GitCalls::commit(std::string_view json, WorkspaceReply reply) {
  auto params = read_params<CommitParams>(json);
  if (!params) return reply(std::unexpected(params.error()));
  if (params->message.empty()) return reply(fail(Code::invalid_argument, "message is empty"));
  if (params->message.size() > git_message_bytes_max) {
    return reply(fail(Code::limit_reached, "the message is longer than git_message_bytes_max"));
  }
  GitJob job{.arguments = {"commit", "--quiet", "--file=-", "--cleanup=whitespace"},
             .cwd = files_.root(),
             .input = std::move(params->message),
             .access = GitAccess::write_with_hooks};
  if (params->amend) job.arguments.emplace_back("--amend");
  if (params->allow_empty) job.arguments.emplace_back("--allow-empty");
  git_.run(std::move(job), [this, reply = std::move(reply)](Result<GitOutput> output) mutable {
    if (!output) return reply(std::unexpected(std::move(output).error()));
    if (output->exit_code != 0) return reply(std::unexpected(git_refusal(*output)));
    tell_head(std::move(reply));
  });
}

void GitCalls::tell_head(WorkspaceReply reply) {
  auto arguments = log_arguments();
  arguments.insert(arguments.end(), {"--max-count=1", "HEAD", "--"});
  read({.arguments = std::move(arguments)}, std::move(reply),
       [](const GitRepository&, const GitOutput& output) -> Result<std::string> {
         const auto commits = parse_git_log(output.output);
         if (commits.empty()) return fail(Code::conflict, "the commit no longer exists");
         JsonWriter out;
         out.begin_object();
         write_commit(out, commits.front());
         out.end_object();
         return std::move(out).take();
       });
}

}  // namespace perdure
