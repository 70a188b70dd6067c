// A real container engine for tests, in its own folder: podman's service or dockerd, its store, and
// one image made here of busybox and the test agent. Nothing is pulled, and the destructor removes
// everything: containers, mounts, the folder.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "net/client.h"

namespace perdure {

enum class EngineKind { podman, docker };

inline constexpr const char* test_image = "localhost/perdure-test:latest";

class EngineProcess {
 public:
  explicit EngineProcess(EngineKind kind);
  ~EngineProcess();
  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  // Starts it and makes the image. unavailable: why this machine cannot run it.
  Result<> prepare();
  Result<> start();
  Result<> make_image();
  // SIGKILL to the engine only. podman's containers continue without it.
  void kill_engine();

  std::string socket() const { return folder_ + "/engine.sock"; }
  std::string config_lines() const;  // TOML for a daemon that uses it

  struct Answer {
    int status = 0;
    std::string body;
  };
  Answer call(const std::string& method, const std::string& target, const std::string& body = {});
  // Ids of all containers, including those that have ended.
  std::vector<std::string> containers();
  std::string inspect(const std::string& container) {
    return call("GET", "/containers/" + container + "/json").body;
  }
  void remove_all();

 private:
  Result<> until_answers();
  std::vector<std::string> words() const;

  EngineKind kind_;
  std::string folder_;
  pid_t pid_ = 0;
};

}  // namespace perdure
