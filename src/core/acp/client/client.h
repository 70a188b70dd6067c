// The client's half of one connection to an agent, without I/O: the agent's bytes become events,
// and calls become bytes for the agent. Protocol versions differ only below this interface: a turn
// looks the same whether the agent answers session/prompt at its end (v1) or acknowledges it and
// reports states (v2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "base/time.h"
#include "core/acp/classify.h"
#include "core/acp/line_reader.h"
#include "core/acp/rpc.h"
#include "core/acp/session_setup.h"
#include "core/acp/updates/updates.h"

namespace perdure::acp {

// The answer to initialize.
struct Initialized {
  std::int64_t protocol_version = 1;
  AgentAbilities abilities;
  std::string agent_name;
  std::string agent_version;
  RawJson result;
};
// The answer to session/new, load or resume.
struct SessionOpened {
  Call call = Call::open_new;
  std::string session_id;            // as reported; empty: none reported (also a null result)
  std::vector<OptionValue> options;  // current modes, models and options
  RawJson result;
  std::string asked_session_id;  // the one named in load or resume
};
struct Updated {
  std::string session_id;
  SessionUpdate update;
};
struct PermissionAsked {
  RpcId id;
  std::string session_id;
  std::string tool_call_id;  // may be empty: not about a tool
  std::string title;
  std::vector<PermissionChoice> choices;
  std::optional<ToolUpserted> tool;  // the tool's data: may be its first mention
  RawJson params;                    // complete
};
// fs/*, terminal/* and any other request. It has not been answered.
struct Asked {
  RpcId id;
  std::string session_id;
  std::string method;
  RawJson params;
};
// The agent cancelled a request of its own ($/cancel_request). It still needs an answer:
// give_error(cancelled).
struct AskedNoMore { RpcId id; };
struct TurnEnded {
  std::string stop_reason;
  RawJson usage;  // if the answer had one
  std::string session_id;
};
// One of our calls was answered with an error; for `prompt` this ends the turn.
struct CallFailed {
  Call call = Call::other;
  RpcError error;
  Failure failure = Failure::other;
  std::optional<Timestamp> reset_at;           // rate_limited: as the agent reported it
  std::optional<std::int64_t> retry_after_ms;  // the same, counted from now
  std::string session_id;                      // the one named in the call
};
struct OptionSet {
  std::vector<OptionValue> options;  // all in the answer; at least the one that was set
  std::string session_id;
};
// A call that opens no session and ends no turn succeeded: authenticate, close, list, remove,
// other.
struct Answered {
  Call call = Call::other;
  std::string method;
  RawJson result;
  std::string session_id;  // the one named in the call
};
// An unknown notification that is not session/update.
struct Notified {
  std::string method;
  RawJson params;
};

using Event = std::variant<Initialized, SessionOpened, Updated, PermissionAsked, Asked, AskedNoMore,
                           TurnEnded, CallFailed, OptionSet, Answered, Noise, Notified>;

struct ClientSetup {
  std::int64_t protocol_version = 1;  // 2 only if the profile says that the agent supports it
  std::string client_name = "perdure";
  std::string client_version;
  bool fs = false;  // advertised only if a profile requires it
  bool terminal = false;
};
// Never fails as a whole: any input from the agent becomes an event, or is dropped and counted.
class Client {
 public:
  explicit Client(ClientSetup setup);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Bytes from the agent's stdout, split anywhere. Appends their events, in order.
  void feed(std::string_view bytes, std::vector<Event>& events);
  // The agent's stdout ended: a last line without its newline is a line, too.
  void feed_end(std::vector<Event>& events);

  // Each appends the bytes to write to the agent's stdin. One of each kind at a time: the caller
  // serialises (prompts above all).
  void initialize(std::string& out);
  void authenticate(std::string& out, std::string_view method_id);
  void open_new(std::string& out, const SessionSetup& setup);
  void load(std::string& out, std::string_view session_id, const SessionSetup& setup);
  void resume(std::string& out, std::string_view session_id, const SessionSetup& setup);
  // `blocks` is a JSON array of ACP content blocks.
  void prompt(std::string& out, std::string_view session_id, std::string_view blocks);
  // Another prompt into the running turn. Returns how many further answers end the turn: 1 if each
  // prompt has its own, else 0.
  std::size_t steer(std::string& out, std::string_view session_id, std::string_view blocks);
  void cancel(std::string& out, std::string_view session_id);
  // Uses session/set_config_option if the agent has config options, otherwise set_mode. Returns
  // false and writes nothing if the agent has shown no way to set it.
  bool set_option(std::string& out, std::string_view session_id, const OptionValue& option);
  void close_session(std::string& out, std::string_view session_id);
  void remove_session(std::string& out, std::string_view session_id);
  // One page; an empty cursor requests the first.
  void list(std::string& out, std::string_view cursor);
  // Any other method, as the probe needs them; its answer arrives as CallFailed or Answered.
  void call(std::string& out, std::string_view method, std::string_view params);

  void answer_permission(std::string& out, const RpcId& id, std::string_view option_id);
  void answer_permission_cancelled(std::string& out, const RpcId& id);
  void give_result(std::string& out, const RpcId& id, std::string_view result);
  void give_error(std::string& out, const RpcId& id, const RpcError& error);

  // Bytes of an incomplete line; bounded by acp_line_bytes_max.
  std::size_t buffered_bytes() const;
  // Answers to no call of ours, or repeated ones.
  std::uint64_t lines_dropped() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace perdure::acp
