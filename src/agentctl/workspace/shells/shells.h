// Shells on terminals, several at once. Each continues without a reader: its last output is kept,
// numbered by byte, so that a returning client resumes exactly where it stopped.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/env.h"
#include "env/file_tree.h"
#include "env/process.h"

namespace perdure {

// Counts from 1; never reused within one life of an agentctl.
struct ShellId {
  std::uint64_t number = 0;
  auto operator<=>(const ShellId&) const = default;
};

struct ShellSpec {
  std::vector<std::string> command;      // empty: the setup's shell
  std::vector<std::string> environment;  // NAME=value, in addition to the setup's
  TreePath cwd;
  TerminalSize size;
};

struct ShellState {
  ShellId id;
  std::vector<std::string> command;
  TreePath cwd;
  TerminalSize size;
  std::int64_t pid = 0;
  std::uint64_t output_begin = 0;  // the oldest byte still readable
  std::uint64_t output_end = 0;
  std::optional<ProcessExit> exit;  // kept until the shell is closed
};

struct ShellOutput {
  std::uint64_t offset = 0;      // of the first byte in this output
  std::uint64_t lost_bytes = 0;  // overwritten bytes between the requested offset and `offset`
  std::string bytes;
  std::uint64_t end = 0;  // one past the newest byte: read until here
  std::optional<ProcessExit> exit;
};

class Shells {
 public:
  struct Setup {
    Loop& loop;
    Processes& processes;
    FileTree& files;
    std::vector<std::string> environment;  // NAME=value
    std::vector<std::string> shell;        // the user's, e.g. {"/bin/bash", "-l"}
  };
  // Called on the loop when there is output to read or the shell has ended: once until it reads.
  using OnNews = std::move_only_function<void(ShellId)>;

  explicit Shells(Setup setup);
  ~Shells();  // ends all shells
  Shells(const Shells&) = delete;
  Shells& operator=(const Shells&) = delete;

  void set_on_news(OnNews on_news);

  // limit_reached: shells_max are open. not_found: no such program or folder. invalid_argument.
  Result<ShellId> open(const ShellSpec& spec);
  // Takes all of it or, with limit_reached, nothing. conflict: the shell has ended.
  Result<> input(ShellId id, std::string_view bytes);
  Result<> resize(ShellId id, TerminalSize size);
  // From `offset`, at most shell_read_bytes_max. invalid_argument: the offset does not exist yet.
  Result<ShellOutput> read(ShellId id, std::uint64_t offset);
  // Kills the shell's process group and drops its output.
  Result<> close(ShellId id);
  std::vector<ShellState> list() const;

 private:
  class Shell;

  Result<Shell*> find(ShellId id);
  void tell(Shell& shell);

  Setup setup_;
  OnNews on_news_;
  std::uint64_t last_ = 0;
  std::map<ShellId, std::unique_ptr<Shell>> shells_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// The environment with more added: a later NAME replaces an earlier one. invalid_argument: not of
// the form NAME=value.
Result<std::vector<std::string>> merged_environment(std::vector<std::string> environment,
                                                    const std::vector<std::string>& more);

}  // namespace perdure
