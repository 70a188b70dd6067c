// One WebSocket of /ws: its principal, its subscriptions, and its unsent changes. It sends to a
// client only while less than ws_unsent_bytes_max is queued for it. Until then it remembers which
// sessions changed, and later sends their state at that time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "daemon/api/ws/ws.h"
#include "daemon/api/ws/ws_events.h"

namespace perdure {

// A request as received: slices of its text.
struct WsRequest {
  std::string id;  // as JSON: a text, a number, or null
  std::string action;
  std::string payload;  // an object
  std::string key;
};

class WsConnection final : public WebSocketEvents,
                           public std::enable_shared_from_this<WsConnection> {
 public:
  struct Place {
    WsServer& server;
    std::uint64_t number = 0;
    std::string from = {};  // the client's address, or unix
  };
  WsConnection(Place place, Principal principal);
  ~WsConnection() override;

  void open(std::shared_ptr<WebSocket> socket) { socket_ = std::move(socket); }
  void take_seat(std::uint64_t seat) { seat_ = seat; }
  void beat();
  const Principal& principal() const { return principal_; }
  void session_changed(SessionId session);
  void close(std::uint16_t code, std::string_view reason);

  void on_open() override {}
  void on_text(std::string_view text) override;
  void on_binary(std::string_view bytes) override;
  void on_drained() override;
  void on_closed(std::uint16_t code, const std::string& reason) override;

 private:
  class Subscription;

  // ws_actions.cc
  void act(const WsRequest& request);
  void act_on_session(const WsRequest& request);
  void attach(const WsRequest& request);
  void subscribe(const WsRequest& request);
  void unsubscribe(const WsRequest& request);
  void show_status(const WsRequest& request);
  void answer_permission(const WsRequest& request);
  Result<SessionId> session_of(const WsRequest& request) const;
  struct Cursor {
    SessionId session;
    std::optional<Seq> after;  // not given: after the head
    std::string log_id;
    std::int64_t gather_ms = 0;  // 0: each record at once, with the events that follow from it
  };
  Result<> begin_subscription(const Cursor& cursor);
  void respond_with_subscription(const WsRequest& request, const Cursor& cursor);

  Asker asker(const WsRequest& request) const;
  // The single answer to this request, which counts as open until then.
  OnAnswer answer_to(const WsRequest& request);
  void say(std::string_view type, const WsRequest& request, std::string_view payload);
  void respond(const WsRequest& request, std::string_view payload) {
    say("response", request, payload);
  }
  void respond_error(const WsRequest& request, const Error& error);
  void send(std::string text);
  void event(std::string_view action, SessionId session, std::string_view members);
  bool has_room() const;
  void end_subscription(SessionId session);
  void forget_cut(SessionId session);
  void flush_changes();
  void flush_later();
  void tell_list(const SessionView& view);
  void tell_removed(SessionId session);
  void tell_state(const SessionView& view);
  void wake_rested();

  Place place_;
  Principal principal_;
  std::shared_ptr<WebSocket> socket_;
  std::map<SessionId, std::unique_ptr<Subscription>> subscriptions_;
  std::map<SessionId, std::string> states_;  // the state that was last sent
  std::set<SessionId> changed_;
  std::map<SessionId, SessionView> rested_;  // sent recently by list.changed, as they were then
  std::set<SessionId> longer_;               // those of them that have only grown since
  std::uint64_t seat_ = 0;                   // its number among the open streams
  std::size_t calls_open_ = 0;
  Loop::TimerId rest_timer_ = 0;
  bool lists_ = false;
  bool flushing_ = false;
  bool closed_ = false;
};

}  // namespace perdure
