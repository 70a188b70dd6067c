// The client's half of one connection to an agent, without I/O: bytes of the agent go in and events
// come out, calls go in and bytes for the agent come out. Protocol versions differ only below this
// border: a turn looks the same whether the agent answers session/prompt at its end (v1) or
// acknowledges it and reports states (v2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "acp/classify.h"
#include "acp/line_reader.h"
#include "acp/rpc.h"
#include "acp/session_setup.h"
#include "acp/updates.h"
#include "base/json.h"
#include "base/time.h"

namespace perdure::acp {

// Answer to initialize.
struct Initialized {
  std::int64_t protocol_version = 1;
  AgentAbilities abilities;
  std::string agent_name;
  std::string agent_version;
  RawJson result;
};
// Answer to session/new, load or resume.
struct SessionOpened {
  Call call = Call::open_new;
  std::string session_id;            // as the agent said it; empty: it said none (null result too)
  std::vector<OptionValue> options;  // modes, models and options as they stand now
  RawJson result;
  std::string asked_session_id;  // the one that load or resume named
};
struct Updated {
  std::string session_id;
  SessionUpdate update;
};
struct PermissionAsked {
  RpcId id;
  std::string session_id;
  std::string tool_call_id;  // may be empty: it concerns no tool
  std::string title;
  std::vector<PermissionChoice> choices;
  std::optional<ToolUpserted> tool;  // what it says of the tool: may be its first mention
  RawJson params;                    // whole
};
// fs/*, terminal/* and anything else that asks for an answer. Nothing was answered yet.
struct Asked {
  RpcId id;
  std::string session_id;
  std::string method;
  RawJson params;
};
// The agent took a request of its own back ($/cancel_request). It still wants an answer:
// give_error(cancelled).
struct AskedNoMore { RpcId id; };
struct TurnEnded {
  std::string stop_reason;
  RawJson usage;  // where the answer had one
  std::string session_id;
};
// Any of our calls was answered with an error; for `prompt` this ends the turn.
struct CallFailed {
  Call call = Call::other;
  RpcError error;
  Failure failure = Failure::other;
  std::optional<Timestamp> reset_at;           // rate_limited: as the agent told it
  std::optional<std::int64_t> retry_after_ms;  // the same, counted from now
  std::string session_id;                      // the one that the call named
};
struct OptionSet {
  std::vector<OptionValue> options;  // all that the answer shows; at least the one that was set
  std::string session_id;
};
// A call that opens no session and ends no turn went well: authenticate, close, list, remove,
// other.
struct Answered {
  Call call = Call::other;
  std::string method;
  RawJson result;
  std::string session_id;  // the one that the call named
};
// A notification outside of session/update that we know nothing of.
struct Notified {
  std::string method;
  RawJson params;
};

using Event = std::variant<Initialized, SessionOpened, Updated, PermissionAsked, Asked, AskedNoMore,
                           TurnEnded, CallFailed, OptionSet, Answered, Noise, Notified>;

struct ClientSetup {
  std::int64_t protocol_version = 1;  // 2 only where the profile says that the agent has it
  std::string client_name = "perdure";
  std::string client_version;
  bool fs = false;  // advertised only where a profile asks for it
  bool terminal = false;
};
// Never fails as a whole: whatever the agent sends becomes an event or is dropped and counted.
class Client {
 public:
  explicit Client(ClientSetup setup);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Bytes from the agent's stdout, cut anywhere. Appends what they mean, in order.
  void feed(std::string_view bytes, std::vector<Event>& events);
  // The agent's stdout ended: a last line without its newline is a line too.
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
  // Another prompt into the turn that runs. Gives how many answers more end it: 1 where each prompt
  // has its own, else 0.
  std::size_t steer(std::string& out, std::string_view session_id, std::string_view blocks);
  void cancel(std::string& out, std::string_view session_id);
  // By session/set_config_option where the agent has config options, else set_mode; false and
  // nothing written when the agent has shown no way to set it.
  bool set_option(std::string& out, std::string_view session_id, const OptionValue& option);
  void close_session(std::string& out, std::string_view session_id);
  void remove_session(std::string& out, std::string_view session_id);
  // One page; an empty cursor asks for the first.
  void list(std::string& out, std::string_view cursor);
  // Any other method, as the probe needs them; its answer comes as CallFailed or Answered.
  void call(std::string& out, std::string_view method, std::string_view params);

  void answer_permission(std::string& out, const RpcId& id, std::string_view option_id);
  void answer_permission_cancelled(std::string& out, const RpcId& id);
  void give_result(std::string& out, const RpcId& id, std::string_view result);
  void give_error(std::string& out, const RpcId& id, const RpcError& error);

  // Bytes of a line that is not finished yet; bounded by acp_line_bytes_max.
  std::size_t buffered_bytes() const;
  // Answers that nobody waits for: to no call of ours, or a second one.
  std::uint64_t lines_dropped() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace perdure::acp
