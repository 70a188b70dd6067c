// Perdure as an ACP agent: the pure core of one editor's connection. It takes bytes of the editor,
// responses of the daemon and records of sessions; it returns bytes for the editor and requests for
// the daemon. It never stops an agent: an editor that disconnects only detaches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "client/api.h"
#include "core/acp/agent/agent.h"
#include "editor/connection.h"
#include "editor/lending.h"
#include "editor/open_session.h"

namespace perdure::face {

struct FaceSetup {
  std::string version;
  std::string agent;    // for new sessions; empty: the daemon's default
  std::string session;  // if set: session/new opens this one instead
  // Prefix of the idempotency keys: globally unique per connection.
  std::string key_prefix;
};

// A request to the daemon. The response to a call arrives by on_answer(), events of a followed
// session by the functions named after them.
struct CallWish {
  std::uint64_t number = 0;
  client::ApiRequest request;
  bool is_quiet = false;  // its response may take long
};
struct FollowWish { std::string session; };  // from the first record on; replaces an earlier one
struct UnfollowWish { std::string session; };
using Wish = std::variant<CallWish, FollowWish, UnfollowWish>;

class Face final : private Connection {
 public:
  explicit Face(FaceSetup setup);
  ~Face() override;

  // Bytes of the editor: lines of JSON, split anywhere.
  void on_bytes(std::string_view bytes);
  void on_answer(std::uint64_t number, Result<client::ApiAnswer> answer);
  void on_state(const std::string& session, std::string_view json);
  void on_record(const std::string& session, std::uint64_t seq, std::string_view json);
  void on_reset(const std::string& session);
  // The session can no longer be followed.
  void on_refused(const std::string& session, const client::Refusal& refusal);

  std::string take_output() { return std::exchange(output_, {}); }
  std::vector<Wish> take_wishes() { return std::exchange(wishes_, {}); }
  // For a log: errors that no request is waiting for.
  std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }
  // The daemon has not answered all calls.
  bool has_calls() const { return calls_.size() > quiet_.size(); }
  // The same, or the editor waits for a turn's end.
  bool is_waiting() const;

 private:
  using SessionJson = std::string;

  void update(std::string_view session, std::string_view update) override;
  acp::RpcId ask(const acp::RpcCall& call) override;
  void tell(const acp::RpcCall& call) override;
  void give_result(const acp::RpcId& id, std::string_view result) override;
  void give_error(const acp::RpcId& id, const acp::RpcError& error) override;
  void call(client::ApiRequest request, client::OnApiAnswer done) override;
  void call_quietly(client::ApiRequest request, client::OnApiAnswer done) override;
  void remark(std::string text) override;

  void handle(acp::AgentEvent& event);
  void on(const acp::InitializeAsked& asked);
  void on(const acp::AuthenticateAsked& asked);
  void on(const acp::SessionAsked& asked);
  void on(const acp::SessionEndAsked& asked);
  void on(const acp::ListAsked& asked);
  void on(const acp::PromptAsked& asked);
  void on(const acp::CancelTold& told);
  void on(const acp::OptionAsked& asked);
  void on(const acp::OtherAsked& asked);
  void on(const acp::OtherTold& told);
  void on(const acp::RequestTakenBack& taken);
  void on(const acp::BadRequest& bad);
  void on(const acp::PermissionAnswered& answered);
  void on(const acp::AnswerGiven& given);
  void on(const acp::AnswerRefused& refused);
  void on(const acp::Noise& noise);

  // face_sessions.cc
  void open_new(const acp::SessionAsked& asked);
  void open_given(const acp::SessionAsked& asked);
  void reopen(const acp::SessionAsked& asked);
  void fork(const acp::SessionAsked& asked);
  void list(const acp::ListAsked& asked);
  void start_agent(const acp::SessionAsked& asked, const SessionJson& session);
  struct Opening {
    acp::RpcId id;
    SessionJson session;  // as the daemon shows it
    acp::Call call = acp::Call::open_new;
    Past past = Past::silent;
    OpenSession::OnCaughtUp then = nullptr;  // replaces the answer
    std::string cwd = {};                    // in the editor's words
  };
  OpenSession& open(Opening opening);
  void give_opened(const Opening& opening);
  void tell_history(const SessionJson& session);
  bool has_room(const acp::RpcId& id);
  OpenSession* find(const std::string& session);
  // Answers with an error if the session is not open here.
  OpenSession* find_for(const acp::RpcId& id, const std::string& session);
  void close(const std::string& session);
  std::string next_key();

  FaceSetup setup_;
  acp::Agent agent_;
  std::string output_;
  std::vector<Wish> wishes_;
  std::vector<std::string> remarks_;
  std::map<std::string, std::unique_ptr<OpenSession>> sessions_;
  // A session closed within its own call is destroyed at the next event.
  std::vector<std::unique_ptr<OpenSession>> closed_;
  std::map<std::uint64_t, client::OnApiAnswer> calls_;
  std::set<std::uint64_t> quiet_;  // subset of these
  LentAbilities lent_;             // by the editor
  std::uint64_t last_call_ = 0;
  std::uint64_t last_key_ = 0;
};

}  // namespace perdure::face
