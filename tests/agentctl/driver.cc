// See driver.h. Waiting means running the loop: nothing here sleeps.
#include "driver.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace perdure {
namespace {

std::string environment(const char* name, const char* otherwise) {
  const char* const value = getenv(name);
  return value ? value : otherwise;
}

}  // namespace

std::string_view frame_kind(const Frame& frame) {
  return visit([](const auto& body) -> std::string_view { return body.kind_text; }, frame.body);
}

void prepare_folder(const std::string& folder) {
  for (const char* const name : {"run", "spool", "agent", "place"}) {
    std::filesystem::create_directories(folder + "/" + name);
    std::filesystem::permissions(folder + "/" + name, std::filesystem::perms::owner_all);
  }
}

// Processes are found by their execution's id: two tests running at once use different ids.
Bootstrap make_bootstrap(const DriverSetup& setup) {
  const ExecId exec(Ulid{2, (std::hash<std::string>{}(setup.folder) << 16) | setup.number});
  Bootstrap bootstrap{.session = SessionId(Ulid{1, 1}),
                      .exec = exec,
                      .gen = setup.number,
                      .secret = "a secret of the test",
                      .run_folder = setup.folder + "/run",
                      .spool_folder = setup.folder + "/spool/" + exec.text(),
                      .cwd = setup.folder + "/place"};
  bootstrap.agent.command = setup.agent_command;
  bootstrap.agent.environment = {{"PATH", environment("PATH", "/usr/bin:/bin")},
                                 {"HOME", setup.folder + "/agent"}};
  bootstrap.agent.times.load_settle_ms = 50;
  if (setup.adjust) setup.adjust(bootstrap);
  return bootstrap;
}

Driver::Driver(DriverSetup setup)
    : loop(EpollLoop::create().value()),
      setup_(std::move(setup)),
      bootstrap_(make_bootstrap(setup_)),
      clock_(PosixClock::create().value()),
      processes_(PosixProcesses::create(*loop)),
      host_(std::make_unique<PosixHost>(*loop)) {
  LocalSetting setting{.agentctl_command = {setup_.agentctl},
                       .environment = {"PATH=" + environment("PATH", "/usr/bin:/bin")}};
  if (setup_.adjust_setting) setup_.adjust_setting(setting);
  execution_ = std::make_unique<LocalExecution>(LocalPorts{*clock_, *loop, *processes_, *host_},
                                                std::move(setting), bootstrap_,
                                                static_cast<ExecutionEvents&>(*this));
  if (!setup_.journal.empty()) read_journal();
}

Driver::~Driver() {
  execution_.reset();
  if (journal_ >= 0) close(journal_);
}

void Driver::start() { execution_->start(1, 0); }

void Driver::attach() { execution_->attach(1, frames.empty() ? 0 : frames.back().number); }

// Only whole lines count: the process may have been killed in the middle of one.
void Driver::read_journal() {
  std::ifstream file(setup_.journal, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t whole = text.rfind('\n') + 1;
  for (std::size_t at = 0; at < whole;) {
    const std::size_t tab = text.find('\t', at);
    const std::size_t end = text.find('\n', at);
    Frame frame = decode_frame(std::string_view(text).substr(tab + 1, end - tab - 1)).value();
    frame.number = std::stoull(text.substr(at, tab - at));
    frames.push_back(std::move(frame));
    at = end + 1;
  }
  journal_ = open(setup_.journal.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK(journal_ >= 0 && ftruncate(journal_, static_cast<off_t>(whole)) == 0);
  CHECK(lseek(journal_, 0, SEEK_END) >= 0);
}

void Driver::keep(FrameNo number, std::string_view frame) {
  std::string line = std::to_string(number) + "\t";
  line += frame;
  line += '\n';
  CHECK(write(journal_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
}

void Driver::on_attached(const AttachedPacket& packet) {
  acted = packet.acted;
  attaches.push_back(packet);
}

void Driver::on_frame(FrameNo number, std::string_view bytes) {
  if (journal_ >= 0) keep(number, bytes);
  Frame frame = decode_frame(bytes).value();
  frame.number = number;
  frames.push_back(std::move(frame));
  if (on_each) on_each(frames.back());
  ack_soon();
}

// One ack for all frames of one read, as the daemon sends one per commit.
void Driver::ack_soon() {
  if (!acks || std::exchange(ack_posted_, true)) return;
  loop->post([this] {
    ack_posted_ = false;
    if (acks && !frames.empty()) execution_->ack(frames.back().number);
  });
}

void Driver::on_reply(std::uint64_t call, Result<std::string> result) {
  replies.emplace_back(call, std::move(result));
}

void Driver::on_gone(const std::string& why) {
  gone = true;
  proof = why;
}

std::uint64_t Driver::command(CommandBody body) {
  command_numbered(++commands_, std::move(body));
  return commands_;
}

void Driver::command_numbered(std::uint64_t number, CommandBody body) {
  execution_->command({bootstrap_.exec, bootstrap_.gen, number, std::move(body)});
}

bool Driver::until(const std::function<bool()>& condition, int bound_ms) {
  const std::int64_t end_ms = clock_->now().since_boot.ms + bound_ms;
  while (!condition()) {
    if (clock_->now().since_boot.ms >= end_ms) return false;
    loop->pump_for_ms(20);
  }
  return true;
}

std::size_t Driver::count(std::string_view kind) const {
  std::size_t found = 0;
  for (const Frame& frame : frames) found += frame_kind(frame) == kind ? 1 : 0;
  return found;
}

bool Driver::until_frame(std::string_view kind, std::size_t wanted) {
  return until([&] { return count(kind) >= wanted; });
}

bool Driver::open_session() {
  if (!until_frame("executor.ready")) return false;
  command(StartAgent{});
  if (!until([this] { return count("agent.started") + count("agent.exited") > 0; })) return false;
  command(OpenSession{});
  return until_frame("session.opened");
}

RunId Driver::prompt(const std::string& text) {
  const RunId run(Ulid{3, ++runs_});
  command(SendPrompt{.run = run, .message = MessageId(Ulid{4, runs_}), .prompt = {.text = text}});
  return run;
}

bool Driver::run(const std::string& text) {
  const auto ends = [this] { return count("run.finished") + count("run.failed"); };
  const std::size_t before = ends();
  prompt(text);
  return until([&] { return ends() > before; });
}

std::string Driver::text() const {
  std::string text;
  for (const Frame& frame : frames) {
    if (const auto* message = get_if<MessageAgent>(&frame.body)) text += message->text;
  }
  return text;
}

}  // namespace perdure
