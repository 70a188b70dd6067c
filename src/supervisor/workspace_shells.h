// The calls shell.*: parameters in, one call of Shells, result out.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "supervisor/shells.h"

namespace perdure {

// The text of a shell's id in calls: `sh_3`.
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
