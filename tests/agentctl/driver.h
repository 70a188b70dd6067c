// A miniature daemon for tests: one real agentctl, driven through daemon/hosting as by the daemon.
// It can store received frames on disk, like the daemon's journal, and continue from there in
// another process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/wire/agentctl/bootstrap.h"
#include "core/wire/agentctl/frame.h"
#include "daemon/hosting/local_execution.h"
#include "env/posix/loop/loop.h"
#include "env/posix/process/posix_host.h"
#include "env/posix/process/processes.h"
#include "env/posix/world.h"

namespace perdure {

struct DriverSetup {
  std::string folder;  // contains run/, spool/, agent/, place/; made by prepare_folder()
  std::string agentctl;
  std::uint64_t number = 1;  // of the execution: its ids derive from it
  std::vector<std::string> agent_command;
  std::string journal;  // path; empty: none
  std::function<void(Bootstrap&)> adjust;
  std::function<void(LocalSetting&)> adjust_setting;
};

// Makes the folders of a setup.
void prepare_folder(const std::string& folder);
Bootstrap make_bootstrap(const DriverSetup& setup);

class Driver final : private ExecutionEvents {
 public:
  explicit Driver(DriverSetup setup);
  ~Driver() override;

  void start();
  void attach();  // from the frame after the last one in the journal
  // Each command gets the next number.
  std::uint64_t command(CommandBody body);
  void command_numbered(std::uint64_t number, CommandBody body);
  void stop() { execution_->stop(); }
  LocalExecution& execution() { return *execution_; }

  // Runs the loop until the condition holds; false after a generous time limit.
  bool until(const std::function<bool()>& condition, int bound_ms = 30'000);
  bool until_frame(std::string_view kind, std::size_t count = 1);
  bool until_gone() {
    return until([this] { return gone; });
  }
  // The usual start: ready, agent started, session open.
  bool open_session();
  // Sends a prompt and waits for the end of its run.
  bool run(const std::string& prompt);
  RunId prompt(const std::string& text);

  const Bootstrap& bootstrap() const { return bootstrap_; }
  std::int64_t now_ms() const { return clock_->now().since_boot.ms; }
  std::int64_t wall_ms() const { return clock_->now().wall.ms; }
  std::size_t count(std::string_view kind) const;
  // Joined text of all agent messages.
  std::string text() const;
  template <class T>
  const T* last() const {
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (const T* body = get_if<T>(&frame->body)) return body;
    }
    return nullptr;
  }

  std::vector<Frame> frames;
  std::vector<AttachedPacket> attaches;
  std::uint64_t acted = 0;
  std::size_t detaches = 0;
  std::vector<std::pair<std::uint64_t, Result<std::string>>> replies;
  std::vector<std::string> shell_news;
  bool gone = false;
  std::string proof;
  bool acks = true;
  std::function<void(const Frame&)> on_each;  // called after it was stored, before it is acked

  std::unique_ptr<EpollLoop> loop;

 private:
  void on_attached(const AttachedPacket& packet) override;
  void on_frame(FrameNo number, std::string_view frame) override;
  void on_acted(std::uint64_t number) override { acted = number; }
  void on_reply(std::uint64_t call, Result<std::string> result) override;
  void on_shell_news(const std::string& shell) override { shell_news.push_back(shell); }
  void on_detached(const std::string&) override { ++detaches; }
  void on_gone(const std::string& why) override;
  void read_journal();
  void keep(FrameNo number, std::string_view frame);
  void ack_soon();

  DriverSetup setup_;
  Bootstrap bootstrap_;
  std::unique_ptr<PosixClock> clock_;
  std::unique_ptr<PosixProcesses> processes_;
  std::unique_ptr<PosixHost> host_;
  std::unique_ptr<LocalExecution> execution_;
  int journal_ = -1;
  bool ack_posted_ = false;
  std::uint64_t commands_ = 0;
  std::uint64_t runs_ = 0;
};

std::string_view frame_kind(const Frame& frame);

}  // namespace perdure
