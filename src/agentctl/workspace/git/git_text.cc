#include "agentctl/workspace/git/git_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

namespace perdure {
namespace {

// Removes and returns the text up to the mark; nothing if the mark is missing.
std::optional<std::string_view> take_until(std::string_view& text, char mark) {
  const std::size_t end = text.find(mark);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end + 1);
  return taken;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

GitChange change_of(char letter) {
  switch (letter) {
    case 'M': return GitChange::modified;
    case 'T': return GitChange::type_changed;
    case 'A': return GitChange::added;
    case 'D': return GitChange::deleted;
    case 'R': return GitChange::renamed;
    case 'C': return GitChange::copied;
    case 'U': return GitChange::conflicted;
    default: return GitChange::none;
  }
}

std::string conflict_of(std::string_view letters) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"DD", "both_deleted"},  {"AU", "added_by_us"},   {"UD", "deleted_by_them"},
      {"UA", "added_by_them"}, {"DU", "deleted_by_us"}, {"AA", "both_added"},
      {"UU", "both_modified"},
  };
  for (const auto& [code, name] : names) {
    if (code == letters) return std::string(name);
  }
  return "conflict";
}

void take_header(std::string_view line, GitStatus& out) {
  const auto value = [&](std::string_view name) -> std::optional<std::string_view> {
    if (!line.starts_with(name)) return std::nullopt;
    return line.substr(name.size());
  };
  if (const auto oid = value("# branch.oid ")) {
    if (*oid != "(initial)") out.oid = *oid;
  } else if (const auto head = value("# branch.head ")) {
    if (*head != "(detached)") out.branch = *head;
  } else if (const auto upstream = value("# branch.upstream ")) {
    out.upstream = *upstream;
  } else if (auto counts = value("# branch.ab +")) {
    const auto ahead = take_until(*counts, ' ');
    if (!ahead || !counts->starts_with('-')) return;
    out.ahead = number(*ahead);
    out.behind = number(counts->substr(1));
  }
}

// A line about a changed file: `fields` space-separated words precede its path.
std::optional<GitFileStatus> changed_file(std::string_view line, std::size_t fields) {
  GitFileStatus file;
  for (std::size_t i = 0; i < fields; ++i) {
    const auto word = take_until(line, ' ');
    if (!word) return std::nullopt;
    if (i != 1) continue;
    if (word->size() != 2) return std::nullopt;
    file.staged = change_of((*word)[0]);
    file.unstaged = change_of((*word)[1]);
    if (fields == 10) file.conflict = conflict_of(*word);
  }
  file.path = line;
  return file;
}

}  // namespace

GitStatus parse_git_status(std::string_view output) {
  GitStatus out;
  while (const auto line = take_until(output, '\0')) {
    if (line->starts_with("# ")) {
      take_header(*line, out);
    } else if (line->starts_with("? ") || line->starts_with("! ")) {
      const bool ignored = line->front() == '!';
      out.files.push_back({.path = std::string(line->substr(2)),
                           .unstaged = ignored ? GitChange::ignored : GitChange::untracked});
    } else if (line->starts_with("1 ")) {
      if (auto file = changed_file(*line, 8)) out.files.push_back(std::move(*file));
    } else if (line->starts_with("u ")) {
      auto file = changed_file(*line, 10);
      if (!file) continue;
      file->staged = file->unstaged = GitChange::conflicted;
      out.files.push_back(std::move(*file));
    } else if (line->starts_with("2 ")) {
      auto file = changed_file(*line, 9);
      const auto from = take_until(output, '\0');
      if (!file || !from) continue;
      file->from = *from;
      out.files.push_back(std::move(*file));
    }
  }
  return out;
}

GitDiff parse_git_diff(std::string_view output) {
  GitDiff out;
  while (!output.empty()) {
    if (output.front() == '\0') {  // the end of the numbers
      out.text = output.substr(1);
      break;
    }
    const auto added = take_until(output, '\t');
    const auto removed = take_until(output, '\t');
    auto path = take_until(output, '\0');
    if (!added || !removed || !path) break;
    GitFileDiff file{.added = number(*added), .removed = number(*removed)};
    if (path->empty()) {  // a rename: both names follow
      const auto from = take_until(output, '\0');
      path = take_until(output, '\0');
      if (!from || !path) break;
      file.from = *from;
    }
    file.path = *path;
    out.files.push_back(std::move(file));
  }
  return out;
}

std::vector<GitCommit> parse_git_log(std::string_view output) {
  constexpr std::size_t field_count = 9;
  std::vector<GitCommit> out;
  while (!output.empty()) {
    std::string_view fields[field_count];
    for (auto& field : fields) {
      const auto taken = take_until(output, '\0');
      if (!taken) return out;
      field = *taken;
    }
    GitCommit commit{.oid = std::string(fields[0]),
                     .author = std::string(fields[2]),
                     .author_email = std::string(fields[3]),
                     .authored_s = number(fields[4]).value_or(0),
                     .committed_s = number(fields[5]).value_or(0),
                     .refs = std::string(fields[6]),
                     .subject = std::string(fields[7]),
                     .body = std::string(fields[8])};
    std::string_view parents = fields[1];
    while (const auto parent = take_until(parents, ' ')) commit.parents.emplace_back(*parent);
    if (!parents.empty()) commit.parents.emplace_back(parents);
    while (commit.body.ends_with('\n')) commit.body.pop_back();
    out.push_back(std::move(commit));
  }
  return out;
}

std::vector<GitWorktree> parse_git_worktrees(std::string_view output) {
  constexpr std::string_view branch_prefix = "branch refs/heads/";
  std::vector<GitWorktree> out;
  while (const auto line = take_until(output, '\n')) {
    if (line->starts_with("worktree ")) {
      out.push_back({.path = std::string(line->substr(9))});
    } else if (out.empty()) {
      continue;
    } else if (line->starts_with("HEAD ")) {
      out.back().oid = line->substr(5);
    } else if (line->starts_with(branch_prefix)) {
      out.back().branch = line->substr(branch_prefix.size());
    } else if (*line == "bare") {
      out.back().bare = true;
    } else if (*line == "locked" || line->starts_with("locked ")) {
      out.back().locked = true;
    } else if (*line == "prunable" || line->starts_with("prunable ")) {
      out.back().prunable = true;
    }
  }
  return out;
}

std::vector<std::string> parse_git_local_filters(std::string_view output) {
  std::vector<std::string> out;
  while (true) {
    const auto scope = take_until(output, '\0');
    const auto key = take_until(output, '\0');
    if (!scope || !key) return out;
    if (*scope != "local" && *scope != "worktree" && *scope != "unknown") continue;
    // filter.NAME.clean: the name may contain dots.
    constexpr std::string_view section = "filter.";
    const std::size_t last_dot = key->rfind('.');
    if (!key->starts_with(section) || last_dot < section.size()) continue;
    std::string name(key->substr(section.size(), last_dot - section.size()));
    if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
  }
}

}  // namespace perdure
