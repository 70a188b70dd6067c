#include "agentctl/supervisor/services/acp_terminals.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "agentctl/workspace/shells/scrollback.h"
#include "agentctl/workspace/shells/shells.h"
#include "agentctl/workspace/workspace_params.h"
#include "base/json/fields_json.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/text.h"

namespace perdure {
namespace {

constexpr std::string_view id_prefix = "term_";

struct EnvironmentVariable {
  std::string name;
  std::string value;
  FIELDS {
    visit("name", self.name);
    visit("value", self.value);
  }
};

struct CreateParams {
  std::string command;
  std::optional<std::vector<std::string>> args;
  std::optional<std::vector<EnvironmentVariable>> env;
  std::optional<std::string> cwd;
  std::optional<std::uint64_t> output_byte_limit;
  FIELDS {
    visit("command", self.command);
    visit("args", self.args);
    visit("env", self.env);
    visit("cwd", self.cwd);
    visit("outputByteLimit", self.output_byte_limit);
  }
};

struct TerminalParams {
  std::string terminal_id;
  FIELDS { visit("terminalId", self.terminal_id); }
};

// Agents send a program with arguments, or a whole shell line as the command alone. Both run under
// sh, which joins the outputs and closes the input: otherwise a program that prompts hangs.
std::vector<std::string> command_of(CreateParams& params) {
  if (!params.args || params.args->empty()) {
    return {"/bin/sh", "-c", "exec </dev/null 2>&1\n" + params.command};
  }
  std::vector<std::string> out = {"/bin/sh", "-c", "exec </dev/null 2>&1\nexec \"$@\"", "sh",
                                  std::move(params.command)};
  std::ranges::move(*params.args, std::back_inserter(out));
  return out;
}

// Writes the members exitCode and signal.
void write_exit(JsonWriter& out, const ProcessExit& exit) {
  out.begin_object().key("exitCode");
  if (exit.code) {
    out.number(*exit.code);
  } else {
    out.null();
  }
  out.key("signal");
  const char* const name = exit.signal ? ::sigabbrev_np(*exit.signal) : nullptr;
  if (name != nullptr) {
    out.string("SIG" + std::string(name));
  } else if (exit.signal) {
    out.string(std::to_string(*exit.signal));
  } else {
    out.null();
  }
  out.end_object();
}

std::string exit_json(const ProcessExit& exit) {
  JsonWriter out;
  write_exit(out, exit);
  return std::move(out).take();
}

// Drops the rest of a character whose beginning was dropped.
std::string_view from_whole_character(std::string_view bytes) {
  for (int i = 0; i < 3 && !bytes.empty(); ++i) {
    if ((static_cast<unsigned char>(bytes.front()) & 0xc0U) != 0x80U) break;
    bytes.remove_prefix(1);
  }
  return bytes;
}

}  // namespace

class AcpTerminals::Terminal final : public ProcessEvents {
 public:
  explicit Terminal(std::size_t output_bytes_max) : output_(output_bytes_max) {}

  Result<> start(Processes& processes, const SpawnSpec& spec) {
    process_ = TRY(processes.spawn(spec, *this));
    process_->close_input();
    return {};
  }

  void on_output(std::string_view bytes) override { output_.append(bytes); }
  void on_error_output(std::string_view bytes) override { output_.append(bytes); }
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override { end(exit); }

  void end(const ProcessExit& exit) {
    if (exit_) return;
    exit_ = exit;
    for (AcpReply& wait : std::exchange(waits_, {})) wait(exit_json(exit));
  }

  AcpResult tell_output() const {
    const bool truncated = output_.begin() > 0;
    const std::string kept = output_.read(output_.begin(), terminal_output_bytes_max);
    std::string_view text = kept;
    if (truncated) text = from_whole_character(text);
    if (!exit_) text = without_cut_character(text);
    JsonWriter out;
    out.begin_object().key("output").string(utf8_scrub(text));
    out.key("truncated").boolean(truncated);
    if (exit_) {
      out.key("exitStatus");
      write_exit(out, *exit_);
    }
    out.end_object();
    return std::move(out).take();
  }

  void wait(AcpReply reply) {
    if (exit_) return reply(exit_json(*exit_));
    if (waits_.size() >= terminal_waits_max) {
      return reply(std::unexpected(AcpError{acp_internal_error, "too many wait for this exit"}));
    }
    waits_.push_back(std::move(reply));
  }

  void kill() {
    if (!exit_) process_->signal(SIGKILL);
  }

 private:
  Scrollback output_;
  std::optional<ProcessExit> exit_;
  std::vector<AcpReply> waits_;
  std::unique_ptr<Process> process_;
};

AcpTerminals::AcpTerminals(Setup setup) : setup_(std::move(setup)) {}
AcpTerminals::~AcpTerminals() = default;

AcpResult AcpTerminals::create(std::string_view json) {
  return acp_result([&]() -> Result<std::string> {
    auto params = TRY(decode_fields<CreateParams>(json)).value;
    if (params.command.empty()) return fail(Code::invalid_argument, "command is missing");
    if (terminals_.size() >= terminals_max) {
      return fail(Code::limit_reached, "terminals_max are open: release some");
    }
    SpawnSpec spec{.cwd = setup_.files.root()};
    if (params.cwd) {
      const TreePath cwd = TRY(tree_path_of(*params.cwd, setup_.roots));
      const FileEntry there = TRY(setup_.files.stat(cwd));
      if (there.leads_to.value_or(there.stat.kind) != FileKind::folder) {
        return fail(Code::conflict, cwd.text() + ": not a folder");
      }
      if (!cwd.is_root()) spec.cwd += "/" + cwd.bytes();
    }
    std::vector<std::string> more;
    for (const auto& variable : params.env.value_or(std::vector<EnvironmentVariable>())) {
      more.push_back(variable.name + "=" + variable.value);
    }
    spec.environment = TRY(merged_environment(setup_.environment, more));
    spec.command = command_of(params);
    const std::uint64_t limit = params.output_byte_limit.value_or(terminal_output_bytes_max);
    auto terminal =
        std::make_unique<Terminal>(std::clamp<std::uint64_t>(limit, 1, terminal_output_bytes_max));
    TRY_VOID(terminal->start(setup_.processes, spec));
    terminals_.emplace(++last_, std::move(terminal));
    JsonWriter out;
    out.begin_object().key("terminalId").string(std::string(id_prefix) + std::to_string(last_));
    return std::move(out.end_object()).take();
  }());
}

Result<AcpTerminals::Key> AcpTerminals::find(std::string_view json) const {
  const auto params = TRY(decode_fields<TerminalParams>(json)).value;
  for (const auto& [key, terminal] : terminals_) {
    if (params.terminal_id == std::string(id_prefix) + std::to_string(key)) return key;
  }
  return fail(Code::not_found, "no such terminal");
}

AcpResult AcpTerminals::output(std::string_view params) {
  const auto key = find(params);
  if (!key) return std::unexpected(acp_error(key.error()));
  return terminals_.at(*key)->tell_output();
}

void AcpTerminals::wait_for_exit(std::string_view params, AcpReply reply) {
  const auto key = find(params);
  if (!key) return reply(std::unexpected(acp_error(key.error())));
  terminals_.at(*key)->wait(std::move(reply));
}

AcpResult AcpTerminals::kill(std::string_view params) {
  const auto key = find(params);
  if (!key) return std::unexpected(acp_error(key.error()));
  terminals_.at(*key)->kill();
  return "{}";
}

AcpResult AcpTerminals::release(std::string_view params) {
  const auto key = find(params);
  if (!key) return std::unexpected(acp_error(key.error()));
  release(*key);
  return "{}";
}

void AcpTerminals::release(Key key) {
  const std::shared_ptr<Terminal> terminal = std::move(terminals_.extract(key).mapped());
  // Destroying it kills its group. Defer that: we may be inside one of its events.
  terminal->end({.signal = SIGKILL});
  setup_.loop.post([terminal] {});
}

void AcpTerminals::release_all() {
  while (!terminals_.empty()) release(terminals_.begin()->first);
}

}  // namespace perdure
