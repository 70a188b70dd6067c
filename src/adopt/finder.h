// Finds the sessions of other programs. Only reads; does not follow symlinks; counts what exceeds a
// limit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adopt/native_session.h"
#include "base/json/fields.h"
#include "env/file_tree.h"

namespace perdure::adopt {

enum class Program { claude, codex, opencode, gemini, copilot, qwen };

}  // namespace perdure::adopt

namespace perdure {
ENUM_TEXT(adopt::Program, "claude", "codex", "opencode", "gemini", "copilot", "qwen");
}  // namespace perdure

namespace perdure::adopt {

// Nothing if no program has that name.
std::optional<Program> find_program(std::string_view name);

// The finder's environment. `environment` returns a variable's value, or nothing if it is unset or
// empty.
struct FinderWorld {
  std::function<std::optional<std::string>(std::string_view name)> environment;
  std::function<Result<std::unique_ptr<FileTree>>(const std::string& root)> open_tree;
  // The sessions in a database of OpenCode, each as the lines that read_opencode() takes. Must not
  // change any file. If not set, OpenCode's sessions are not searched.
  std::function<Result<std::vector<std::string>>(const std::string& file)> opencode_sessions = {};
};

// The folder in which the program keeps its sessions, from its own variables or from HOME; nothing
// if neither is set.
std::optional<std::string> sessions_folder(Program program, const FinderWorld& world);

// A session that was found and read.
struct Found {
  Program program = Program::claude;
  std::string file;  // absolute
  std::uint64_t bytes = 0;
  NativeSession session;
};
struct Search {
  std::vector<Found> found;          // with at least one turn; by program, then newest first
  std::vector<std::string> remarks;  // skipped files, and why
};

// All sessions of these programs.
Search find_sessions(const std::vector<Program>& programs, const FinderWorld& world);
// Reads one named file: as this program's, or as that of the first program that recognises it.
Result<Found> read_named(const std::string& file, std::optional<Program> program,
                         const FinderWorld& world);

}  // namespace perdure::adopt
