// The engine at a unix socket with the Docker Engine API 1.41: dockerd, or podman's service. Uses
// one connection per call; nothing is retried here.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/hosting/container/container_engine.h"
#include "env/env.h"
#include "net/client.h"

namespace perdure {

// Returns the socket's path, or an error that says what to do if there is none.
using FindEngineSocket = std::function<Result<std::string>()>;

class DockerEngine final : public ContainerEngine {
 public:
  // Both must outlive it. Each call looks up the socket, because the engine may start after us.
  DockerEngine(HttpIo& io, Loop& loop, FindEngineSocket find_socket)
      : loop_(loop), find_socket_(std::move(find_socket)), calls_(io) {}

  void describe(OnEngine<EngineAbilities> done) override;
  void find_image(const std::string& image, OnEngine<> done) override;
  void create(const ContainerOrder& order, OnEngine<std::string> done) override;
  void start(const std::string& name, OnEngine<> done) override;
  void look(const std::string& name, OnEngine<ContainerSight> done) override;
  void remove(const std::string& name, OnEngine<> done) override;
  void list(const std::string& label, OnEngine<std::vector<ListedContainer>> done) override;

 private:
  struct Asked {
    std::string method = "GET";
    std::string target;  // the path after the version
    std::string body = {};
  };
  using OnAnswer = std::move_only_function<void(Result<HttpResponse>)>;
  void ask(Asked asked, OnAnswer done);

  Loop& loop_;
  FindEngineSocket find_socket_;
  HttpCalls calls_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
