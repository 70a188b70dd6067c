// The differences in a client's messages between protocol versions. Agents' messages are read the
// same way in both, because no name has two meanings.
#pragma once

#include <string>
#include <string_view>

#include "core/acp/client/client.h"

namespace perdure::acp {

struct Spoken {
  std::string_view method;
  std::string params;
};

// An option of a session and how to set it.
struct OptionHandle {
  enum class Means { config_option, mode, model };
  Means means = Means::config_option;
  std::string config_id;  // of a config option
  bool is_boolean = false;
};

struct OptionChange {
  std::string_view session_id;
  OptionHandle handle;
  std::string_view value;
};

class ClientDialect {
 public:
  virtual ~ClientDialect() = default;

  virtual Spoken initialize(const ClientSetup& setup) const = 0;
  virtual Spoken authenticate(std::string_view method_id) const = 0;
  virtual Spoken open_new(const SessionSetup& setup) const = 0;
  virtual Spoken load(std::string_view session_id, const SessionSetup& setup) const = 0;
  virtual Spoken resume(std::string_view session_id, const SessionSetup& setup) const = 0;
  virtual Spoken set_option(const OptionChange& change) const = 0;
  // Whether the answer to session/prompt ends the turn; otherwise a state does.
  virtual bool prompt_answer_ends_turn() const = 0;
};

const ClientDialect& client_dialect_v1();
const ClientDialect& client_dialect_v2();

}  // namespace perdure::acp
