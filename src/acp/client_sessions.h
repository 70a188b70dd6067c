// What a client remembers of the sessions of its connection: how options are set, and whether a
// turn is open. Bounded: the one seen longest ago is forgotten first.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acp/client_dialect.h"

namespace perdure::acp {

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
