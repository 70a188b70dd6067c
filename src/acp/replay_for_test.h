// Plays a recorded exchange against a client: what the recorded client said is said by ours, and
// what the agent said is fed to it, with the ids of answers changed to those that ours gave out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "acp/client.h"
#include "acp/slices.h"

namespace perdure::acp {

// An event on one line, as the golden files have it.
std::string event_line(const Event& event);

class Replay {
 public:
  Replay() : client_({}) {}

  // One line of a recording: {"dir":"in"|"out","msg":{…}}, or {"restart":true}. Gives the events
  // that came of it.
  std::vector<Event> play(std::string_view line);
  // Everything that was fed since the last restart.
  const std::string& fed() const { return fed_; }
  const Client& client() const { return client_; }

 private:
  void say(const RpcMessage& message);

  Client client_;
  std::map<std::string, std::string> our_ids_;  // by the recorded one
  std::string fed_;
};

}  // namespace perdure::acp
