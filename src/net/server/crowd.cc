#include "net/server/crowd.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "net/server/connection.h"

namespace perdure {

std::size_t Crowd::count(const std::string& source) const {
  const auto at = sources_.find(source);
  return at == sources_.end() ? 0 : at->second.size();
}

// Of equally large sources, the one with the oldest connection. Empty: there is none.
std::string Crowd::largest() const {
  const auto is_smaller = [](const auto& a, const auto& b) {
    if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
    return a.second.front()->arrival > b.second.front()->arrival;
  };
  const auto at = std::ranges::max_element(sources_, is_smaller);
  return at == sources_.end() ? std::string() : at->first;
}

bool Crowd::drop_from(const std::string& source, bool may_be_busy) {
  const auto at = sources_.find(source);
  if (at == sources_.end()) return false;
  const Members& members = at->second;
  auto found =
      std::ranges::find_if(members, [](const Connection* each) { return each->is_idle(); });
  if (found == members.end() && may_be_busy) found = members.begin();
  if (found == members.end()) return false;
  const auto dropped = (*found)->shared_from_this();
  dropped->drop();
  return true;
}

bool Crowd::drop_one() { return drop_from(largest(), true); }

bool Crowd::make_room(const std::string& source) {
  if (count(source) >= rules_.per_source_max && !drop_from(source, rules_.closes_busy)) {
    return false;
  }
  if (size_ < rules_.all_max) return true;
  const std::string most = largest();
  return drop_from(most, rules_.closes_busy || count(most) > count(source) + 1);
}

void Crowd::add(Connection& connection, const std::string& source) {
  CHECK(connection.crowd == nullptr);
  connection.crowd = this;
  connection.source = source;
  connection.arrival = ++arrivals_;
  sources_[source].push_back(&connection);
  ++size_;
}

void Crowd::remove(Connection& connection) {
  CHECK(std::exchange(connection.crowd, nullptr) == this);
  const auto at = sources_.find(connection.source);
  std::erase(at->second, &connection);
  if (at->second.empty()) sources_.erase(at);
  --size_;
}

}  // namespace perdure
