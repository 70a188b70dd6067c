#include "testing/agent/test_agent_home.h"

namespace perdure::testagent {

MemoryHome::~MemoryHome() {
  for (const std::string& name : mine_) shared_.locks.erase(name);
}

std::optional<std::string> MemoryHome::get(const std::string& session_id) {
  const auto at = shared_.sessions.find(session_id);
  if (at == shared_.sessions.end()) return std::nullopt;
  return at->second;
}

void MemoryHome::put(const std::string& session_id, const std::string& text) {
  shared_.sessions[session_id] = text;
}

void MemoryHome::remove(const std::string& session_id) { shared_.sessions.erase(session_id); }

std::vector<std::string> MemoryHome::list() {
  std::vector<std::string> ids;
  for (const auto& [id, text] : shared_.sessions) ids.push_back(id);
  return ids;
}

bool MemoryHome::lock(const std::string& name) {
  if (mine_.contains(name)) return true;
  if (!shared_.locks.insert(name).second) return false;
  mine_.insert(name);
  return true;
}

void MemoryHome::unlock(const std::string& name) {
  if (mine_.erase(name) != 0) shared_.locks.erase(name);
}

void MemoryHome::report_violation(const std::string& line) { shared_.violations.push_back(line); }

}  // namespace perdure::testagent
