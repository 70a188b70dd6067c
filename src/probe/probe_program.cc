#include "probe/probe_program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <sys/prctl.h>
#include <unistd.h>

#include "base/bytes/hash.h"
#include "base/error_codes.h"
#include "base/json/fields_json.h"
#include "core/agents/probe_report.h"
#include "env/posix/confine/confine.h"
#include "env/posix/confine/hidden_folder.h"
#include "env/posix/loop/loop.h"
#include "env/posix/loop/signals.h"
#include "env/posix/process/processes.h"
#include "env/posix/world.h"
#include "probe/probing.h"

namespace perdure::probe {
namespace {

constexpr std::size_t order_bytes_max = 4UL << 20;

Result<std::string> read_input() {
  std::string text;
  char bytes[1 << 14];
  while (true) {
    const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Code::unavailable, std::strerror(errno));
    if (count == 0) return text;
    text.append(bytes, static_cast<std::size_t>(count));
    if (text.size() > order_bytes_max) return fail(Code::too_large, "the order is too long");
  }
}

// A temporary folder, deleted with this object.
class ScratchFolder {
 public:
  static Result<std::unique_ptr<ScratchFolder>> create() {
    std::error_code error;
    std::string path = std::filesystem::temp_directory_path(error) / "perdure-probe-XXXXXX";
    if (error || !mkdtemp(path.data())) return fail(Code::unavailable, "no temporary folder");
    return std::unique_ptr<ScratchFolder>(new ScratchFolder(std::move(path)));
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// False: the reader has gone.
bool print_line(std::string_view name, const std::string& json) {
  JsonWriter line;
  line.begin_object().key(name).raw(json).end_object();
  const std::string text = std::move(line).take() + "\n";
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

// As with a session's agent: where the machine allows it, the daemon's folder is out of sight, and
// what the agent starts sees and signals nobody else and ends with this process.
Result<> confine(const ProbeOrder& order) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // of the process that waits for the one that goes on
  const ConfinedProcess self = TRY(enter_namespaces(CallingProcess::waits));
  if (self.confinement.level == ConfinementLevel::none) return {};
  Result<> hidden = hide_folder({.folder = order.hide, .identity = order.hide_identity});
  if (hidden) hidden = seal_control_groups();
  const bool is_refused = !hidden && hidden.error().code() == Code::unavailable;
  return is_refused ? Result<>() : hidden;
}

Result<> probe() {
  const std::string text = TRY(read_input());
  const ProbeOrder order = TRY(decode_fields<ProbeOrder>(text)).value;
  if (order.v != probe_version) return fail(Code::invalid_argument, "an order of another version");
  if (!order.hide.empty()) TRY_VOID(confine(order));
  const std::unique_ptr<EpollLoop> loop = TRY(EpollLoop::create());
  const std::unique_ptr<PosixProcesses> processes =
      PosixProcesses::create(*loop, {.parent_death = ParentDeath::kill});
  TRY_VOID(processes->become_subreaper());
  const std::unique_ptr<PosixClock> clock = TRY(PosixClock::create());
  const std::unique_ptr<ScratchFolder> folder = TRY(ScratchFolder::create());
  PosixRandom random;
  const std::string number = std::to_string(random.next());
  const std::string mark = "PERDURE_PROBE=" + number;
  const auto give_up = [&] {
    (void)processes->kill_marked(mark);
    std::error_code error;
    std::filesystem::remove_all(folder->path(), error);
    std::_Exit(exit_failed);
  };
  const std::unique_ptr<SignalWatch> signals =
      TRY(SignalWatch::create(*loop, {SIGTERM, SIGINT, SIGHUP}, [&](int) { give_up(); }));
  // If the parent dies, this process must not stay behind.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto tell = [&](const ProbeStep& step) {
    if (!print_line("step", encode_fields(step))) give_up();
  };
  Probing probing({*loop, *processes}, order,
                  {.folder = folder->path(),
                   .mark = mark,
                   .word = "PROBE-" + number.substr(0, 8),
                   .now = clock->now().wall},
                  tell);
  (void)print_line("report", encode_fields(probing.run()));
  return {};
}

}  // namespace

int probe_program_main() {
  const Result<> done = probe();
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return exit_failed;
}

}  // namespace perdure::probe
