#include "daemon/api/ws/ws.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "daemon/api/gate/audited.h"
#include "daemon/api/gate/session_argument.h"
#include "daemon/api/json/session_json.h"
#include "daemon/api/ws/ws_connection.h"
#include "daemon/api/ws/ws_subscription.h"

namespace perdure {
namespace {

constexpr std::uint16_t close_policy = 1008;
constexpr std::uint16_t close_not_text = 1003;

// Without the members that every record changes.
SessionView face_of(SessionView view) {
  view.seq = 0;
  view.updated = {};
  return view;
}

}  // namespace

WsConnection::WsConnection(Place place, Principal principal)
    : place_(place), principal_(std::move(principal)) {}
WsConnection::~WsConnection() = default;

bool WsConnection::has_room() const {
  return !closed_ && socket_ && socket_->unsent_bytes() < ws_unsent_bytes_max;
}

void WsConnection::send(std::string text) {
  if (closed_ || !socket_) return;
  socket_->send_text(std::make_shared<const std::string>(std::move(text)));
}

// L34: every event names its session and task.
void WsConnection::event(std::string_view action, SessionId session, std::string_view members) {
  const State* const state = place_.server.world().runtime.state_in_memory(session);
  JsonWriter task;
  write_id_or_null(task, state ? state->task : TaskId());
  std::string text = R"({"type":"event","action":")";
  text.append(action).append(R"(","payload":{"session_id":")").append(session.text());
  text.append(R"(","task_id":)").append(task.text()).append(members).append("}}");
  send(std::move(text));
}

void WsConnection::say(std::string_view type, const WsRequest& request, std::string_view payload) {
  std::string text = "{\"id\":" + request.id + ",\"type\":\"";
  text.append(type).append("\",\"action\":");
  json_append_string(text, request.action);
  text.append(",\"payload\":").append(payload).append("}");
  send(std::move(text));
}

void WsConnection::respond_error(const WsRequest& request, const Error& error) {
  const HttpResponse response = error_response(error);
  const std::string_view body = response.body;  // {"error":{…}}
  constexpr std::string_view opening = "{\"error\":";
  say("error", request, body.substr(opening.size(), body.size() - opening.size() - 1));
}

void WsConnection::end_subscription(SessionId session) {
  subscriptions_.erase(session);
  states_.erase(session);
}

// Called from within the subscription itself, which is therefore removed on the loop's next turn
// unless another has replaced it.
void WsConnection::forget_cut(SessionId session) {
  place_.server.world().loop.post([self = weak_from_this(), session] {
    const auto alive = self.lock();
    if (!alive) return;
    const auto at = alive->subscriptions_.find(session);
    if (at != alive->subscriptions_.end() && at->second->is_cut()) alive->end_subscription(session);
  });
}

void WsConnection::session_changed(SessionId session) {
  if (!lists_ && !subscriptions_.contains(session)) return;
  if (!principal_.may_see(session)) return;
  changed_.insert(session);
  flush_later();
}

void WsConnection::flush_later() {
  if (flushing_ || changed_.empty()) return;
  flushing_ = true;
  place_.server.world().loop.post([self = weak_from_this()] {
    const auto alive = self.lock();
    if (!alive) return;
    alive->flushing_ = false;
    alive->flush_changes();
  });
}

// Several changes are sent once, with the current state; a client that does not read gets it later.
void WsConnection::flush_changes() {
  while (has_room() && !changed_.empty()) {
    const SessionId session = *changed_.begin();
    changed_.erase(changed_.begin());
    const Result<SessionView> view = place_.server.world().runtime.view(session);
    if (!view) {
      if (lists_ && view.error().code() == Code::not_found) tell_removed(session);
      continue;
    }
    if (lists_) tell_list(*view);
    if (subscriptions_.contains(session)) tell_state(*view);
  }
}

void WsConnection::tell_removed(SessionId session) {
  const std::string known = tombstone_members(place_.server.world(), principal_, session);
  event("list.removed", session, known.empty() ? known : "," + known);
}

// A session that has only grown, as it does while an agent talks, is sent at intervals.
void WsConnection::tell_list(const SessionView& view) {
  SessionView face = face_of(view);
  const auto rested = rested_.find(view.session);
  if (rested != rested_.end() && rested->second == face) {
    longer_.insert(view.session);
    return;
  }
  const auto shown = place_.server.commands().shown(view.session);
  if (!shown) return;
  event("list.changed", view.session, ",\"session\":" + *shown);
  longer_.erase(view.session);
  rested_.insert_or_assign(view.session, std::move(face));
  if (rest_timer_ != 0) return;
  rest_timer_ = place_.server.world().loop.after_ms(ws_list_rest_ms, [self = weak_from_this()] {
    if (const auto alive = self.lock()) alive->wake_rested();
  });
}

void WsConnection::wake_rested() {
  rest_timer_ = 0;
  rested_.clear();
  changed_.merge(std::exchange(longer_, {}));
  flush_later();
}

void WsConnection::tell_state(const SessionView& view) {
  JsonWriter members;
  members.begin_object().key("state").string(enum_text(view.state));
  members.key("status").string(enum_text(view.status));
  members.key("executor_status").string(enum_text(view.executor_status));
  members.key("needs_resume").boolean(view.resume.needs_resume).end_object();
  std::string text = std::move(members).take();
  std::string& told = states_[view.session];
  if (told == text) return;
  told = text;
  text.front() = ',';
  text.pop_back();
  event("session.state_changed", view.session, text + ",\"seq\":" + std::to_string(view.seq));
}

void WsConnection::on_binary(std::string_view) { close(close_not_text, "text only"); }

void WsConnection::on_drained() {
  for (const auto& [session, subscription] : subscriptions_) subscription->drained();
  flush_later();
}

void WsConnection::on_closed(std::uint16_t, const std::string&) {
  closed_ = true;
  subscriptions_.clear();
  place_.server.streams_.retire(seat_);
  place_.server.forget_later(place_.number);
}

// N3: the position of each subscription, so that clients notice records lost at a stream's end.
void WsConnection::beat() {
  if (!has_room()) return;
  JsonWriter out;
  out.begin_object().key("type").string("event").key("action").string("heartbeat");
  out.key("payload").begin_object().key("heads").begin_object();
  for (const auto& [session, subscription] : subscriptions_) {
    const State* const state = place_.server.world().runtime.state_in_memory(session);
    if (state) out.key(session.text()).number_unsigned(state->head);
  }
  out.end_object().end_object().end_object();
  send(std::move(out).take());
}

void WsConnection::close(std::uint16_t code, std::string_view reason) {
  if (!closed_ && socket_) socket_->close(code, reason);
}

Result<> WsConnection::begin_subscription(const Cursor& cursor) {
  const Result<State> state = place_.server.world().runtime.state(cursor.session);
  if (!state) return std::unexpected(state.error());
  if (!subscriptions_.contains(cursor.session) && subscriptions_.size() >= ws_subscriptions_max) {
    return fail(Code::limit_reached, "the socket has 256 subscriptions already");
  }
  auto made = std::make_unique<Subscription>(*this, cursor);
  TRY_VOID(made->start(cursor.after.value_or(state->head), cursor.log_id, state->head));
  subscriptions_.insert_or_assign(cursor.session, std::move(made));
  return {};
}

// A socket as an open stream: a heartbeat every ten seconds, ended with its principal's right.
class WsSeat final : public OpenStream {
 public:
  explicit WsSeat(const std::shared_ptr<WsConnection>& connection)
      : principal_(connection->principal()), connection_(connection) {}
  const Principal& principal() const override { return principal_; }
  void beat() override {
    if (const auto alive = connection_.lock()) alive->beat();
  }
  void end() override {
    if (const auto alive = connection_.lock()) alive->close(close_policy, "revoked");
  }

 private:
  Principal principal_;
  std::weak_ptr<WsConnection> connection_;
};

WsServer::WsServer(Streams& streams, SessionCommands& commands)
    : streams_(streams), commands_(commands) {
  runtime_watch_ = world().runtime.watch([this](SessionId session) { session_changed(session); });
}

WsServer::~WsServer() { world().runtime.unwatch(runtime_watch_); }

void WsServer::accept(const Call& call) {
  Result<StreamSlots::Slot> slot = streams_.admit(call.principal);
  if (!slot) return call.fail(slot.error());
  const std::uint64_t number = ++last_connection_;
  auto connection = std::make_shared<WsConnection>(
      WsConnection::Place{*this, number, from_of(call.request)}, call.principal);
  connections_.emplace(number, connection);
  connection->take_seat(streams_.add(std::make_unique<WsSeat>(connection), std::move(*slot)));
  connection->open(
      call.exchange->upgrade({.message_bytes_max = ws_message_bytes_max}, *connection));
}

void WsServer::session_changed(SessionId session) {
  for (const auto& [number, connection] : connections_) connection->session_changed(session);
}

void WsServer::forget_later(std::uint64_t number) {
  world().loop.post([this, number, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) connections_.erase(number);
  });
}

void add_ws_route(Router& router, WsServer& server) {
  router.add({.method = "GET",
              .pattern = "/ws",
              .access = Access::observe,
              .summary = "Requests and events over a WebSocket",
              .handler = [&server](const Call& call) { server.accept(call); },
              .body_bytes_max = 0,
              .is_socket = true});
}

}  // namespace perdure
