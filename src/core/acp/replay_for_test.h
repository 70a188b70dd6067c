// Plays a recorded exchange against a client: our client repeats the recorded client's calls and
// receives the agent's recorded messages, with the ids of answers replaced by its own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/acp/client/client.h"
#include "core/acp/updates/slices.h"

namespace perdure::acp {

// An event on one line, as in the golden files.
std::string event_line(const Event& event);

class Replay {
 public:
  Replay() : client_({}) {}

  // One line of a recording: {"dir":"in"|"out","msg":{…}}, or {"restart":true}. Returns the
  // resulting events.
  std::vector<Event> play(std::string_view line);
  // All bytes fed since the last restart.
  const std::string& fed() const { return fed_; }
  const Client& client() const { return client_; }

 private:
  void say(const RpcMessage& message);

  Client client_;
  std::map<std::string, std::string> our_ids_;  // by the recorded id
  std::string fed_;
};

}  // namespace perdure::acp
