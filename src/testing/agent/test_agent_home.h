// The test agent's storage across lives: one text per session, one lock per name. The real program
// uses a folder of files, the simulator a map; a process's locks are released when it ends.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace perdure::testagent {

// One process's access to the home.
class AgentHome {
 public:
  virtual ~AgentHome() = default;
  // A session's stored text; absent if the session does not exist.
  virtual std::optional<std::string> get(const std::string& session_id) = 0;
  virtual void put(const std::string& session_id, const std::string& text) = 0;
  virtual void remove(const std::string& session_id) = 0;
  // Session ids, sorted.
  virtual std::vector<std::string> list() = 0;
  // Takes the named lock for this process; also true if it already holds it. False: another living
  // process holds it.
  virtual bool lock(const std::string& name) = 0;
  virtual void unlock(const std::string& name) = 0;
  // Reports a line about something that must never happen (PROC1).
  virtual void report_violation(const std::string& line) = 0;
};

// The home of simulated agents. Must outlive every MemoryHome on it.
struct SharedHome {
  std::map<std::string, std::string> sessions;
  std::set<std::string> locks;
  std::vector<std::string> violations;
};

// A simulated process's access: destroying it releases its locks, as the kernel does.
class MemoryHome : public AgentHome {
 public:
  explicit MemoryHome(SharedHome& shared) : shared_(shared) {}
  ~MemoryHome() override;
  MemoryHome(const MemoryHome&) = delete;
  MemoryHome& operator=(const MemoryHome&) = delete;

  std::optional<std::string> get(const std::string& session_id) override;
  void put(const std::string& session_id, const std::string& text) override;
  void remove(const std::string& session_id) override;
  std::vector<std::string> list() override;
  bool lock(const std::string& name) override;
  void unlock(const std::string& name) override;
  void report_violation(const std::string& line) override;

 private:
  SharedHome& shared_;
  std::set<std::string> mine_;
};

}  // namespace perdure::testagent
