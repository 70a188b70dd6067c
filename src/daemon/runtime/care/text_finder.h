// Finds texts that are redacted in other places. A text of 8 bytes or more is found wherever it
// stands, a shorter one only as a word of its own: "cat" is not in "category".
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/session/events.h"

namespace perdure {

inline constexpr std::size_t text_part_min = 8;

class TextFinder {
 public:
  void add(std::string text);

  bool is_empty() const { return texts_.empty(); }
  // As they are within JSON.
  std::span<const std::string> escapes() const { return escapes_; }
  std::span<const std::string> texts() const { return texts_; }
  std::size_t longest() const { return longest_; }

  // In text as it is.
  bool is_in(std::string_view text) const;
  // In a string value of valid JSON.
  bool is_in_json(std::string_view json) const;
  // Whether this title is the beginning of one: titles are often cut from a prompt.
  bool begins_with(std::string title) const;

 private:
  std::vector<std::string> texts_;
  std::vector<std::string> escapes_;  // in the same order
  std::size_t longest_ = 0;
};

// Agents send their messages in pieces, one record each: finds what no piece holds alone.
class PieceFinder {
 public:
  explicit PieceFinder(const TextFinder& finder) : finder_(finder) {}

  // In the order of the journal. Gives the numbers of records that together hold a text, of a
  // message that ended with this record; some perhaps more than once.
  std::vector<std::uint64_t> add(std::uint64_t seq, const EventBody& body);
  std::vector<std::uint64_t> end();

 private:
  std::vector<std::uint64_t> find() const;
  void drop_front();

  const TextFinder& finder_;
  bool is_thought_ = false;
  std::string text_;
  std::map<std::size_t, std::uint64_t> pieces_;  // by their place in the text
};

}  // namespace perdure
