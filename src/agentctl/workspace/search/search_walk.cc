#include "agentctl/workspace/search/search_walk.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace perdure {
namespace {

constexpr std::size_t page_entries = 256;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::size_t find_text(std::string_view line, std::string_view text, LetterCase letters) {
  if (letters == LetterCase::exact) return line.find(text);
  const auto at = std::ranges::search(line, text, {}, lower, lower).begin();
  return at == line.end() && !text.empty() ? std::string_view::npos
                                           : static_cast<std::size_t>(at - line.begin());
}

}  // namespace

SearchWalk::SearchWalk(FileTree& files, TreePath folder, SearchQuery query, OnMatch on_match)
    : files_(files), query_(std::move(query)), on_match_(std::move(on_match)) {
  folders_.push_back({.path = std::move(folder)});
}

SearchWalk::Progress SearchWalk::step() {
  if (!unread_.empty()) {
    const TreePath path = std::move(unread_.back());
    unread_.pop_back();
    return look_at_file(path);
  }
  if (folders_.empty()) return Progress::finished;
  return look_at_folder();
}

SearchWalk::Progress SearchWalk::look_at_folder() {
  const Folder folder = std::move(folders_.back());
  folders_.pop_back();
  const auto page = files_.list(folder.path, {.after = folder.after, .entries_max = page_entries});
  if (!page) return Progress::going_on;  // deleted or unreadable: nothing to find
  if (page->more) folders_.push_back({folder.path, page->entries.back().name});
  for (const FileEntry& entry : page->entries) {
    const TreePath path = folder.path.child(entry.name);
    if (entry.stat.kind == FileKind::folder) {
      const auto depth = std::ranges::count(path.bytes(), '/');
      if (entry.name != ".git" && depth < tree_depth_max) folders_.push_back({.path = path});
      continue;
    }
    if (++files_seen_ > search_files_max) return Progress::stopped;
    if (!query_.name.empty() && !glob_matches(query_.name, path.bytes(), query_.letters)) continue;
    if (query_.content.empty()) {
      if (!on_match_({.path = path.bytes()})) return Progress::stopped;
    } else if (entry.stat.kind == FileKind::file &&
               entry.stat.version.bytes <= search_file_bytes_max) {
      unread_.push_back(path);
    }
  }
  std::ranges::reverse(unread_);  // taken from the back, so in name order
  return Progress::going_on;
}

SearchWalk::Progress SearchWalk::look_at_file(const TreePath& path) {
  const auto part = files_.read(path, {0, search_file_bytes_max});
  // Like git, skips binary files: those with a NUL near the beginning.
  constexpr std::size_t looked_at = 8000;
  if (!part || std::string_view(part->bytes).substr(0, looked_at).contains('\0')) {
    return Progress::going_on;
  }
  return look_at_lines(path, part->bytes) ? Progress::going_on : Progress::stopped;
}

bool SearchWalk::look_at_lines(const TreePath& path, std::string_view bytes) {
  for (std::uint64_t number = 1; !bytes.empty(); ++number) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(line.size() + 1, bytes.size()));
    const std::size_t at = find_text(line, query_.content, query_.letters);
    if (at == std::string_view::npos) continue;
    if (!on_match_({path.bytes(), number, at + 1, std::string(line)})) return false;
  }
  return true;
}

}  // namespace perdure
