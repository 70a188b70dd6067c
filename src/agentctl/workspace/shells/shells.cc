#include "agentctl/workspace/shells/shells.h"

#include <algorithm>
#include <utility>

#include "agentctl/workspace/shells/scrollback.h"
#include "base/limits.h"

namespace perdure {

Result<std::vector<std::string>> merged_environment(std::vector<std::string> environment,
                                                    const std::vector<std::string>& more) {
  constexpr std::size_t variables_max = 1024;
  if (more.size() > variables_max) return fail(Code::limit_reached, "too many variables");
  for (const std::string& variable : more) {
    const std::size_t equals = variable.find('=');
    if (equals == 0 || equals == std::string::npos || variable.contains('\0')) {
      return fail(Code::invalid_argument, "a variable is not of the form NAME=value");
    }
    const std::string_view name = std::string_view(variable).substr(0, equals + 1);
    std::erase_if(environment, [&](const std::string& old) { return old.starts_with(name); });
    environment.push_back(variable);
  }
  return environment;
}

class Shells::Shell final : public ProcessEvents {
 public:
  Shell(Shells& shells, ShellState state)
      : shells_(shells), state_(std::move(state)), output_(shell_scrollback_bytes_max) {}

  Result<> start(const SpawnSpec& spec) {
    process_ = TRY(shells_.setup_.processes.spawn(spec, *this));
    state_.pid = process_->pid();
    return {};
  }

  void on_output(std::string_view bytes) override {
    if (closed) return;
    output_.append(bytes);
    shells_.tell(*this);
  }
  void on_error_output(std::string_view bytes) override { on_output(bytes); }
  void on_output_end() override {}
  void on_exit(const ProcessExit& exit) override {
    if (closed) return;
    state_.exit = exit;
    shells_.tell(*this);
  }

  ShellState state() const {
    ShellState out = state_;
    out.output_begin = output_.begin();
    out.output_end = output_.end();
    return out;
  }
  const Scrollback& output() const { return output_; }
  Process& process() { return *process_; }
  bool has_ended() const { return state_.exit.has_value(); }
  void set_size(TerminalSize size) { state_.size = size; }

  bool news_told = false;  // reported and not read since
  bool closed = false;     // it may briefly outlive the shells and must not access them

 private:
  Shells& shells_;
  ShellState state_;
  Scrollback output_;
  std::unique_ptr<Process> process_;
};

Shells::Shells(Setup setup) : setup_(std::move(setup)) {}
Shells::~Shells() = default;

void Shells::set_on_news(OnNews on_news) { on_news_ = std::move(on_news); }

void Shells::tell(Shell& shell) {
  if (!on_news_ || std::exchange(shell.news_told, true)) return;
  setup_.loop.post([this, alive = std::weak_ptr(alive_), id = shell.state().id] {
    if (!alive.expired() && shells_.contains(id)) on_news_(id);
  });
}

Result<ShellId> Shells::open(const ShellSpec& spec) {
  if (shells_.size() >= shells_max) return fail(Code::limit_reached, "shells_max are open");
  if (spec.size.columns == 0 || spec.size.rows == 0) {
    return fail(Code::invalid_argument, "a terminal has at least one column and row");
  }
  const FileEntry folder = TRY(setup_.files.stat(spec.cwd));
  if (folder.leads_to.value_or(folder.stat.kind) != FileKind::folder) {
    return fail(Code::conflict, spec.cwd.text() + ": not a folder");
  }
  SpawnSpec spawn{.command = spec.command.empty() ? setup_.shell : spec.command,
                  .cwd = setup_.files.root(),
                  .terminal = spec.size};
  if (!spec.cwd.is_root()) spawn.cwd += "/" + spec.cwd.bytes();
  spawn.environment = TRY(merged_environment(setup_.environment, {"TERM=xterm-256color"}));
  spawn.environment = TRY(merged_environment(std::move(spawn.environment), spec.environment));
  const ShellId id{last_ + 1};
  ShellState state{.id = id, .command = spawn.command, .cwd = spec.cwd, .size = spec.size};
  auto shell = std::make_unique<Shell>(*this, std::move(state));
  TRY_VOID(shell->start(spawn));
  ++last_;
  shells_.emplace(id, std::move(shell));
  return id;
}

Result<Shells::Shell*> Shells::find(ShellId id) {
  const auto at = shells_.find(id);
  if (at == shells_.end()) return fail(Code::not_found, "no such shell");
  return at->second.get();
}

Result<> Shells::input(ShellId id, std::string_view bytes) {
  Shell& shell = *TRY(find(id));
  if (shell.has_ended()) return fail(Code::conflict, "the shell has ended");
  const std::size_t waiting = shell.process().unwritten_bytes();
  if (bytes.size() > shell_input_bytes_max || waiting > shell_input_bytes_max - bytes.size()) {
    return fail(Code::limit_reached, "the shell does not read its input");
  }
  shell.process().write(bytes);
  return {};
}

Result<> Shells::resize(ShellId id, TerminalSize size) {
  Shell& shell = *TRY(find(id));
  if (size.columns == 0 || size.rows == 0) {
    return fail(Code::invalid_argument, "a terminal has at least one column and row");
  }
  shell.set_size(size);
  if (!shell.has_ended()) shell.process().resize(size);
  return {};
}

Result<ShellOutput> Shells::read(ShellId id, std::uint64_t offset) {
  Shell& shell = *TRY(find(id));
  const Scrollback& output = shell.output();
  if (offset > output.end()) {
    return fail(Code::invalid_argument, "the shell has not written that far");
  }
  shell.news_told = false;
  ShellOutput out{.offset = std::max(offset, output.begin()), .end = output.end()};
  out.lost_bytes = out.offset - offset;
  out.bytes = output.read(out.offset, shell_read_bytes_max);
  out.exit = shell.state().exit;
  return out;
}

Result<> Shells::close(ShellId id) {
  TRY(find(id))->closed = true;
  // We may be inside one of its events: destroy it after that event returns.
  auto gone = shells_.extract(id);
  setup_.loop.post([shell = std::shared_ptr<Shell>(std::move(gone.mapped()))] {});
  return {};
}

std::vector<ShellState> Shells::list() const {
  std::vector<ShellState> out;
  for (const auto& [id, shell] : shells_) out.push_back(shell->state());
  return out;
}

}  // namespace perdure
