#include "adopt/finder.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/limits.h"

namespace perdure::adopt {
namespace {

using Reader = Result<NativeSession> (*)(const NativeFile&);

// The differences between the programs.
struct Habit {
  Program program;
  std::string_view variable;    // names its folder
  std::string_view usual;       // below HOME if the variable is unset
  std::string_view below;       // subfolder of that folder with the sessions
  std::string_view name_begin;  // prefix of a session file's name
  std::string_view name_end;
  std::string_view parent;  // folder name of a session's file; empty: any
  std::size_t depth;        // maximum number of folders between
  Reader read;
};

constexpr auto habits = std::to_array<Habit>({
    {Program::claude, "CLAUDE_CONFIG_DIR", "/.claude", "/projects", "", ".jsonl", "", 1,
     read_claude},
    {Program::codex, "CODEX_HOME", "/.codex", "/sessions", "rollout-", ".jsonl", "", 3, read_codex},
    {Program::gemini, "GEMINI_CLI_HOME", "/.gemini", "/tmp", "session-", "", "chats", 2,
     read_gemini},
    {Program::copilot, "COPILOT_HOME", "/.copilot", "/session-state", "events", ".jsonl", "", 1,
     read_copilot},
    {Program::qwen, "QWEN_HOME", "/.qwen", "/projects", "", ".jsonl", "chats", 2, read_qwen},
});

const Habit* habit_of(Program program) {
  const auto at = std::ranges::find(habits, program, &Habit::program);
  return at == habits.end() ? nullptr : &*at;
}

class Walk {
 public:
  Walk(const Habit& habit, FileTree& tree, Search& search)
      : habit_(habit), tree_(tree), search_(search) {}

  void run() {
    enter(TreePath(), 0);
    if (passed_over_ == 0) return;
    search_.remarks.push_back(std::string(enum_text(habit_.program)) + ": " +
                              std::to_string(passed_over_) +
                              " more files or folders than are looked at");
  }

  Result<Found> read(const TreePath& path) {
    const FilePart part =
        TRY(tree_.read(path, {.offset = 0, .bytes_max = adopt_file_bytes_max + 1}));
    if (part.bytes.size() > adopt_file_bytes_max) {
      return fail(Code::limit_reached, "it is longer than 256 MiB");
    }
    const std::string cwd = project_of(path);
    NativeSession session =
        TRY(habit_.read({.bytes = part.bytes, .name = path.name(), .cwd = cwd}));
    if (session.cwd.empty()) session.cwd = cwd;
    return Found{.program = habit_.program,
                 .file = tree_.root() + "/" + path.bytes(),
                 .bytes = part.bytes.size(),
                 .session = std::move(session)};
  }

 private:
  // Gemini stores, next to its chats, the folder that they belong to.
  std::string project_of(const TreePath& path) {
    if (habit_.program != Program::gemini) return {};
    constexpr std::size_t path_bytes_max = 4096;
    const auto part = tree_.read(path.parent().parent().child(".project_root"),
                                 {.offset = 0, .bytes_max = path_bytes_max});
    if (!part) return {};
    return part->bytes.substr(0, part->bytes.find('\n'));
  }

  bool fits(const TreePath& path) const {
    const std::string_view name = path.name();
    if (!name.starts_with(habit_.name_begin) || !name.ends_with(habit_.name_end)) return false;
    return habit_.parent.empty() || path.parent().name() == habit_.parent;
  }

  void enter(const TreePath& folder, std::size_t depth) {
    if (++folders_ > adopt_folders_max) {
      passed_over_ += 1;
      return;
    }
    ListPage page;
    while (true) {
      const Result<FolderListing> listing = tree_.list(folder, page);
      if (!listing) return remark(folder, listing.error());
      for (const FileEntry& entry : listing->entries)
        look_at(folder.child(entry.name), entry, depth);
      if (!listing->more || listing->entries.empty()) return;
      page.after = listing->entries.back().name;
    }
  }

  void look_at(const TreePath& path, const FileEntry& entry, std::size_t depth) {
    if (entry.stat.kind == FileKind::folder && depth < habit_.depth) enter(path, depth + 1);
    if (entry.stat.kind != FileKind::file || !fits(path)) return;
    if (++files_ > adopt_files_max) {
      passed_over_ += 1;
      return;
    }
    Result<Found> found = read(path);
    if (!found) return remark(path, found.error());
    if (!found->session.turns.empty()) search_.found.push_back(std::move(*found));
  }

  void remark(const TreePath& path, const Error& error) {
    search_.remarks.push_back(tree_.root() + "/" + path.text() + ": " + error.message());
  }

  const Habit& habit_;
  FileTree& tree_;
  Search& search_;
  std::size_t folders_ = 0;
  std::size_t files_ = 0;
  std::size_t passed_over_ = 0;
};

Result<std::vector<Found>> read_database(const std::string& file, const FinderWorld& world) {
  if (!world.opencode_sessions) return fail(Code::unavailable, "OpenCode cannot be read here");
  std::vector<Found> out;
  for (const std::string& lines : TRY(world.opencode_sessions(file))) {
    Result<NativeSession> session = read_opencode({.bytes = lines, .name = {}, .cwd = {}});
    if (!session || session->turns.empty()) continue;
    out.push_back({.program = Program::opencode,
                   .file = file,
                   .bytes = lines.size(),
                   .session = std::move(*session)});
  }
  return out;
}

void find_in_database(const FinderWorld& world, Search& search) {
  const auto folder = sessions_folder(Program::opencode, world);
  if (!folder || !world.opencode_sessions) return;
  const std::string file = *folder + "/opencode.db";
  Result<std::vector<Found>> found = read_database(file, world);
  if (!found) {
    if (found.error().code() != Code::not_found) {
      search.remarks.push_back(file + ": " + found.error().message());
    }
    return;
  }
  for (Found& each : *found) search.found.push_back(std::move(each));
}

}  // namespace

std::optional<Program> find_program(std::string_view name) {
  for (std::size_t i = 0; i < EnumText<Program>::names.size(); ++i) {
    if (EnumText<Program>::names[i] == name) return static_cast<Program>(i);
  }
  return std::nullopt;
}

std::optional<std::string> sessions_folder(Program program, const FinderWorld& world) {
  const auto home = world.environment("HOME");
  if (program == Program::opencode) {
    if (const auto shared = world.environment("XDG_DATA_HOME")) return *shared + "/opencode";
    return home ? std::optional(*home + "/.local/share/opencode") : std::nullopt;
  }
  const Habit& habit = *habit_of(program);
  if (const auto folder = world.environment(habit.variable)) {
    // Gemini's variable names the home folder itself.
    const std::string_view own = program == Program::gemini ? habit.usual : "";
    return *folder + std::string(own) + std::string(habit.below);
  }
  if (!home) return std::nullopt;
  return *home + std::string(habit.usual) + std::string(habit.below);
}

Search find_sessions(const std::vector<Program>& programs, const FinderWorld& world) {
  Search search;
  for (const Program program : programs) {
    if (program == Program::opencode) {
      find_in_database(world, search);
      continue;
    }
    const auto folder = sessions_folder(program, world);
    if (!folder) continue;
    const Result<std::unique_ptr<FileTree>> tree = world.open_tree(*folder);
    if (!tree) {
      if (tree.error().code() == Code::workspace_missing) continue;  // not installed
      search.remarks.push_back(*folder + ": " + tree.error().message());
      continue;
    }
    Walk(*habit_of(program), **tree, search).run();
  }
  std::ranges::sort(search.found, [](const Found& a, const Found& b) {
    return std::tuple(a.program, b.session.last(), a.session.id) <
           std::tuple(b.program, a.session.last(), b.session.id);
  });
  return search;
}

Result<Found> read_named(const std::string& file, std::optional<Program> program,
                         const FinderWorld& world) {
  const std::size_t slash = file.rfind('/');
  if (slash == std::string::npos) return fail(Code::invalid_argument, "not an absolute path");
  // The parent folder, for files that a program keeps next to its sessions.
  const std::string folder = file.substr(0, slash);
  const std::size_t above = folder.rfind('/');
  const std::string root = above == std::string::npos || above == 0
                               ? folder
                               : folder.substr(0, folder.rfind('/', above - 1));
  const std::unique_ptr<FileTree> tree = TRY(world.open_tree(root.empty() ? "/" : root));
  const std::size_t skipped = root.empty() ? 1 : root.size() + 1;
  const TreePath path = TRY(TreePath::from_bytes(file.substr(skipped)));
  Search ignored;
  Error first(Code::invalid_argument, "no program that is known wrote this file");
  for (const Habit& habit : habits) {
    if (program && *program != habit.program) continue;
    Result<Found> found = Walk(habit, *tree, ignored).read(path);
    if (found && !found->session.turns.empty()) {
      found->file = file;
      return found;
    }
    if (!found && found.error().code() != Code::invalid_argument) return found;
  }
  return std::unexpected(first);
}

}  // namespace perdure::adopt
