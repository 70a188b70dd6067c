// The steps of a probe: four runs of the program, two sessions that are created in the first and
// reopened later, and a word that shows what the agent still knows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/agents/probe_report.h"
#include "env/posix/loop/loop.h"
#include "env/process.h"
#include "probe/agent_talk.h"

namespace perdure::probe {

class Probing {
 public:
  struct Setting {
    std::string folder;  // the agent's working folder; nothing in it needs to be kept
    std::string mark;    // NAME=value, in the environment of every process that it starts
    std::string word;    // that the agent must remember
    Timestamp now;
  };
  using OnStep = std::function<void(const ProbeStep& step)>;

  Probing(AgentTalk::Ports ports, const ProbeOrder& order, Setting setting, OnStep on_step);
  ~Probing();

  // Blocks for minutes. Always returns a report and leaves no process of the agent behind.
  ProbeReport run();

 private:
  struct Turn {
    Answer answer;
    Heard heard;
  };

  void first_life();
  void reopen(std::string_view method, const std::string& session);
  void last_life();
  ProbeStep initialize();
  ProbeStep open();
  ProbeStep prompt();
  ProbeStep permission();
  ProbeStep cancel();
  ProbeStep kill();
  ProbeStep come_back(std::string_view method, const std::string& session);
  ProbeStep unknown_id();
  ProbeStep two_at_once();
  ProbeStep end_of_input();

  bool begin_life();
  void end_life();
  Answer start_program();
  void read_abilities(JsonView result);
  Turn turn(const std::string& session, std::string_view text);
  std::size_t settle_replay(const std::string& session);
  void wait_for_slot();
  bool is_advertised(std::string_view method) const;
  bool add(ProbeStep step);
  std::string open_params() const;
  std::string reopen_params(std::string_view session) const;

  AgentTalk::Ports ports_;
  const ProbeOrder& order_;
  Setting setting_;
  OnStep on_step_;
  ProbeReport report_;
  std::unique_ptr<AgentTalk> talk_;
  std::string session_;  // the session to resume
  std::string other_;    // the session to load: an agent that forgets on resume may still load
  std::int64_t opened_wall_ms_ = 0;  // when the session was last opened
};

}  // namespace perdure::probe
