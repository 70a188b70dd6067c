#include "agentctl/workspace/git/git_repository.h"

#include <utility>

#include "agentctl/workspace/git/git_text.h"

namespace perdure {
namespace {

constexpr std::size_t filters_max = 64;

// A filter is a program that git runs on a file's contents, even for a status if it has to look
// inside. The user's own filters stay; the repository's are set to nothing.
Result<std::vector<std::string>> without_filters(const GitOutput& config) {
  if (config.cut) return fail(Code::denied, "the settings of the repository are too long");
  const auto names = parse_git_local_filters(config.output);
  if (names.size() > filters_max) return fail(Code::denied, "the repository has too many filters");
  std::vector<std::string> settings;
  for (const std::string& name : names) {
    // `-c` splits at the first '=', so it would set a different key.
    if (name.contains('=')) return fail(Code::denied, "a filter of the repository has a '='");
    for (const auto* key : {".clean=", ".smudge=", ".process=", ".required=false"}) {
      settings.push_back("filter." + name + key);
    }
  }
  return settings;
}

}  // namespace

std::string_view GitRepository::below(std::string_view path) const {
  return path.starts_with(prefix) ? path.substr(prefix.size()) : std::string_view();
}

Error git_refusal(const GitOutput& output) {
  const std::string complaint = git_complaint(output);
  if (complaint.contains("not a git repository")) {
    return {Code::not_found, "the folder is in no git repository"};
  }
  if (complaint.contains("dubious ownership")) return {Code::denied, complaint};
  if (complaint.contains("No space left on device")) return {Code::disk_full, complaint};
  if (complaint.contains("index.lock")) return {Code::unavailable, complaint};
  return {Code::conflict, complaint};
}

void open_git_repository(GitRunner& git, std::string cwd,
                         std::move_only_function<void(Result<GitRepository>)> then) {
  GitJob prefix{.arguments = {"rev-parse", "--show-prefix"}, .cwd = cwd};
  git.run(std::move(prefix),
          [&git, cwd = std::move(cwd), then = std::move(then)](Result<GitOutput> found) mutable {
            if (!found) return then(std::unexpected(std::move(found).error()));
            if (found->exit_code != 0) return then(std::unexpected(git_refusal(*found)));
            if (found->output.ends_with('\n')) found->output.pop_back();
            GitRepository repository{.cwd = cwd, .prefix = std::move(found->output)};
            GitJob config{.arguments = {"config", "--list", "--show-scope", "--name-only", "-z"},
                          .cwd = cwd};
            git.run(std::move(config), [repository = std::move(repository),
                                        then = std::move(then)](Result<GitOutput> listed) mutable {
              if (!listed) return then(std::unexpected(std::move(listed).error()));
              if (listed->exit_code != 0) return then(std::unexpected(git_refusal(*listed)));
              auto settings = without_filters(*listed);
              if (!settings) return then(std::unexpected(std::move(settings).error()));
              repository.settings = *std::move(settings);
              then(std::move(repository));
            });
          });
}

}  // namespace perdure
