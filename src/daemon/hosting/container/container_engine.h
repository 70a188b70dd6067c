// A container engine as executions need it: a few requests, each answered once, later, on the loop.
// The one rule: an engine that does not answer says nothing about its containers, so that is
// engine_unavailable and never not_found (C19).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace perdure {

inline constexpr const char* container_label_managed = "perdure.managed";
inline constexpr const char* container_label_session = "perdure.session";
inline constexpr const char* container_label_exec = "perdure.exec";
inline constexpr const char* container_label_owner = "perdure.owner";  // the data folder

struct ContainerMount {
  std::string source;  // a folder or file of the host; must exist
  std::string target;
  bool read_only = false;
  bool operator==(const ContainerMount&) const = default;
};

// 0: no limit.
struct ContainerLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t cpu_percent = 0;  // 100: one whole CPU
  bool operator==(const ContainerLimits&) const = default;
};

struct ContainerOrder {
  std::string name;
  std::string image;
  std::vector<std::string> command;      // replaces the image's command
  std::vector<std::string> environment;  // NAME=value, in addition to the image's own
  std::map<std::string, std::string> labels;
  std::vector<ContainerMount> mounts;
  std::string user;     // "1000:1000"
  std::string network;  // empty: the engine's own default
  ContainerLimits limits;
  bool may_swap = true;  // false: no swap beyond memory_bytes
};

enum class ContainerLife { created, running, paused, ended };

// A container's state at the time of the request.
struct ContainerSight {
  std::string id;
  ContainerLife life = ContainerLife::created;
  std::int64_t exit_code = 0;  // set after its end
  bool out_of_memory = false;
  std::string error;  // why it could not be started
  std::map<std::string, std::string> labels;
};

struct EngineAbilities {
  std::string version;
  bool rootless = false;  // root in a container has only the rights of the engine's user
  bool limits_memory = false;
  bool limits_swap = false;
  bool limits_processes = false;
  bool limits_cpu = false;
};

struct ListedContainer {
  std::string id;
  std::string state;  // running, exited, …
  std::map<std::string, std::string> labels;
};

template <class T = void>
using OnEngine = std::move_only_function<void(Result<T>)>;

// Containers are identified by name or id. Every call may end in engine_unavailable; then its
// effect is unknown. No callback follows after the engine is destroyed.
class ContainerEngine {
 public:
  virtual ~ContainerEngine() = default;
  virtual void describe(OnEngine<EngineAbilities> done) = 0;
  // image_missing. Never pulls an image.
  virtual void find_image(const std::string& image, OnEngine<> done) = 0;
  // Returns its id. image_missing; conflict: the name is in use; container_failed.
  virtual void create(const ContainerOrder& order, OnEngine<std::string> done) = 0;
  // Succeeds if it is already running. not_found; container_failed gives the engine's reason.
  virtual void start(const std::string& name, OnEngine<> done) = 0;
  // not_found: the engine has no container with that name.
  virtual void look(const std::string& name, OnEngine<ContainerSight> done) = 0;
  // Kills and removes it; succeeds if it does not exist.
  virtual void remove(const std::string& name, OnEngine<> done) = 0;
  // All containers with this label, including ended ones.
  virtual void list(const std::string& label, OnEngine<std::vector<ListedContainer>> done) = 0;
};

}  // namespace perdure
