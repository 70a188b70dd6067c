// The daemon as a client sees it: calls, followed sessions, and a loop to wait on. The real one is
// client.h; tests of the verbs have one of their own.
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
  std::string path;                                        // percent-encoded where it has to be
  std::vector<std::pair<std::string, std::string>> query;  // plain text
  std::string body;                                        // JSON unless content_type says else
  std::string content_type = "application/json";
  std::string accept = "application/json";
  // Of a change: a call whose answer did not arrive is made again under it. Empty: one is made up.
  std::string key;
};

// What the daemon said no to.
struct Refusal {
  int status = 0;
  std::string code;  // stable; also one that this version has no Code for
  std::string message;
  std::vector<std::string> actions;  // what can be done about it, in words of verbs

  // The nearest Code: by name, else by status.
  Error error() const;
};

struct ApiAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
  std::optional<Refusal> refusal;  // given for every status but 2xx
};

using OnApiAnswer = std::move_only_function<void(Result<ApiAnswer>)>;

// Reads an error body; whatever it holds, something can be told.
Refusal read_refusal(int status, std::string_view body);

enum class Connection { open, lost };

// What a followed session tells, in order. Called from step(), never from inside another call.
class FollowEvents {
 public:
  virtual ~FollowEvents() = default;
  // The session as it is now; first of all, and again after every reconnect.
  virtual void on_state(std::string_view json) = 0;
  // Each record once, in order.
  virtual void on_record(std::uint64_t seq, std::string_view json) = 0;
  // The log is another one than the cursor was of: all records come again from the first.
  virtual void on_reset() = 0;
  virtual void on_connection(Connection connection) = 0;
  // The last call: the daemon does not let this client follow the session.
  virtual void on_refused(const Refusal& refusal) = 0;
};

struct FollowRequest {
  std::string session = {};  // as the path takes it
  std::string path = {};     // of another stream of records than a session's
  std::uint64_t after = 0;   // the cursor
  std::string log_id;        // of that cursor; empty: any
};

// Dropping it ends the stream, and no callback follows.
class Following {
 public:
  virtual ~Following() = default;
  virtual std::uint64_t cursor() const = 0;
};

class DaemonApi {
 public:
  virtual ~DaemonApi() = default;

  // Blocks. An error says that nobody answered; a refusal is an answer. Not from inside a callback.
  virtual Result<ApiAnswer> call(ApiRequest request) = 0;
  // The same without waiting: `done` is called once, from step(), unless this goes first. Nobody
  // answering is borne for call_patience_ms, so that a daemon may be started again meanwhile.
  virtual void send(ApiRequest request, OnApiAnswer done) = 0;
  // Reconnects by its cursor until it is dropped or refused. The events outlive it.
  virtual std::unique_ptr<Following> follow(FollowRequest request, FollowEvents& events) = 0;
  // Calls `readable` from step() whenever the descriptor is, for as long as this lives.
  virtual void watch(int descriptor, std::move_only_function<void()> readable) = 0;
  // Runs what is ready, waiting at most this long for the first of it.
  virtual void step(int wait_ms) = 0;
  // Milliseconds of a clock that never jumps.
  virtual std::int64_t now_ms() = 0;
};

}  // namespace perdure::client
