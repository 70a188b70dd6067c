// The calls. Each owner has its own folders, structured like a data folder, so that two daemons
// that use this host do not interfere.
#include "outpost/outpost.h"

#include <algorithm>
#include <utility>

#include "base/bytes/base64.h"
#include "core/wire/agentctl/bootstrap.h"
#include "outpost/connection.h"

namespace perdure {
namespace {

constexpr std::size_t output_bytes_max = 64UL << 10;
constexpr std::size_t record_bytes_most = 64UL << 10;

std::string socket_name(ExecId exec) { return exec.text() + ".sock"; }
std::string record_name(ExecId exec) { return exec.text() + ".json"; }

Result<> check_exec(const OutpostCall& call) {
  if (call.exec && is_owner(call.owner)) return {};
  return fail(Code::invalid_argument, "exec_id and owner are needed");
}

}  // namespace

// One `perdure-agentctl start`, whose one line is the answer.
class Outpost::Start final : public ProcessEvents {
 public:
  using OnOutput = std::move_only_function<void(std::string)>;
  explicit Start(OnOutput done) : done_(std::move(done)) {}
  void hold(std::unique_ptr<Process> process) { process_ = std::move(process); }
  Process& process() { return *process_; }

 private:
  void on_output(std::string_view bytes) override {
    output_ += bytes.substr(0, output_bytes_max - std::min(output_bytes_max, output_.size()));
  }
  void on_error_output(std::string_view) override {}
  void on_output_end() override {}
  void on_exit(const ProcessExit&) override { done_(std::move(output_)); }

  OnOutput done_;
  std::unique_ptr<Process> process_;
  std::string output_;
};

Outpost::Outpost(OutpostPorts ports, OutpostSetting setting)
    : ports_(std::move(ports)), setting_(std::move(setting)) {}

Outpost::~Outpost() { *exists_ = false; }

std::string Outpost::run_folder(const std::string& owner) const {
  return setting_.folder + "/run/agentctl/" + owner;
}

std::string Outpost::spool_folder(const OutpostCall& call) const {
  return setting_.folder + "/spool/" + call.owner + "/" + call.exec.text();
}

std::string Outpost::records_folder(const std::string& owner) const {
  return setting_.folder + "/execs/" + owner;
}

Result<> Outpost::make_folders(const std::string& owner) {
  for (const char* name : {"/run", "/run/agentctl", "/spool", "/execs"}) {
    TRY(ports_.host.make_folder(setting_.folder + name));
  }
  TRY(ports_.host.make_folder(run_folder(owner)));
  TRY(ports_.host.make_folder(setting_.folder + "/spool/" + owner));
  TRY(ports_.host.make_folder(records_folder(owner)));
  return {};
}

void Outpost::run(OutpostCall call, OnReply done) {
  if (call.verb == OutpostVerb::start) return start(std::move(call), std::move(done));
  if (call.verb == OutpostVerb::workspace) return workspace(std::move(call), std::move(done));
  done(answer(call));
}

Result<std::string> Outpost::answer(const OutpostCall& call) {
  switch (call.verb) {
    case OutpostVerb::life: return life(call);
    case OutpostVerb::kill: return kill(call);
    case OutpostVerb::list: return list(call);
    case OutpostVerb::read: return read(call);
    case OutpostVerb::remove: return remove(call);
    case OutpostVerb::forget: return forget(call);
    case OutpostVerb::ping:
    case OutpostVerb::start:
    case OutpostVerb::workspace: break;
  }
  return std::string("{}");
}

// Adapts the daemon's bootstrap to this host: it gets our folders, and this host's environment for
// variables that the daemon does not set.
void Outpost::start(OutpostCall call, OnReply done) {
  Result<Bootstrap> read = decode_bootstrap(call.bootstrap.text);
  if (!read) return done(std::unexpected(std::move(read).error()));
  Bootstrap& bootstrap = *read;
  call.exec = bootstrap.exec;
  call.owner = bootstrap.owner;
  call.bootstrap = {};
  if (Result<> good = check_exec(call); !good) return done(std::unexpected(good.error()));
  if (const Result<> may = check_folder(bootstrap.cwd, {}); !may) {
    return done(encode_bootstrap_answer(
        {.code = std::string(code_name(may.error().code())), .message = may.error().message()}));
  }
  if (Result<> made = make_folders(call.owner); !made) return done(std::unexpected(made.error()));
  bootstrap.run_folder = run_folder(call.owner);
  bootstrap.spool_folder = spool_folder(call);
  if (!bootstrap.hide.empty()) bootstrap.hide = setting_.hide;
  for (const auto& [name, value] : setting_.environment) {
    bootstrap.agent.environment.try_emplace(name, value);
  }
  SpawnSpec spec{.command = setting_.agentctl_command, .environment = {}, .cwd = "/"};
  spec.command.emplace_back("start");
  for (const auto& [name, value] : setting_.environment) {
    spec.environment.push_back(name + "=" + value);
  }
  for (std::string& mark : marks_of(bootstrap)) spec.environment.push_back(std::move(mark));
  const std::uint64_t number = ++last_start_;
  const auto told = std::make_shared<OnReply>(std::move(done));
  auto job = std::make_unique<Start>([this, number, call, told](std::string output) {
    ports_.loop.post([this, exists = exists_, number] {
      if (*exists) starts_.erase(number);
    });
    started(call, output);
    if (const Result<BootstrapAnswer> answer = decode_bootstrap_answer(output); !answer) {
      return (*told)(fail(Code::unavailable, "perdure-agentctl said nothing to be read"));
    }
    (*told)(std::move(output));
  });
  Result<std::unique_ptr<Process>> spawned = ports_.processes.spawn(spec, *job);
  if (!spawned) return (*told)(std::unexpected(std::move(spawned).error()));
  job->hold(std::move(*spawned));
  job->process().write(encode_bootstrap(bootstrap) + "\n");
  job->process().close_input();
  starts_.emplace(number, std::move(job));
}

// Records the process, for later questions whether it lives.
void Outpost::started(const OutpostCall& call, const std::string& output) {
  const Result<BootstrapAnswer> answer = decode_bootstrap_answer(output);
  if (!answer || !answer->code.empty()) return;
  const auto folder = ports_.host.open_folder(records_folder(call.owner));
  if (!folder) return;
  (void)(*folder)->remove(record_name(call.exec));
  (void)(*folder)->append(record_name(call.exec), encode_bootstrap_answer(*answer) + "\n");
}

// An execution without a record and without a listener is dead or about to be; the caller makes
// sure by killing its mark.
Result<std::string> Outpost::life(const OutpostCall& call) {
  TRY_VOID(check_exec(call));
  const auto told = [&](ProcessLife life) {
    const char* const text = life == ProcessLife::alive  ? "alive"
                             : life == ProcessLife::dead ? "dead"
                                                         : "unknown";
    return encode_result(OutpostLife{text, setting_.host_boot});
  };
  if (const auto folder = ports_.host.open_folder(records_folder(call.owner))) {
    const Result<std::string> text = (*folder)->read(record_name(call.exec), 0, record_bytes_most);
    const Result<BootstrapAnswer> answer = decode_bootstrap_answer(text.value_or(""));
    if (answer) {
      return told(ports_.host.life({.pid = answer->pid,
                                    .started = static_cast<std::uint64_t>(answer->pid_started),
                                    .host_boot = answer->host_boot}));
    }
  }
  const bool answers =
      ports_.host.connect(run_folder(call.owner), socket_name(call.exec)).has_value();
  return told(answers ? ProcessLife::alive : ProcessLife::dead);
}

Result<std::string> Outpost::kill(const OutpostCall& call) {
  const bool is_ours =
      call.mark.starts_with("PERDURE_EXEC_MARK=") || call.mark.starts_with("PERDURE_SESSION_MARK=");
  if (!is_ours || call.mark.find('\0') != std::string::npos) {
    return fail(Code::invalid_argument, "mark: it is not one of an execution or a session");
  }
  return encode_result(OutpostLeft{ports_.processes.kill_marked(call.mark)});
}

Result<std::string> Outpost::list(const OutpostCall& call) {
  TRY_VOID(check_exec(call));
  OutpostFiles out;
  const auto folder = ports_.host.open_folder(spool_folder(call));
  if (!folder && folder.error().code() == Code::not_found) return encode_result(out);
  if (!folder) return std::unexpected(folder.error());
  for (const std::string& name : TRY((*folder)->list())) {
    out.files.push_back({name, TRY((*folder)->size(name))});
  }
  return encode_result(out);
}

Result<std::string> Outpost::read(const OutpostCall& call) {
  TRY_VOID(check_exec(call));
  const auto folder = TRY(ports_.host.open_folder(spool_folder(call)));
  const std::string bytes = TRY(folder->read(call.name, call.offset, outpost_piece_bytes_max));
  return encode_result(OutpostPiece{base64_encode(bytes)});
}

Result<std::string> Outpost::remove(const OutpostCall& call) {
  TRY_VOID(check_exec(call));
  for (const auto& [folder, name] :
       {std::pair(run_folder(call.owner), socket_name(call.exec)),
        std::pair(records_folder(call.owner), record_name(call.exec))}) {
    const Result<> removed = ports_.host.remove_file(folder, name);
    if (!removed && removed.error().code() != Code::not_found) {
      return std::unexpected(removed.error());
    }
  }
  TRY_VOID(ports_.host.remove_folder(spool_folder(call)));
  return std::string("{}");
}

// Removes only what we created: by name, below our own folder. A workspace stays if it contains
// files of others.
Result<std::string> Outpost::forget(const OutpostCall& call) {
  if (!call.session || !is_owner(call.owner)) {
    return fail(Code::invalid_argument, "session_id and owner are needed");
  }
  (void)ports_.host.remove_file(run_folder(call.owner), session_lock_name(call.session));
  (void)ports_.host.remove_folder(setting_.folder + "/workspaces/session_" + call.session.text());
  return std::string("{}");
}

// A null session: the daemon has checked the path before, but it may lead elsewhere now.
Result<> Outpost::check_folder(const std::string& cwd, SessionId session) {
  if (!ports_.folder_owner || !ports_.files.folder_exists(cwd)) return {};
  const SessionId owner = TRY(ports_.folder_owner(cwd));
  if (!owner || !session || owner == session) return {};
  return fail(Code::invalid_argument, "cwd: " + cwd + " belongs to another session");
}

void Outpost::workspace(OutpostCall call, OnReply done) {
  const auto made = [&]() -> Result<std::string> {
    if (!call.session) return fail(Code::invalid_argument, "session_id is needed");
    if (!call.cwd.empty()) {
      if (!call.cwd.starts_with('/') || !ports_.files.folder_exists(call.cwd)) {
        return fail(Code::workspace_missing, "the folder " + call.cwd + " does not exist there");
      }
      TRY_VOID(check_folder(call.cwd, call.session));
      return call.cwd;
    }
    if (call.branch)
      return fail(Code::invalid_argument, "worktree: it needs the cwd of a repository");
    const std::string path = setting_.folder + "/workspaces";
    TRY(ports_.host.make_folder(path));
    TRY(ports_.host.make_folder(path + "/session_" + call.session.text()));
    return path + "/session_" + call.session.text();
  }();
  if (!made) return done(std::unexpected(made.error()));
  if (!call.branch) return done(encode_result(Workspace{.cwd = *made}));
  const std::string folder = setting_.folder + "/worktrees";
  if (const auto there = ports_.host.make_folder(folder); !there) {
    return done(std::unexpected(there.error()));
  }
  const std::string name = call.session.text();
  ports_.make_worktree({.session = call.session,
                        .repository = *made,
                        .path = folder + "/" + name,
                        .branch = call.branch->empty() ? "perdure/" + name : *call.branch},
                       [done = std::move(done)](Result<Workspace> result) mutable {
                         if (!result) return done(std::unexpected(std::move(result).error()));
                         done(encode_result(*result));
                       });
}

void Outpost::on_link(std::unique_ptr<Link> link, const std::string& source) {
  const auto is_from_there = [&](const OutpostConnection* each) {
    return each->source() == source;
  };
  const auto from_there =
      static_cast<std::size_t>(std::ranges::count_if(strangers_, is_from_there));
  if (from_there >= outpost_strangers_per_source_max) {
    drop_stranger(&source);
  } else if (strangers_.size() >= outpost_strangers_max) {
    drop_stranger(nullptr);
  }
  if (connections_.size() >= outpost_links_max && !drop_stranger(nullptr)) return;
  const std::uint64_t number = ++last_connection_;
  auto made = std::make_unique<OutpostConnection>(*this, OutpostConnection::Place{number, source},
                                                  std::move(link));
  connections_.emplace(number, std::move(made)).first->second->begin();
}

// Disconnects the oldest stranger, of one source or of all. False: there is none.
bool Outpost::drop_stranger(const std::string* source) {
  const auto at = std::ranges::find_if(strangers_, [&](const OutpostConnection* each) {
    return source == nullptr || each->source() == *source;
  });
  if (at == strangers_.end()) return false;
  connections_.erase((*at)->number());
  return true;
}

// Not destroyed within its own call.
void Outpost::forget_connection(std::uint64_t number) {
  ports_.loop.post([this, exists = exists_, number] {
    if (*exists) connections_.erase(number);
  });
}

}  // namespace perdure
