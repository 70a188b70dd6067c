#include "store/postgres/pg_search.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/text.h"
#include "store/postgres/pg_words.h"

namespace perdure {
namespace {

constexpr std::int64_t records_per_slice = 2000;
constexpr std::size_t hits_per_page = 256;

// Another node's sessions are that node's work; a node that takes one over notes it at its next
// commit.
constexpr PgStatement behind{"search_behind", R"(
SELECT id FROM perdure.sessions s WHERE searched < head AND NOT EXISTS (
  SELECT 1 FROM perdure.leases l WHERE l.session = s.id AND l.node <> $1)
)"};
constexpr PgStatement unsearched{"search_records", R"(
SELECT s.searched, r.seq, r.pos, r.bytes FROM perdure.sessions s
LEFT JOIN LATERAL (
  SELECT seq, pos, bytes FROM (
    SELECT seq, pos, bytes, sum(length(bytes)) OVER (ORDER BY seq) - length(bytes) AS before
    FROM (SELECT seq, pos, bytes FROM perdure.records
      WHERE session = $1 AND seq > s.searched ORDER BY seq LIMIT $2) page) summed
  WHERE before < $3) r ON true
WHERE s.id = $1 ORDER BY r.seq
)"};
constexpr PgStatement open_texts{"search_open", R"(
SELECT first, seq, last, pos, at, kind, key, name, is_stream, part0, part1, part2
FROM perdure.texts WHERE session = $1 AND is_open ORDER BY first
)"};
// The mark only moves from its expected value: a repeated slice adds nothing twice.
constexpr PgStatement put_mark{
    "search_mark",
    "UPDATE perdure.sessions SET searched = $3 WHERE id = $1 AND searched = $2 RETURNING head"};
constexpr PgStatement put_text{"search_put", R"(
INSERT INTO perdure.texts(session, first, seq, last, pos, kind, at, key, name, is_stream, is_open,
  part0, part1, part2, words)
VALUES($1, $2, $3, $4, $5, convert_from($6, 'UTF8'), $7, $8, $9, $10 <> 0, $11 <> 0, $12, $13, $14,
  $15)
ON CONFLICT(session, first) DO UPDATE SET seq = excluded.seq, last = excluded.last,
  is_open = excluded.is_open, part0 = excluded.part0, part1 = excluded.part1,
  part2 = excluded.part2, words = excluded.words
)"};
constexpr PgStatement find_texts{"search_find", R"(
SELECT session, seq, at, kind, is_stream, part0, part1, part2 FROM perdure.texts
WHERE words @> $1::bytea[] AND at >= $3 AND at < $4
  AND ($2 = '' OR kind = $2 OR starts_with(kind, $2 || '.'))
ORDER BY pos DESC, first DESC, session DESC LIMIT $5 OFFSET $6
)"};

using Parts = std::array<std::string, 3>;

struct KeptText {
  std::uint64_t pos = 0;
  bool is_touched = false;
  Parts parts;
};

// A stream is one text; other texts have one line per part.
std::string joined(const Parts& parts, bool is_stream) {
  if (is_stream) return parts[0];
  std::string out;
  for (const std::string& part : parts) out += part.empty() ? "" : part + "\n";
  return out;
}

// The texts of one session while a slice of its records is added.
class Fold {
 public:
  void load(const PgRows& rows) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto at = [&](int column) { return PgRows::At{.row = row, .column = column}; };
      KeptText& kept = kept_.emplace_back();
      kept.pos = rows.u64(at(3));
      std::size_t bytes = 0;
      for (int part = 0; part < 3; ++part) {
        kept.parts[static_cast<std::size_t>(part)] = rows.bytes(at(9 + part));
        bytes += rows.bytes(at(9 + part)).size();
      }
      folder_.texts().push_back({.seq = rows.u64(at(1)),
                                 .first = rows.u64(at(0)),
                                 .last = rows.u64(at(2)),
                                 .kind = std::string(rows.bytes(at(5))),
                                 .at = Timestamp{rows.number(at(4))},
                                 .key = std::string(rows.bytes(at(6))),
                                 .name = std::string(rows.bytes(at(7))),
                                 .is_stream = rows.flag(at(8)),
                                 .is_open = true,
                                 .bytes = bytes});
    }
  }

  struct From {
    Seq seq = 0;
    std::uint64_t pos = 0;
  };
  void add(const From& from, const SearchPiece& piece) {
    const std::optional<TextFolder::Placed> placed = folder_.add(from.seq, piece);
    if (!placed) return;
    if (placed->is_new) kept_.push_back({.pos = from.pos});
    KeptText& kept = kept_[placed->index];
    kept.is_touched = true;
    for (std::size_t i = 0; i < piece.parts.size(); ++i) {
      if (piece.parts[i].empty()) continue;
      const std::string_view words = utf8_prefix(piece.parts[i], search_text_bytes_max);
      if (piece.replaces) {
        kept.parts[i] = words;
      } else {
        kept.parts[0] += words;
      }
    }
  }

  PgResult<bool> save(PgLink& link, SessionId session) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const SearchText& text = folder_.texts()[i];
      const KeptText& kept = kept_[i];
      if (text.is_open && !kept.is_touched) continue;
      PgArray words(PgType::bytes);
      for (const std::string& word : word_set(joined(kept.parts, text.is_stream))) words.add(word);
      PgParams params;
      params.id(session.ulid()).number(std::uint64_t{text.first}).number(std::uint64_t{text.seq});
      params.number(std::uint64_t{text.last}).number(kept.pos).bytes(text.kind);
      params.number(text.at.ms).bytes(text.key).bytes(text.name);
      params.number(std::int64_t{text.is_stream}).number(std::int64_t{text.is_open});
      for (const std::string& part : kept.parts) params.bytes(part);
      params.array(words);
      const PgResult<PgRows> done = link.run(put_text, params);
      if (!done) return std::unexpected(done.error());
    }
    return true;
  }

 private:
  TextFolder folder_;
  std::vector<KeptText> kept_;  // parallel to the folder's texts
};

}  // namespace

PgResult<bool> PgSearch::find_behind(PgLink& link) {
  const PgResult<PgRows> rows = link.run(behind, PgParams().text(setting_.node));
  if (!rows) return std::unexpected(rows.error());
  for (std::size_t row = 0; row < rows->size(); ++row) {
    behind_.insert(SessionId(rows->id({.row = row})));
  }
  is_known_ = true;
  return true;
}

PgResult<bool> PgSearch::slice(PgLink& link) {
  if (!is_known_) return find_behind(link);
  if (behind_.empty()) return false;
  const SessionId session = *behind_.begin();
  const PgResult<PgRows> records =
      link.run(unsearched, PgParams()
                               .id(session.ulid())
                               .number(records_per_slice)
                               .number(static_cast<std::int64_t>(setting_.slice_bytes)));
  if (!records) return std::unexpected(records.error());
  if (records->is_empty() || records->is_null({.row = 0, .column = 1})) {
    behind_.erase(session);
    return true;
  }
  const PgResult<PgRows> opened = link.run(open_texts, PgParams().id(session.ulid()));
  if (!opened) return std::unexpected(opened.error());
  Fold fold;
  fold.load(*opened);
  Seq last = 0;
  for (std::size_t row = 0; row < records->size(); ++row) {
    last = records->u64({.row = row, .column = 1});
    const auto piece = setting_.piece(records->bytes({.row = row, .column = 3}));
    if (piece) fold.add({.seq = last, .pos = records->u64({.row = row, .column = 2})}, *piece);
  }
  const auto body = [&]() -> PgResult<bool> {
    if (auto begun = link.script("BEGIN"); !begun) return std::unexpected(begun.error());
    const PgResult<PgRows> marked =
        link.run(put_mark, PgParams().id(session.ulid()).number(records->u64({})).number(last));
    if (!marked) return std::unexpected(marked.error());
    if (!marked->is_empty()) {
      if (auto saved = fold.save(link, session); !saved) return saved;
    }
    if (auto ended = link.script("COMMIT"); !ended) return std::unexpected(ended.error());
    if (!marked->is_empty() && marked->u64({}) == last) behind_.erase(session);
    return true;
  };
  PgResult<bool> done = body();
  if (!done && !link.is_lost()) (void)link.script("ROLLBACK");
  return done;
}

Result<std::vector<SearchHit>> search_texts(PgReaders& readers, const SearchAsk& ask) {
  std::vector<SearchHit> hits;
  const Phrases phrases = phrases_of(ask.query);
  if (phrases.empty()) return hits;
  PgArray words(PgType::bytes);
  for (const std::vector<std::string>& phrase : phrases) {
    for (const std::string& word : phrase) words.add(word);
  }
  for (std::size_t looked = 0; looked < search_looked_at_max; looked += hits_per_page) {
    PgParams params;
    params.array(words).text(ask.kind);
    params.number(ask.since ? ask.since->ms : INT64_MIN);
    params.number(ask.until ? ask.until->ms : INT64_MAX);
    params.number(std::uint64_t{hits_per_page}).number(std::uint64_t{looked});
    const PgRows rows = TRY(readers.run(find_texts, params));
    for (std::size_t row = 0; row < rows.size() && hits.size() < ask.limit; ++row) {
      const auto at = [&](int column) { return PgRows::At{.row = row, .column = column}; };
      const SessionId session(rows.id(at(0)));
      if (ask.is_wanted && !ask.is_wanted(session)) continue;
      const Parts parts{std::string(rows.bytes(at(5))), std::string(rows.bytes(at(6))),
                        std::string(rows.bytes(at(7)))};
      std::optional<std::string> snippet = snippet_of(joined(parts, rows.flag(at(4))), phrases);
      if (!snippet) continue;
      hits.push_back({.session = session,
                      .seq = rows.u64(at(1)),
                      .kind = std::string(rows.bytes(at(3))),
                      .at = Timestamp{rows.number(at(2))},
                      .snippet = *std::move(snippet)});
    }
    if (rows.size() < hits_per_page || hits.size() >= ask.limit) break;
  }
  return hits;
}

}  // namespace perdure
