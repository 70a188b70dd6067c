// A client's memory of the sessions of its connection: how options are set, and whether a turn is
// open. Bounded: the least recently seen session is forgotten first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/acp/client/client_dialect.h"

namespace perdure::acp {

// A turn that a state will end (v2).
struct Turn {
  bool acknowledged = false;  // the prompt was answered
  bool active = false;        // reported by the agent since the prompt was sent
};

struct KnownSession {
  std::string session_id;
  std::vector<ConfigOption> options;
  bool has_modes = false;
  bool has_models = false;
  std::optional<Turn> turn;

  // How to set an option by the name from option_values(); absent: unknown.
  std::optional<OptionHandle> find_option(std::string_view option) const;
};

class KnownSessions {
 public:
  // The session, remembered from now on. The reference is valid until the next call.
  KnownSession& touch(std::string_view session_id);
  KnownSession* find(std::string_view session_id);

 private:
  std::vector<KnownSession> sessions_;  // the last one touched is last
};

}  // namespace perdure::acp
