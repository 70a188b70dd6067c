// What the test agent keeps between its lives: one text a session, one lock a name. The real
// program has a folder of files, the simulator a map; a lock belongs to a process and falls with
// it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace perdure::testagent {

// One process's view of the home.
class AgentHome {
 public:
  virtual ~AgentHome() = default;
  // The text kept for a session; none when there is no such session.
  virtual std::optional<std::string> get(const std::string& session_id) = 0;
  virtual void put(const std::string& session_id, const std::string& text) = 0;
  virtual void remove(const std::string& session_id) = 0;
  // Session ids, sorted.
  virtual std::vector<std::string> list() = 0;
  // Takes the lock of this name for this process; true as well when it has it already. False:
  // another living process holds it.
  virtual bool lock(const std::string& name) = 0;
  virtual void unlock(const std::string& name) = 0;
  // A line for whoever judges: something happened that never may (PROC1).
  virtual void report_violation(const std::string& line) = 0;
};

// The home of simulated agents. Outlives every view.
struct SharedHome {
  std::map<std::string, std::string> sessions;
  std::set<std::string> locks;
  std::vector<std::string> violations;
};

// A simulated process's view: destroying it lets its locks go, as the kernel does.
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
