// One connection of the server: it reads and answers one request at a time. Output is gathered and
// sent in the next round of the loop. Handlers and stream events are never called from within one
// of their own calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "net/head.h"
#include "net/send_queue.h"
#include "net/server/body_reader.h"
#include "net/server/server.h"
#include "net/websocket/websocket_session.h"

namespace perdure {

class Connection;
class Crowd;

// The services that connections need from their server.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual HttpReactor& reactor() = 0;
  virtual HttpHandler& handler() = 0;
  virtual const HttpServerLimits& limits() const = 0;
  // The server has been destroyed: only this function may be called then.
  virtual bool is_down() const = 0;
  // Calls round() soon, once for any number of calls.
  virtual void schedule(std::shared_ptr<Connection> connection) = 0;
  // The connection presented valid credentials with that name. False: too many connections have.
  virtual bool note_known(Connection& connection, const std::string& credential) = 0;
  // The connection is closed.
  virtual void forget(Connection& connection) = 0;
};

class Connection final : public ByteStreamEvents, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<ConnectionHost> host, std::shared_ptr<ByteStream> stream,
             std::shared_ptr<const HttpPeer> peer);
  void start();

  // For the server's use.
  std::size_t place = 0;  // index in the server's list
  bool is_scheduled = false;
  bool is_stranger = false;
  Crowd* crowd = nullptr;  // the one it is in; the next two members are its place there
  std::string source;
  std::uint64_t arrival = 0;
  // No handler is running and no stream is open.
  bool is_idle() const;
  void drop();
  void round();
  void check_deadline(std::int64_t now_ms);
  void finish_and_close();  // ends after the current exchange, if any
  void abandon();           // ends at once, without events

  // For the current exchange.
  void respond(HttpResponse response);
  void begin_stream(HttpResponse head, HttpStreamEvents& events);
  std::shared_ptr<WebSocket> upgrade(const HttpRequest& request, const WebSocketLimits& limits,
                                     WebSocketEvents& events);
  // Must not be called after the server was destroyed.
  void after_this_call(std::move_only_function<void()> then);
  bool is_gone() const { return phase_ == Phase::closed || peer_ended_; }

  // For the current stream; no effect after it is closed.
  void write(std::shared_ptr<const std::string> bytes);
  void finish();
  void drop_stream();
  std::size_t unsent_bytes() const { return out_.unsent_bytes(); }

  void on_bytes(std::string_view bytes) override;
  void on_end() override;
  void on_writable() override;
  void on_broken() override;

 private:
  enum class Phase { head, body, handling, streaming, sending, lingering, upgraded, closed };
  enum class Sent { all, some, broken };

  // A request that is being read.
  struct Reading {
    RequestHead head;
    BodyReader body;
  };

  void advance();
  bool take_head();
  bool admit(RequestHead head);
  bool take_body();
  void hand_over();
  void refuse(Refusal refusal);
  void send_last(const HttpResponse& response, std::int64_t delay_ms = 0);
  Sent send_queued();
  void all_sent();
  void answer_done();
  void lose();
  void tell_closed();
  void schedule();
  void expect_within(std::int64_t ms);
  void expect_body();

  std::shared_ptr<ConnectionHost> host_;
  std::shared_ptr<ByteStream> stream_;
  std::shared_ptr<const HttpPeer> peer_;
  HttpStreamEvents* stream_events_ = nullptr;
  std::shared_ptr<WebSocketSession> websocket_;
  std::unique_ptr<Reading> reading_;
  std::string in_;            // received and not used yet
  std::size_t searched_ = 0;  // bytes of in_ already searched for the end of a head
  SendQueue out_;
  std::int64_t deadline_ms_ = 0;  // 0: none
  std::int64_t known_by_ms_ = 0;  // a stranger without credentials by then is closed
  std::int64_t body_began_ms_ = 0;
  std::size_t body_bytes_ = 0;  // includes its framing
  std::size_t lingered_bytes_ = 0;
  Phase phase_ = Phase::head;
  bool is_head_request_ = false;
  bool is_http_1_0_ = false;
  bool closes_ = false;   // ends after this answer
  bool lingers_ = false;  // waits before that, since the client may still be sending
  bool peer_ended_ = false;
  bool drain_due_ = false;  // on_drained must be called
};

}  // namespace perdure
