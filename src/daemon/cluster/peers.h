// The other daemons on a shared store, reached over HTTP by a data folder's socket on this host or
// by a URL. Each call has limits. One without an answer is `unavailable`; its key shows whether it
// took effect.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "daemon/api/world.h"
#include "daemon/runtime/runtime.h"
#include "env/env.h"
#include "net/client.h"
#include "store/engine.h"

namespace perdure {

// unix:/path/of/a.sock, https://host:port, or http:// to this machine. invalid_argument, or denied
// for http:// to another machine.
Result<HttpEndpoint> parse_node_address(std::string_view address);

class HttpPeers final : public Peers {
 public:
  struct World {
    HttpIo& io;
    Loop& loop;
    Clock& clock;
    Random& random;
    std::function<Result<std::vector<StoreNode>>()> nodes;  // StoreEngine::nodes
  };
  struct Setting {
    std::string node;  // our own name
    std::string key;   // StoreEngine::shared_key
  };
  // The world must outlive it. Calls in progress at its destruction get no answer.
  HttpPeers(World world, Setting setting);
  ~HttpPeers() override { world_.loop.cancel(timer_); }

  void submit(const std::string& node, SessionId session, Request request, ReplyFn reply) override;
  void call(const std::string& node, PeerCall call, ApiWorld::OnPeerAnswer done);

  // By name, as the store listed them at most nodes_known_ms ago. May block like a read of the
  // store.
  Result<std::vector<StoreNode>> nodes();

 private:
  struct Letter {
    std::string_view path;
    std::string body;
  };
  struct Sent {
    std::string node;
    std::uint64_t call = 0;
    ApiWorld::OnPeerAnswer done;
  };
  Result<HttpEndpoint> endpoint_of(const std::string& node);
  HttpRequest make_request(const std::string& node, const HttpEndpoint& to, Letter letter);
  // `done` is called once, from the loop.
  void send(const std::string& node, Letter letter, ApiWorld::OnPeerAnswer done);
  void fail_later(Error error, ApiWorld::OnPeerAnswer done);
  void finish(std::uint64_t number, Result<HttpResponse> answer);
  // A stopped daemon accepts calls but never answers. When the store has not heard from it for a
  // lease, its calls end, so that its sessions' next owner can be called.
  void watch_silence();
  std::string random_text();

  World world_;
  Setting setting_;
  std::vector<StoreNode> known_;
  std::int64_t known_until_ms_ = -1;
  HttpCalls calls_;
  std::map<std::uint64_t, Sent> sent_;
  std::uint64_t last_sent_ = 0;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
