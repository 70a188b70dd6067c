// The words by which a session can be found: what people and agents wrote, independent of storage.
// A message spans many records; a piece states which text its words belong to, by the rules by
// which the transcript folds messages (A23, A24).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace perdure {

// Which texts of the session end before the piece's own words are added.
enum class TextsEnd { none, streams, all };

struct SearchPiece {
  TextsEnd ends = TextsEnd::none;
  std::string kind;  // of the record: `message.agent`
  Timestamp at;
  // Pieces with one key form one text while it is open; without a key a piece is a whole text.
  std::string key;
  std::string name;     // the author's own; another name in a stream starts another message
  bool begins = false;  // ends an open text with that key
  // false: a stream, the first part is appended. true: each part that is present replaces the
  // previous one.
  bool replaces = false;
  std::array<std::string, 3> parts;

  std::size_t bytes() const { return parts[0].size() + parts[1].size() + parts[2].size(); }
};

// Absent for a record that has no words and ends no text, or that cannot be read.
std::optional<SearchPiece> search_piece(std::string_view record);

// A complete text, or one still being assembled.
struct SearchText {
  std::uint64_t seq = 0;    // the first record of its message
  std::uint64_t first = 0;  // of its own records
  std::uint64_t last = 0;
  std::string kind;
  Timestamp at;
  std::string key;
  std::string name;
  bool is_stream = false;
  bool is_open = false;
  std::size_t bytes = 0;  // of the pieces so far
};

// Decides which text a session's pieces belong to. Holds the open texts and those closed since
// clear_closed(), not their words.
class TextFolder {
 public:
  // Where the words belong: texts()[index].
  struct Placed {
    std::size_t index = 0;
    bool is_new = false;
  };
  // In order of seq. Absent if the piece has no words.
  std::optional<Placed> add(std::uint64_t seq, const SearchPiece& piece);

  std::vector<SearchText>& texts() { return texts_; }

 private:
  void close(TextsEnd which);
  std::optional<std::size_t> open_with(std::string_view key) const;
  std::size_t begin(std::uint64_t seq, const SearchPiece& piece);

  std::vector<SearchText> texts_;
};

// All texts of one session in memory, with their words; for stores without an index.
class TextsInMemory {
 public:
  void add(std::uint64_t seq, const SearchPiece& piece);
  struct Text {
    SearchText about;
    std::string words;
  };
  std::vector<Text> take();

 private:
  TextFolder folder_;
  std::vector<std::map<std::uint64_t, std::string>> parts_;  // parallel to folder_.texts()
};

}  // namespace perdure
