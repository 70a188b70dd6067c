// Connections that share places: so many in all, and so many from each source. When a place is
// missing, an older connection is closed, so that those who hold many never keep others out.
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

  // Makes sure that one more from there has a place: closes the oldest idle connection of the same
  // source, or of the source with the most when there are too many in all. A source that has more
  // than its share then loses a busy one, too. False: there is no place.
  bool make_room(const std::string& source);
  // Closes the oldest idle connection of the source with the most, or else its oldest. False:
  // there is none.
  bool drop_one();

  // A connection is in one crowd at most, and leaves it before it ends.
  void add(Connection& connection, const std::string& source);
  void remove(Connection& connection);

 private:
  using Members = std::vector<Connection*>;  // in the order in which they came
  std::size_t count(const std::string& source) const;
  std::string largest() const;
  bool drop_from(const std::string& source, bool may_be_busy);

  Rules rules_;
  std::map<std::string, Members> sources_;
  std::size_t size_ = 0;
  std::uint64_t arrivals_ = 0;
};

}  // namespace perdure
