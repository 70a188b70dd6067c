// The API without a socket: requests of a client inside the daemon use the same routes, with the
// rights of a principal that the gate admitted. Those rights are checked for each request.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/api.h"
#include "client/follow_core.h"
#include "client/sse.h"
#include "daemon/api/gate/gate.h"
#include "daemon/api/gate/route.h"
#include "env/env.h"

namespace perdure {

// All must outlive everything that is created with it.
struct LocalApi {
  Router& router;
  Gate& gate;
  Loop& loop;
  Clock& clock;
  Random& random;
};

// Dispatches one request. The exchange gets the answer or the refusal; nothing is thrown.
void dispatch(const LocalApi& api, const Principal& principal, client::ApiRequest request,
              std::shared_ptr<HttpExchange> exchange);

// The same for a request with one answer. `done` is called once, from the loop, unless `alive` has
// expired by then.
void call_locally(const LocalApi& api, const Principal& principal, client::ApiRequest request,
                  client::OnApiAnswer done);

// Follows a session's event stream as an HTTP client does. No event comes from within a call or
// after this object's end.
class LocalFollowing final {
 public:
  struct Order {
    Principal principal;
    client::FollowRequest request;
    // Number of delivered bytes that the reader has not consumed yet.
    std::function<std::size_t()> unread_bytes;
  };
  LocalFollowing(const LocalApi& api, Order order, client::FollowEvents& events);
  ~LocalFollowing();
  LocalFollowing(const LocalFollowing&) = delete;
  LocalFollowing& operator=(const LocalFollowing&) = delete;

  // The reader has consumed what it received.
  void drained();

 private:
  class Pipe;
  class Exchange;

  void drive();
  void drive_later();
  void open();
  void hang_up();
  void deliver();
  std::int64_t now_ms() const { return api_.clock.now().since_boot.ms; }

  const LocalApi& api_;
  Order order_;
  client::FollowCore core_;
  client::SseParser parser_;
  std::shared_ptr<Pipe> pipe_;  // belongs to the stream that is open or opening
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
