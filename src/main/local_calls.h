// The API without a socket: a request of a client inside the daemon goes to the same routes, with
// the rights of a principal that the gate has let in. What it may is looked at anew each time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/gate.h"
#include "api/route.h"
#include "client/api.h"
#include "client/follow_core.h"
#include "client/sse.h"
#include "env/env.h"

namespace perdure {

// All outlive everything that is made with it.
struct LocalApi {
  Router& router;
  Gate& gate;
  Loop& loop;
  Clock& clock;
  Random& random;
};

// One request. The exchange gets the answer, which may be a refusal; nothing is thrown away.
void dispatch(const LocalApi& api, const Principal& principal, client::ApiRequest request,
              std::shared_ptr<HttpExchange> exchange);

// The same for a request with one answer. `done` is called once, from the loop, unless `alive` is
// gone by then.
void call_locally(const LocalApi& api, const Principal& principal, client::ApiRequest request,
                  client::OnApiAnswer done);

// A session that is followed by its event stream, as a client over HTTP follows it. No event comes
// from inside a call, nor after its end.
class LocalFollowing final {
 public:
  struct Order {
    Principal principal;
    client::FollowRequest request;
    // How much its reader has not taken of what it was told before.
    std::function<std::size_t()> unread_bytes;
  };
  LocalFollowing(const LocalApi& api, Order order, client::FollowEvents& events);
  ~LocalFollowing();
  LocalFollowing(const LocalFollowing&) = delete;
  LocalFollowing& operator=(const LocalFollowing&) = delete;

  // The reader has taken what it was told.
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
  std::shared_ptr<Pipe> pipe_;  // of the stream that is open or being opened
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
