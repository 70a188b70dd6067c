// Where programs keep their sessions, and which are there. Looks and never changes anything;
// symlinks are not followed; what is beyond a limit is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adopt/native_session.h"
#include "base/fields.h"
#include "env/file_tree.h"

namespace perdure::adopt {

enum class Program { claude, codex, opencode, gemini, copilot, qwen };

}  // namespace perdure::adopt

namespace perdure {
ENUM_TEXT(adopt::Program, "claude", "codex", "opencode", "gemini", "copilot", "qwen");
}  // namespace perdure

namespace perdure::adopt {

// Nothing when there is no such program.
std::optional<Program> find_program(std::string_view name);

// What the world has to give. The value of a variable; nothing when it is not set or empty.
struct FinderWorld {
  std::function<std::optional<std::string>(std::string_view name)> environment;
  std::function<Result<std::unique_ptr<FileTree>>(const std::string& root)> open_tree;
  // The sessions in a database of OpenCode, each as the lines that read_opencode() takes. Must not
  // change a byte beside it. Not given: OpenCode's sessions are not looked for.
  std::function<Result<std::vector<std::string>>(const std::string& file)> opencode_sessions = {};
};

// The folder that the program keeps its sessions in, made of its own variables or of HOME; nothing
// when neither is set.
std::optional<std::string> sessions_folder(Program program, const FinderWorld& world);

// A session that was found and read.
struct Found {
  Program program = Program::claude;
  std::string file;  // absolute
  std::uint64_t bytes = 0;
  NativeSession session;
};
struct Search {
  std::vector<Found> found;          // with at least one turn; by program, then the newest first
  std::vector<std::string> remarks;  // what was passed over, and why
};

// All sessions of these programs.
Search find_sessions(const std::vector<Program>& programs, const FinderWorld& world);
// One file that was named: of this program, or of the first one that knows it.
Result<Found> read_named(const std::string& file, std::optional<Program> program,
                         const FinderWorld& world);

}  // namespace perdure::adopt
