// A real container engine for tests, in a folder of its own: podman's service or dockerd, its
// store, and one image made here of busybox and the test agent. Nothing is pulled, and nothing of
// it is left when the object ends: no container, no mount, no folder.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "http/client.h"

namespace perdure {

enum class EngineKind { podman, docker };

inline constexpr const char* test_image = "localhost/perdure-test:latest";

class EngineProcess {
 public:
  explicit EngineProcess(EngineKind kind);
  ~EngineProcess();
  EngineProcess(const EngineProcess&) = delete;
  EngineProcess& operator=(const EngineProcess&) = delete;

  // Starts it and makes the image. unavailable: this machine cannot, and why.
  Result<> prepare();
  Result<> start();
  Result<> make_image();
  // SIGKILL to the engine alone. Containers of podman go on; it says nothing about them.
  void kill_engine();

  std::string socket() const { return folder_ + "/engine.sock"; }
  std::string config_lines() const;  // TOML for a daemon that is to use it

  struct Answer {
    int status = 0;
    std::string body;
  };
  Answer call(const std::string& method, const std::string& target, const std::string& body = {});
  // Ids of all containers, those that ended too.
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
