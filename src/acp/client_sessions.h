// What a client remembers of its connection: calls without an answer, and of each session its
// options and its turn. Bounded: the oldest is forgotten first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/client_dialect.h"

namespace perdure::acp {

struct OpenCall {
  Call call = Call::other;
  std::string method;
  std::string session_id;  // the one it names
  OptionValue option;      // of set_option
};

class OpenCalls {
 public:
  RpcId add(OpenCall call);
  // The call with this id, which is not open any more; none: there is no such call.
  std::optional<OpenCall> take(const RpcId& id);

 private:
  std::map<std::int64_t, OpenCall> calls_;  // ids grow: the first is the oldest
  std::int64_t next_id_ = 1;                // some agents take a 0 for no id
};

// A turn that a state will end (v2).
struct Turn {
  bool acknowledged = false;  // the prompt was answered
  bool active = false;        // the agent said so since the prompt was sent
};

struct KnownSession {
  std::string session_id;
  std::vector<ConfigOption> options;
  bool has_modes = false;
  bool has_models = false;
  std::optional<Turn> turn;

  // How to set an option by the name that option_values() gives it; none: nobody knows.
  std::optional<OptionHandle> find_option(std::string_view option) const;
};

class KnownSessions {
 public:
  // The session, remembered from now on. The reference is good until the next call.
  KnownSession& touch(std::string_view session_id);
  KnownSession* find(std::string_view session_id);

 private:
  std::vector<KnownSession> sessions_;  // the one touched last stands last
};

}  // namespace perdure::acp
