#include "agentctl/workspace/shells/workspace_shells.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "agentctl/workspace/workspace_params.h"
#include "base/bytes/base64.h"

namespace perdure {
namespace {

constexpr std::string_view id_prefix = "sh_";

struct OpenParams {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string cwd;
  std::uint64_t columns = 80;
  std::uint64_t rows = 24;
  FIELDS {
    visit("command", self.command);
    visit("environment", self.environment);
    visit("cwd", self.cwd);
    visit("columns", self.columns);
    visit("rows", self.rows);
  }
};

struct InputParams {
  std::string shell;
  std::optional<std::string> text;
  std::optional<std::string> base64;
  FIELDS {
    visit("shell", self.shell);
    visit("text", self.text);
    visit("base64", self.base64);
  }
};

struct ResizeParams {
  std::string shell;
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  FIELDS {
    visit("shell", self.shell);
    visit("columns", self.columns);
    visit("rows", self.rows);
  }
};

struct ReadParams {
  std::string shell;
  std::uint64_t offset = 0;
  ContentForm as = ContentForm::automatic;
  FIELDS {
    visit("shell", self.shell);
    visit("offset", self.offset);
    visit("as", self.as);
  }
};

struct ShellParams {
  std::string shell;
  FIELDS { visit("shell", self.shell); }
};

struct NoParams {
  FIELDS {}
};

Result<TerminalSize> size_of(std::uint64_t columns, std::uint64_t rows) {
  constexpr std::uint64_t cells_max = 10'000;
  if (columns == 0 || rows == 0 || columns > cells_max || rows > cells_max) {
    return fail(Code::invalid_argument, "columns and rows are between 1 and 10000");
  }
  return TerminalSize{static_cast<std::uint16_t>(columns), static_cast<std::uint16_t>(rows)};
}

void write_exit(JsonWriter& out, const std::optional<ProcessExit>& exit) {
  out.key("exit");
  if (!exit) {
    out.null();
    return;
  }
  out.begin_object();
  if (exit->code) out.key("code").number(*exit->code);
  if (exit->signal) out.key("signal").number(*exit->signal);
  if (exit->oom == OomEvidence::group) out.key("out_of_memory").boolean(true);
  out.end_object();
}

void write_shell(JsonWriter& out, const ShellState& shell) {
  out.begin_object().key("shell").string(shell_id_text(shell.id)).key("command").begin_array();
  for (const std::string& word : shell.command) out.string(word);
  out.end_array().key("cwd").string(shell.cwd.text());
  out.key("columns").number(shell.size.columns).key("rows").number(shell.size.rows);
  out.key("pid").number(shell.pid);
  out.key("output_begin").number_unsigned(shell.output_begin);
  out.key("output_end").number_unsigned(shell.output_end);
  write_exit(out, shell.exit);
  out.end_object();
}

}  // namespace

std::string shell_id_text(ShellId id) { return std::string(id_prefix) + std::to_string(id.number); }

Result<ShellId> parse_shell_id(std::string_view text) {
  ShellId id;
  if (text.starts_with(id_prefix)) {
    const std::string_view digits = text.substr(id_prefix.size());
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, id.number);
    if (read.ec == std::errc() && read.ptr == end && id.number > 0) return id;
  }
  return fail(Code::invalid_argument, "not the id of a shell");
}

Result<std::string> ShellCalls::open(std::string_view json) {
  auto params = TRY(read_params<OpenParams>(json));
  ShellSpec spec{.command = std::move(params.command),
                 .environment = std::move(params.environment),
                 .cwd = TRY(TreePath::parse(params.cwd)),
                 .size = TRY(size_of(params.columns, params.rows))};
  const ShellId id = TRY(shells_.open(spec));
  JsonWriter out;
  out.begin_object().key("shell").string(shell_id_text(id)).end_object();
  return std::move(out).take();
}

Result<std::string> ShellCalls::input(std::string_view json) {
  const auto params = TRY(read_params<InputParams>(json));
  if (params.text.has_value() == params.base64.has_value()) {
    return fail(Code::invalid_argument, "give either text or base64");
  }
  const std::string bytes = params.text ? *params.text : TRY(base64_decode(*params.base64));
  TRY_VOID(shells_.input(TRY(parse_shell_id(params.shell)), bytes));
  return std::string("{}");
}

Result<std::string> ShellCalls::resize(std::string_view json) {
  const auto params = TRY(read_params<ResizeParams>(json));
  TRY_VOID(
      shells_.resize(TRY(parse_shell_id(params.shell)), TRY(size_of(params.columns, params.rows))));
  return std::string("{}");
}

Result<std::string> ShellCalls::read(std::string_view json) {
  const auto params = TRY(read_params<ReadParams>(json));
  const ShellOutput output = TRY(shells_.read(TRY(parse_shell_id(params.shell)), params.offset));
  const bool all = output.offset + output.bytes.size() == output.end;
  JsonWriter out;
  out.begin_object().key("shell").string(params.shell);
  out.key("offset").number_unsigned(output.offset);
  out.key("lost_bytes").number_unsigned(output.lost_bytes);
  const std::size_t written = TRY(write_content(
      out, output.bytes, params.as, all && output.exit ? PartEnd::at_end : PartEnd::more_follows));
  out.key("next_offset").number_unsigned(output.offset + written);
  out.key("output_end").number_unsigned(output.end);
  write_exit(out, output.exit);
  out.end_object();
  return std::move(out).take();
}

Result<std::string> ShellCalls::close(std::string_view json) {
  const auto params = TRY(read_params<ShellParams>(json));
  TRY_VOID(shells_.close(TRY(parse_shell_id(params.shell))));
  return std::string("{}");
}

Result<std::string> ShellCalls::list(std::string_view json) {
  TRY_VOID(read_params<NoParams>(json));
  JsonWriter out;
  out.begin_object().key("shells").begin_array();
  for (const ShellState& shell : shells_.list()) write_shell(out, shell);
  out.end_array().end_object();
  return std::move(out).take();
}

}  // namespace perdure
