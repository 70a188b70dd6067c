// Connections that share a limited number of places, in total and per source. If no place is free,
// an older connection is closed, so that a source with many connections cannot keep others out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace perdure {

class Connection;

class Crowd {
 public:
  struct Rules {
    std::size_t all_max = SIZE_MAX;
    std::size_t per_source_max = SIZE_MAX;
    bool closes_busy = false;  // otherwise only idle connections make room for their own source
  };
  explicit Crowd(Rules rules) : rules_(rules) {}

  // Ensures a place for one more connection from `source`. Closes the oldest idle connection of the
  // same source, or of the largest source if there are too many in total. A source that exceeds its
  // share then loses a busy one, too. False: no place is free.
  bool make_room(const std::string& source);
  // Closes the largest source's oldest idle connection, or its oldest one if none is idle. False:
  // there are no connections.
  bool drop_one();

  // A connection is in at most one crowd, and must be removed before it ends.
  void add(Connection& connection, const std::string& source);
  void remove(Connection& connection);

 private:
  using Members = std::vector<Connection*>;  // in order of arrival
  std::size_t count(const std::string& source) const;
  std::string largest() const;
  bool drop_from(const std::string& source, bool may_be_busy);

  Rules rules_;
  std::map<std::string, Members> sources_;
  std::size_t size_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace perdure
