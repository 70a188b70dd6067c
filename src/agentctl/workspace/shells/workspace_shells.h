// The shell.* calls: decodes parameters, calls Shells, writes the result.
#pragma once

#include <string>
#include <string_view>

#include "agentctl/workspace/shells/shells.h"
#include "base/result.h"

namespace perdure {

// A shell's id as text in calls: `sh_3`.
std::string shell_id_text(ShellId id);
Result<ShellId> parse_shell_id(std::string_view text);

class ShellCalls {
 public:
  explicit ShellCalls(Shells& shells) : shells_(shells) {}

  Result<std::string> open(std::string_view params);
  Result<std::string> input(std::string_view params);
  Result<std::string> resize(std::string_view params);
  Result<std::string> read(std::string_view params);
  Result<std::string> close(std::string_view params);
  Result<std::string> list(std::string_view params);

 private:
  Shells& shells_;
};

}  // namespace perdure
