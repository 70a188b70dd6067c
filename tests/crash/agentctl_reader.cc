// A miniature daemon as a process that can be killed at any moment: stores every frame in its
// journal before it acks it, answers frames with commands numbered after them, and continues from
// the journal in its next run. It prompts until the folder has a file `finish`.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "driver.h"

namespace perdure {
namespace {

constexpr int exit_finished = 0;
constexpr int exit_gone = 3;
constexpr int exit_stuck = 4;

class KilledReader {
 public:
  KilledReader(DriverSetup setup, std::string script, std::uint64_t epoch)
      : folder_(setup.folder),
        script_(std::move(script)),
        epoch_(epoch),
        driver_(std::move(setup)) {}

  int run() {
    for (const Frame& frame : driver_.frames) note(frame);
    driver_.on_each = [this](const Frame& frame) {
      note(frame);
      if (caught_up_) react(frame);
    };
    const FrameNo last = driver_.frames.empty() ? 0 : driver_.frames.back().number;
    if (last == 0) {
      driver_.execution().start(epoch_, 0);
    } else {
      driver_.execution().attach(epoch_, last);
    }
    if (!driver_.until([this] { return !driver_.attaches.empty() || driver_.gone; })) {
      return exit_stuck;
    }
    // Decisions of an earlier run may not have been sent or not have arrived: send them again, by
    // number.
    caught_up_ = true;
    const std::uint64_t acted = driver_.acted;
    const std::size_t known = driver_.frames.size();
    for (std::size_t i = 0; i < known; ++i) {
      if (driver_.frames[i].number > acted) react(driver_.frames[i]);
    }
    while (!driver_.gone && !finished_) driver_.loop->pump_for_ms(1'000);
    return finished_ ? exit_finished : exit_gone;
  }

 private:
  void note(const Frame& frame) {
    const std::string_view kind = frame_kind(frame);
    if (kind == "run.finished" || kind == "run.failed") ++runs_;
  }

  void react(const Frame& frame) {
    const std::string_view kind = frame_kind(frame);
    if (kind == "executor.ready") {
      driver_.command_numbered(frame.number, StartAgent{});
    } else if (kind == "agent.started") {
      driver_.command_numbered(frame.number, OpenSession{});
    } else if (const auto* asked = get_if<FramePermission>(&frame.body)) {
      driver_.command_numbered(frame.number,
                               AnswerRequest{asked->request, asked->options.front().id});
    } else if (kind == "session.opened" || kind == "run.finished") {
      if (std::filesystem::exists(folder_ + "/finish")) {
        finished_ = &frame == &driver_.frames.back();
        return;
      }
      driver_.command_numbered(frame.number, SendPrompt{.run = RunId(Ulid{3, frame.number}),
                                                        .message = MessageId(Ulid{4, frame.number}),
                                                        .prompt = {.text = script_}});
    }
  }

  std::string folder_;
  std::string script_;
  std::uint64_t epoch_;
  Driver driver_;
  std::uint64_t runs_ = 0;
  bool caught_up_ = false;
  bool finished_ = false;
};

}  // namespace
}  // namespace perdure

// agentctl_reader FOLDER EPOCH AGENTCTL SCRIPT AGENT…
int main(int argc, char** argv) {
  if (argc < 6) return 2;
  perdure::DriverSetup setup{.folder = argv[1], .agentctl = argv[3]};
  setup.journal = setup.folder + "/journal";
  for (int i = 5; i < argc; ++i) setup.agent_command.emplace_back(argv[i]);
  return perdure::KilledReader(std::move(setup), argv[4], std::strtoull(argv[2], nullptr, 10))
      .run();
}
