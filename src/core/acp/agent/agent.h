// The agent's half of one connection to a client, without I/O: the base of the bundled agent, the
// scripted test agent and Perdure's own agent for editors. Both protocol versions; the client
// chooses in initialize.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "core/acp/classify.h"
#include "core/acp/line_reader.h"
#include "core/acp/rpc.h"
#include "core/acp/session_setup.h"
#include "core/acp/updates/updates.h"

namespace perdure::acp {

// A client's requests and notifications. Each one with an id needs exactly one answer.
struct InitializeAsked {
  RpcId id;
  std::int64_t protocol_version = 1;  // as requested; Agent::dialect() is the agreed one
  std::string client_name;
  std::string client_version;
  bool fs_read = false;
  bool fs_write = false;
  bool terminal = false;
  RawJson params;
};
struct AuthenticateAsked {
  RpcId id;
  std::string method_id;
};
// session/new, load, resume and fork. v2's resume with replay is a load.
struct SessionAsked {
  RpcId id;
  Call call = Call::open_new;
  std::string session_id;  // absent for open_new
  SessionSetup setup;
  RawJson meta;  // `_meta` as received
};
// session/close and delete.
struct SessionEndAsked {
  RpcId id;
  Call call = Call::close;
  std::string session_id;
};
struct ListAsked {
  RpcId id;
  std::string cwd;     // empty: any folder
  std::string cursor;  // empty: the first page
};
struct PromptAsked {
  RpcId id;
  std::string session_id;
  std::string text;  // of all its text blocks
  RawJson blocks;
};
struct CancelTold { std::string session_id; };
// session/set_mode, as the option "mode", and set_config_option.
struct OptionAsked {
  RpcId id;
  std::string session_id;
  OptionValue option;
  bool by_mode = false;  // answer with an empty result, not with the options
};
// Any other request: an unknown method is answered with -32601.
struct OtherAsked {
  RpcId id;
  std::string method;
  RawJson params;
};
struct OtherTold {
  std::string method;
  RawJson params;
};
// The client cancels a request of its own ($/cancel_request), which still needs an answer.
struct RequestTakenBack { RpcId id; };
// An invalid request: answer it with this error and do nothing else.
struct BadRequest {
  RpcId id;
  RpcError error;
};
// Answers to the agent's requests.
struct PermissionAnswered {
  RpcId id;
  std::string option_id;  // empty: cancelled, which is not a permission
};
struct AnswerGiven {
  RpcId id;
  RawJson result;
};
struct AnswerRefused {
  RpcId id;
  RpcError error;
};

using AgentEvent =
    std::variant<InitializeAsked, AuthenticateAsked, SessionAsked, SessionEndAsked, ListAsked,
                 PromptAsked, CancelTold, OptionAsked, OtherAsked, OtherTold, RequestTakenBack,
                 BadRequest, PermissionAnswered, AnswerGiven, AnswerRefused, Noise>;

enum class Versions { v1_only, v1_and_v2 };

struct AgentSetup {
  std::string name;
  std::string title;
  std::string version;
  AgentAbilities abilities;
  Versions versions = Versions::v1_only;
  std::size_t line_bytes_max = acp_line_bytes_max;
};

// The answer to session/new and the like.
struct SessionAnswer {
  std::string session_id;  // empty: omitted, as load and resume allow
  std::vector<ConfigOption> options;
  std::vector<OptionChoice> modes;  // v1's older form of the mode; may accompany options
  std::string mode;                 // the current one
};
struct SessionListed {
  std::string session_id;
  std::string cwd;
  std::string title;
  std::string updated_at;  // RFC 3339
};
struct ListAnswer {
  std::vector<SessionListed> sessions;
  std::string next_cursor;  // empty: this is the last page
};
struct TurnEnd {
  std::string stop_reason = "end_turn";
  RawJson usage;
};
struct PermissionQuestion {
  std::string title;  // v2 requires one; v1 shows the tool's
  ToolUpserted tool;
  std::vector<PermissionChoice> choices;
};

class Agent {
 public:
  explicit Agent(AgentSetup setup);
  Agent(Agent&&) noexcept;
  Agent& operator=(Agent&&) noexcept;
  ~Agent();

  // Bytes from the client, split anywhere. Appends their events, in order.
  void feed(std::string_view bytes, std::vector<AgentEvent>& events);
  void feed_end(std::vector<AgentEvent>& events);
  // The agreed version; v1 before initialize.
  Dialect dialect() const;

  // Each appends the bytes to write to the client. `auth_methods` is a JSON array in the form of
  // the agreed version, or empty.
  void answer_initialize(std::string& out, const RpcId& id, std::string_view auth_methods);
  void answer_session(std::string& out, const RpcId& id, const SessionAnswer& answer);
  void answer_list(std::string& out, const RpcId& id, const ListAnswer& answer);
  void answer_options(std::string& out, const OptionAsked& asked,
                      const std::vector<ConfigOption>& options);
  void answer_empty(std::string& out, const RpcId& id);
  void give_result(std::string& out, const RpcId& id, std::string_view result);
  void give_error(std::string& out, const RpcId& id, const RpcError& error);

  // A turn is begun once and ended once, or rejected with give_error() before that. v1 answers the
  // prompt at the end; v2 acknowledges it at the beginning and ends the turn with a state.
  void begin_turn(std::string& out, const PromptAsked& prompt, std::string_view message_id);
  void end_turn(std::string& out, const PromptAsked& prompt, const TurnEnd& end);

  void update(std::string& out, std::string_view session_id, const UpdateBody& body);
  // `update` is the JSON of any update.
  void update_raw(std::string& out, std::string_view session_id, std::string_view update);
  // The answer arrives as PermissionAnswered or AnswerRefused.
  RpcId ask_permission(std::string& out, std::string_view session_id,
                       const PermissionQuestion& question);
  // Any other request to the client; the answer arrives as AnswerGiven or AnswerRefused.
  RpcId ask(std::string& out, const RpcCall& call);
  void tell(std::string& out, const RpcCall& call);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace perdure::acp
