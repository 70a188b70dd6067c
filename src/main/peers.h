// The other daemons on a shared store, reached over HTTP: by the socket of a data folder on this
// host, or by a URL. Each call has its limits, and one that got no answer is `unavailable`: whether
// it was done there, its key tells.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/world.h"
#include "base/result.h"
#include "env/env.h"
#include "http/client.h"
#include "runtime/runtime.h"
#include "store/engine.h"

namespace perdure {

// unix:/path/of/a.sock, https://host:port, or http:// to this machine. invalid_argument, and denied
// for http:// to another.
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
  // All of the world outlives it. Calls under way when it goes are not answered.
  HttpPeers(World world, Setting setting);
  ~HttpPeers() override { world_.loop.cancel(timer_); }

  void submit(const std::string& node, SessionId session, Request request, ReplyFn reply) override;
  void call(const std::string& node, PeerCall call, ApiWorld::OnPeerAnswer done);

  // As the store knew them within nodes_known_ms, by their names. May block as a read of the store
  // does.
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
  // `done` comes from the loop, once.
  void send(const std::string& node, Letter letter, ApiWorld::OnPeerAnswer done);
  void fail_later(Error error, ApiWorld::OnPeerAnswer done);
  void finish(std::uint64_t number, Result<HttpResponse> answer);
  // A daemon that is stopped takes calls and never answers. Once the store has not heard of it for
  // a lease its calls end, so that whoever takes the session over can be asked.
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
