// The unanswered calls of one end of a connection. Ids are never reused, so that a late or second
// answer matches nothing. Bounded: the oldest is forgotten first.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/acp/classify.h"
#include "core/acp/rpc.h"
#include "core/acp/updates/updates.h"

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
  // Removes the call with this id and returns it; absent if there is none.
  std::optional<OpenCall> take(const RpcId& id);

 private:
  std::map<std::int64_t, OpenCall> calls_;  // ids grow: the first is the oldest
  std::int64_t next_id_ = 1;                // some agents treat 0 as no id
};

}  // namespace perdure::acp
