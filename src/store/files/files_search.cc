// Full text without an index: reads records, most recently appended sessions first, up to
// search_bytes_max. Matches the words of the texts; ASCII letters match regardless of case.
#include <algorithm>
#include <cctype>

#include "base/limits.h"
#include "base/text.h"
#include "store/files/files_writer.h"

namespace perdure {
namespace {

constexpr std::size_t around_bytes = 60;  // around a match, in a snippet

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Words; text in double quotes is one term.
std::vector<std::string> terms_of(std::string_view query) {
  std::vector<std::string> terms;
  std::string term;
  bool is_quoted = false;
  const auto end_term = [&] {
    if (!term.empty()) terms.push_back(std::exchange(term, {}));
  };
  for (const char c : lower(query)) {
    if (c == '"') {
      end_term();
      is_quoted = !is_quoted;
    } else if (!is_quoted && std::isspace(static_cast<unsigned char>(c)) != 0) {
      end_term();
    } else {
      term += c;
    }
  }
  end_term();
  return terms;
}

bool is_asked(const SearchAsk& ask, const SearchText& text) {
  return (ask.kind.empty() || text.kind == ask.kind || text.kind.starts_with(ask.kind + ".")) &&
         (!ask.since || text.at >= *ask.since) && (!ask.until || text.at < *ask.until);
}

// The text around the first match of the first term, with the match marked.
std::string snippet_of(std::string_view words, std::string_view lowered,
                       const std::vector<std::string>& terms) {
  const std::size_t at = lowered.find(terms.front());
  std::size_t from = at > around_bytes ? at - around_bytes : 0;
  while (from < at && (static_cast<unsigned char>(words[from]) & 0xc0U) == 0x80U) ++from;
  const std::size_t behind = at + terms.front().size();
  std::string out(words.substr(from, at - from));
  out += '\x02';
  out += words.substr(at, terms.front().size());
  out += '\x03';
  out += utf8_prefix(words.substr(behind), around_bytes);
  return out;
}

struct FoundText {
  std::uint64_t position = 0;  // of the group with its first record
  SearchHit hit;
};

// The texts of one session that contain all terms.
class SessionSearch {
 public:
  SessionSearch(const SearchAsk& ask, const std::vector<std::string>& terms)
      : ask_(ask), terms_(terms) {}

  void add(const RecordSeen& seen, const std::optional<SearchPiece>& piece) {
    bytes_ += seen.record.size();
    if (!piece) return;
    positions_[seen.seq] = seen.position;
    texts_.add(seen.seq, *piece);
  }
  std::size_t bytes() const { return bytes_; }

  void take(SessionId session, std::vector<FoundText>& found) {
    for (const TextsInMemory::Text& text : texts_.take()) {
      if (!is_asked(ask_, text.about)) continue;
      const std::string lowered = lower(text.words);
      const bool has_all = std::ranges::all_of(
          terms_, [&](const std::string& term) { return lowered.contains(term); });
      if (!has_all) continue;
      found.push_back({.position = positions_[text.about.first],
                       .hit = {.session = session,
                               .seq = text.about.seq,
                               .kind = text.about.kind,
                               .at = text.about.at,
                               .snippet = snippet_of(text.words, lowered, terms_)}});
    }
  }

 private:
  const SearchAsk& ask_;
  const std::vector<std::string>& terms_;
  TextsInMemory texts_;
  std::map<Seq, std::uint64_t> positions_;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<std::vector<SearchHit>> FilesWriter::search(const SearchAsk& ask) {
  std::vector<SearchHit> hits;
  const std::vector<std::string> terms = terms_of(ask.query);
  if (terms.empty() || !options_.search_piece) return hits;
  std::vector<std::pair<std::uint64_t, SessionId>> order;
  {
    const std::scoped_lock lock(contents_.mutex);
    for (const auto& [id, session] : contents_.sessions) order.emplace_back(session.position, id);
  }
  std::ranges::sort(order, std::greater<>());
  std::vector<FoundText> found;
  std::size_t bytes = 0;
  for (const auto& [position, id] : order) {
    if (bytes >= options_.search_bytes_max || found.size() >= search_looked_at_max) break;
    if (ask.is_wanted && !ask.is_wanted(id)) continue;
    StoredSession session;
    {
      const std::scoped_lock lock(contents_.mutex);
      const auto at = contents_.sessions.find(id);
      if (at == contents_.sessions.end()) continue;
      session = at->second;
    }
    SessionSearch searching(ask, terms);
    const auto add = [&](const RecordSeen& seen) {
      searching.add(seen, options_.search_piece(seen.record));
      return bytes + searching.bytes() < options_.search_bytes_max;
    };
    // A damaged session is searched up to the damage.
    const Seq good = session.good.value_or(session.head);
    const Result<> read = records_.read(place_of(session), {.after = 0, .last = good}, add);
    if (!read && read.error().code() != Code::damaged) return std::unexpected(read.error());
    Seq seq = session.filled;
    for (const TailRecord& tail : session.tail) {
      if (++seq <= good) add({.seq = seq, .position = tail.position, .record = tail.record});
    }
    searching.take(id, found);
    bytes += searching.bytes();
  }
  std::ranges::sort(found, std::greater<>(),
                    [](const FoundText& one) { return std::pair(one.position, one.hit.seq); });
  for (FoundText& one : found) {
    if (hits.size() == ask.limit) break;
    hits.push_back(std::move(one.hit));
  }
  return hits;
}

Result<std::vector<SearchHit>> FilesStore::search(const SearchAsk& ask) {
  return writer_->search(ask);
}

}  // namespace perdure
