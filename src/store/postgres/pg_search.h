// The full-text index: a projection that follows each session's records with a mark per session, in
// slices. Texts are stored per message, with the set of their words; phrases and snippets are
// searched in the text itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/search_text.h"
#include "store/postgres/link/pg_link.h"
#include "store/postgres/pg_readers.h"
#include "store/store.h"

namespace perdure {

class PgSearch {
 public:
  struct Setting {
    std::string node;
    std::function<std::optional<SearchPiece>(std::string_view record)> piece;
    std::size_t slice_bytes = 1UL << 20;  // of records per slice
  };
  explicit PgSearch(Setting setting) : setting_(std::move(setting)) {}

  // Notes that the session has records that are not in the index.
  void note(SessionId session) { behind_.insert(session); }
  void forget(SessionId session) { behind_.erase(session); }
  // Indexes one slice of one session. Returns whether there was anything to do. After an error the
  // same slice is retried.
  PgResult<bool> slice(PgLink& link);

 private:
  PgResult<bool> find_behind(PgLink& link);

  Setting setting_;
  bool is_known_ = false;  // the sessions to index at the start are loaded
  std::set<SessionId> behind_;
};

Result<std::vector<SearchHit>> search_texts(PgReaders& readers, const SearchAsk& ask);

}  // namespace perdure
