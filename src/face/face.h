// Perdure as an ACP agent: the pure core of one editor's connection. Bytes of the editor, answers
// of the daemon and records of sessions go in; bytes for the editor and wishes for the daemon come
// out. It never stops an agent: an editor that goes away has only stopped listening.
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

#include "acp/agent.h"
#include "client/api.h"
#include "face/connection.h"
#include "face/lending.h"
#include "face/open_session.h"

namespace perdure::face {

struct FaceSetup {
  std::string version;
  std::string agent;    // of new sessions; empty: the daemon's default
  std::string session;  // given: session/new opens this one instead
  // Begins the idempotency keys: unlike that of every other connection, ever.
  std::string key_prefix;
};

// What the core wants of the daemon. The answer of a call comes by on_answer(), what a followed
// session tells by the functions of its name.
struct CallWish {
  std::uint64_t number = 0;
  client::ApiRequest request;
  bool is_quiet = false;  // its answer may take long
};
struct FollowWish { std::string session; };  // from the first record on; in place of an earlier one
struct UnfollowWish { std::string session; };
using Wish = std::variant<CallWish, FollowWish, UnfollowWish>;

class Face final : private Connection {
 public:
  explicit Face(FaceSetup setup);
  ~Face() override;

  // Bytes of the editor: lines of JSON, cut anywhere.
  void on_bytes(std::string_view bytes);
  void on_answer(std::uint64_t number, Result<client::ApiAnswer> answer);
  void on_state(const std::string& session, std::string_view json);
  void on_record(const std::string& session, std::uint64_t seq, std::string_view json);
  void on_reset(const std::string& session);
  // The session cannot be followed any more.
  void on_refused(const std::string& session, const client::Refusal& refusal);

  std::string take_output() { return std::exchange(output_, {}); }
  std::vector<Wish> take_wishes() { return std::exchange(wishes_, {}); }
  // For a log: what went wrong without anybody asking for it.
  std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }
  // Something was asked of the daemon that it has not answered.
  bool has_calls() const { return calls_.size() > quiet_.size(); }
  // The same, or the editor waits for a turn to end.
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
    OpenSession::OnCaughtUp then = nullptr;  // instead of the answer
    std::string cwd = {};                    // as the editor names it
  };
  OpenSession& open(Opening opening);
  void give_opened(const Opening& opening);
  void tell_history(const SessionJson& session);
  bool has_room(const acp::RpcId& id);
  OpenSession* find(const std::string& session);
  // Answers with an error where it is not open here.
  OpenSession* find_for(const acp::RpcId& id, const std::string& session);
  void close(const std::string& session);
  std::string next_key();

  FaceSetup setup_;
  acp::Agent agent_;
  std::string output_;
  std::vector<Wish> wishes_;
  std::vector<std::string> remarks_;
  std::map<std::string, std::unique_ptr<OpenSession>> sessions_;
  // Closed from inside one of their own calls: they go at the next event.
  std::vector<std::unique_ptr<OpenSession>> closed_;
  std::map<std::uint64_t, client::OnApiAnswer> calls_;
  std::set<std::uint64_t> quiet_;  // of these
  LentAbilities lent_;             // by the editor
  std::uint64_t last_call_ = 0;
  std::uint64_t last_key_ = 0;
};

}  // namespace perdure::face
