// The full-text index: a projection that follows the records of each session with a mark of its
// own, in slices. Texts are kept by message, with the set of their words; phrases and snippets are
// found in the text itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"
#include "store_postgres/pg_link.h"
#include "store_postgres/pg_readers.h"
#include "wire/search_text.h"

namespace perdure {

class PgSearch {
 public:
  struct Setting {
    std::string node;
    std::function<std::optional<SearchPiece>(std::string_view record)> piece;
    std::size_t slice_bytes = 1UL << 20;  // of records, at a time
  };
  explicit PgSearch(Setting setting) : setting_(std::move(setting)) {}

  // The session has records that are not in the index.
  void note(SessionId session) { behind_.insert(session); }
  void forget(SessionId session) { behind_.erase(session); }
  // One slice of one session. Says whether there was anything to do. After an error the same slice
  // is tried again.
  PgResult<bool> slice(PgLink& link);

 private:
  PgResult<bool> find_behind(PgLink& link);

  Setting setting_;
  bool is_known_ = false;  // which sessions were behind at the start
  std::set<SessionId> behind_;
};

Result<std::vector<SearchHit>> search_texts(PgReaders& readers, const SearchAsk& ask);

}  // namespace perdure
