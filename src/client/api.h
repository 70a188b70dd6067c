// The daemon as a client sees it: calls, followed sessions, and an event loop. The real one is
// client.h; tests of the verbs have their own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace perdure::client {

struct ApiRequest {
  std::string method = "GET";
  std::string path;                                        // percent-encoded if needed
  std::vector<std::pair<std::string, std::string>> query;  // plain text
  // JSON unless content_type says otherwise
  std::string body;
  std::string content_type = "application/json";
  std::string accept = "application/json";
  // For a change: a call without a response is repeated with this key. Empty: one is generated.
  std::string key;
};

// An error response of the daemon.
struct Refusal {
  int status = 0;
  std::string code;  // stable; may be one that this version has no Code for
  std::string message;
  std::vector<std::string> actions;  // possible remedies, as names of verbs

  // The nearest Code: by name, otherwise by status.
  Error error() const;
};

struct ApiAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
  std::optional<Refusal> refusal;  // set for every status except 2xx
};

using OnApiAnswer = std::move_only_function<void(Result<ApiAnswer>)>;

// Reads an error body; any body yields a message.
Refusal read_refusal(int status, std::string_view body);

enum class Connection { open, lost };

// Events of a followed session, in order. Called from step(), never from within another call.
class FollowEvents {
 public:
  virtual ~FollowEvents() = default;
  // The session's current state; the first event, and repeated after every reconnect.
  virtual void on_state(std::string_view json) = 0;
  // Each record once, in order.
  virtual void on_record(std::uint64_t seq, std::string_view json) = 0;
  // The log differs from the cursor's: all records follow again from the first.
  virtual void on_reset() = 0;
  virtual void on_connection(Connection connection) = 0;
  // The last call: the daemon does not permit this client to follow the session.
  virtual void on_refused(const Refusal& refusal) = 0;
};

struct FollowRequest {
  std::string session = {};  // as in the path
  std::string path = {};     // for a stream of records that is not a session's
  std::uint64_t after = 0;   // the cursor
  std::string log_id;        // of that cursor; empty: any
};

// Destroying it ends the stream; no callback follows.
class Following {
 public:
  virtual ~Following() = default;
  virtual std::uint64_t cursor() const = 0;
};

class DaemonApi {
 public:
  virtual ~DaemonApi() = default;

  // Blocks. An error means no response; a rejection by the daemon is a response. Not from within a
  // callback.
  virtual Result<ApiAnswer> call(ApiRequest request) = 0;
  // The same without blocking: `done` is called once, from step(), unless this object is destroyed
  // first. Retries for call_patience_ms without a response, so that a daemon can be restarted.
  virtual void send(ApiRequest request, OnApiAnswer done) = 0;
  // Reconnects with its cursor until it is destroyed or rejected. The events must outlive it.
  virtual std::unique_ptr<Following> follow(FollowRequest request, FollowEvents& events) = 0;
  // Calls `readable` from step() whenever the descriptor is readable, for the life of this object.
  virtual void watch(int descriptor, std::move_only_function<void()> readable) = 0;
  // Runs everything that is ready; waits at most this long for the first event.
  virtual void step(int wait_ms) = 0;
  // Milliseconds of a monotonic clock.
  virtual std::int64_t now_ms() = 0;
};

}  // namespace perdure::client
