#include "store/files/log/record_file.h"

#include <algorithm>

#include "base/bytes/crc32c.h"
#include "base/bytes/little_endian.h"
#include "store/files/log/batch_text.h"
#include "store/line_chain.h"

namespace perdure {
namespace {

constexpr std::size_t entry_bytes = 24;
constexpr std::size_t entries_a_read = 1024;
constexpr std::size_t scan_bytes = 1UL << 20;

struct Entry {
  std::uint64_t end = 0;  // after the line break
  std::uint64_t position = 0;
  std::uint32_t crc = 0;  // of the line
};

void append_entry(std::string& out, const Entry& entry, Seq seq) {
  std::string bytes;
  append_little_endian(bytes, entry.end);
  append_little_endian(bytes, entry.position);
  append_little_endian(bytes, entry.crc);
  append_little_endian(bytes, crc32c(bytes, static_cast<std::uint32_t>(seq)));
  out += bytes;
}

std::optional<Entry> entry_of(std::string_view bytes, Seq seq) {
  const std::string_view covered = bytes.substr(0, entry_bytes - 4);
  const auto crc = read_little_endian<std::uint32_t>(bytes.substr(entry_bytes - 4));
  if (crc != crc32c(covered, static_cast<std::uint32_t>(seq))) return std::nullopt;
  return Entry{.end = read_little_endian<std::uint64_t>(bytes),
               .position = read_little_endian<std::uint64_t>(bytes.substr(8)),
               .crc = read_little_endian<std::uint32_t>(bytes.substr(16))};
}

std::unexpected<Error> damaged_at(Seq seq) {
  return fail(Code::damaged, "record " + std::to_string(seq) + " is damaged");
}

// Entries whose lines are read at once: at least one, if it is intact.
struct Window {
  std::uint64_t begin = 0;
  std::vector<Entry> entries;
};
struct WindowStart {
  Seq seq = 0;
  std::uint64_t begin = 0;
};

Window window_of(std::string_view bytes, WindowStart start, std::uint64_t end_max) {
  Window out{.begin = start.begin, .entries = {}};
  std::uint64_t before = start.begin;
  for (; bytes.size() >= entry_bytes; bytes.remove_prefix(entry_bytes), ++start.seq) {
    const auto entry = entry_of(bytes.substr(0, entry_bytes), start.seq);
    if (!entry || entry->end <= before || entry->end > end_max) break;
    if (!out.entries.empty() && entry->end - start.begin > scan_bytes) break;
    out.entries.push_back(*entry);
    before = entry->end;
  }
  return out;
}

// `begin` is an offset in the text.
Result<std::string> record_in(std::string_view text, const Entry& entry, std::uint64_t begin) {
  const std::uint64_t window_end = text.size();
  if (begin >= window_end) return fail(Code::damaged, "cut off");
  const std::size_t end = text.find('\n', begin);
  if (end == std::string_view::npos) return fail(Code::damaged, "cut off");
  const std::string_view line = text.substr(begin, end - begin);
  if (crc32c(line) != entry.crc) return fail(Code::damaged, "checksum");
  return record_of_line(line);
}

}  // namespace

Result<std::shared_ptr<JournalFile>> OpenFiles::get(const std::string& name, JournalOpen mode) {
  const std::scoped_lock lock(mutex_);
  if (const auto found = open_.find(name); found != open_.end()) {
    found->second.used = ++uses_;
    return found->second.file;
  }
  std::shared_ptr<JournalFile> file = TRY(disk_.open(name, mode));
  if (open_.size() >= files_max_) {
    open_.erase(
        std::ranges::min_element(open_, {}, [](const auto& one) { return one.second.used; }));
  }
  open_.emplace(name, Open{.file = file, .used = ++uses_});
  return file;
}

void OpenFiles::forget(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  open_.erase(name);
}

Result<RecordFiles::Filled> RecordFiles::fill(const StoredSession& session) {
  Filled out{.filled = session.filled, .filled_bytes = session.filled_bytes};
  std::string lines;
  std::string entries;
  for (const TailRecord& tail : session.tail) {
    const std::size_t begin = lines.size();
    append_line(lines, tail.record);
    const std::uint32_t crc = crc32c(std::string_view(lines).substr(begin));
    lines += '\n';
    out.filled += 1;
    append_entry(
        entries,
        {.end = session.filled_bytes + lines.size(), .position = tail.position, .crc = crc},
        out.filled);
  }
  out.filled_bytes += lines.size();
  const auto records =
      TRY(open_.get(session_file(session.id, SessionPart::records), JournalOpen::create));
  const auto index =
      TRY(open_.get(session_file(session.id, SessionPart::index), JournalOpen::create));
  // Left by an earlier life or a failed try: the commit log has all of it.
  if (TRY(records->size()) > session.filled_bytes)
    TRY_VOID(records->truncate(session.filled_bytes));
  TRY_VOID(records->write(session.filled_bytes, lines));
  TRY_VOID(index->write(session.filled * entry_bytes, entries));
  return out;
}

Result<> RecordFiles::sync(SessionId session) {
  for (const SessionPart part : {SessionPart::records, SessionPart::index}) {
    const auto file = TRY(open_.get(session_file(session, part), JournalOpen::create));
    TRY_VOID(file->sync());
  }
  return {};
}

Result<> RecordFiles::read(const RecordPlace& place, SeqSpan span, const OnRecord& on_record) {
  span.last = std::min(span.last, place.filled);
  if (span.after >= span.last) return {};
  const auto missing = [&](const Error& error) -> Result<> {
    if (error.code() != Code::not_found) return std::unexpected(error);
    return fail(Code::damaged, "the records of " + place.session.text() + " are missing");
  };
  const auto index =
      open_.get(session_file(place.session, SessionPart::index), JournalOpen::existing);
  if (!index) return missing(index.error());
  const auto records =
      open_.get(session_file(place.session, SessionPart::records), JournalOpen::existing);
  if (!records) return missing(records.error());
  std::uint64_t begin = 0;
  if (span.after > 0) {
    const std::string bytes = TRY((*index)->read((span.after - 1) * entry_bytes, entry_bytes));
    const auto entry = bytes.size() == entry_bytes ? entry_of(bytes, span.after) : std::nullopt;
    if (!entry) return damaged_at(span.after + 1);
    begin = entry->end;
  }
  std::size_t wanted = 16;  // entries of the next read; most readers want few records
  for (Seq seq = span.after + 1; seq <= span.last;) {
    const std::size_t count = std::min<Seq>(wanted, span.last - seq + 1);
    wanted = std::min(wanted * 4, entries_a_read);
    const std::string bytes = TRY((*index)->read((seq - 1) * entry_bytes, count * entry_bytes));
    const Window window = window_of(bytes, {.seq = seq, .begin = begin}, place.filled_bytes);
    if (window.entries.empty()) return damaged_at(seq);
    const std::string text = TRY((*records)->read(begin, window.entries.back().end - begin));
    for (const Entry& entry : window.entries) {
      const Result<std::string> record = record_in(text, entry, begin - window.begin);
      if (!record) return damaged_at(seq);
      if (!on_record({.seq = seq, .position = entry.position, .record = *record})) return {};
      begin = entry.end;
      ++seq;
    }
  }
  return {};
}

// The lines of a file up to the first that is damaged or does not fit.
struct RecordFiles::Scan {
  Seq good = 0;
  std::uint64_t bytes = 0;
  std::string entries;
  bool is_vouched = true;  // each line is confirmed by its entry or by the next line
};

// The whole index, intact or not; empty if it does not exist.
Result<std::string> RecordFiles::known_entries(SessionId session) {
  Result<std::string> entries = read_whole(disk_, session_file(session, SessionPart::index));
  if (!entries && entries.error().code() == Code::not_found) return std::string();
  return entries;
}

// A line counts if its entry confirms it. Without an intact entry it counts if it is linked to the
// previous line and the next line, if there is one, confirms it.
Result<RecordFiles::Scan> RecordFiles::scan_lines(const RecordPlace& place,
                                                  std::string_view known) {
  Scan scan;
  const auto file =
      open_.get(session_file(place.session, SessionPart::records), JournalOpen::existing);
  if (!file && file.error().code() == Code::not_found) return scan;
  if (!file) return std::unexpected(file.error());
  LineChain chain;
  std::string text;
  std::size_t at = 0;           // of the next line in the text
  bool is_before_open = false;  // the previous line is not confirmed yet
  std::uint64_t read_to = 0;
  while (scan.good < place.filled) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) {
      const std::size_t want = std::min<std::uint64_t>(scan_bytes, place.filled_bytes - read_to);
      const std::string more = TRY((*file)->read(read_to, want));
      if (more.empty()) break;
      read_to += more.size();
      text.erase(0, at);
      at = 0;
      text += more;
      continue;
    }
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const Result<std::string> record = record_of_line(line);
    const LineChain::Link link = record ? chain.add(*record) : LineChain::Link::broken;
    if (link == LineChain::Link::broken) break;
    if (link == LineChain::Link::silent && is_before_open) scan.is_vouched = false;
    Entry entry{.end = scan.bytes + line.size() + 1, .position = 0, .crc = crc32c(line)};
    const std::size_t entry_at = scan.good * entry_bytes;
    if (known.size() >= entry_at + entry_bytes) {
      const auto before = entry_of(known.substr(entry_at, entry_bytes), scan.good + 1);
      if (before && (before->crc != entry.crc || before->end != entry.end)) break;
      if (before) entry.position = before->position;
      is_before_open = !before;
    } else {
      is_before_open = true;
    }
    scan.good += 1;
    scan.bytes = entry.end;
    append_entry(scan.entries, entry, scan.good);
    at = end + 1;
  }
  if (is_before_open) scan.is_vouched = false;
  return scan;
}

Result<> RecordFiles::put_index(SessionId session, std::string_view entries) {
  const std::string name = session_file(session, SessionPart::index);
  open_.forget(name);
  return replace_file(disk_, name, entries, Replace::synced);
}

Result<RecordFiles::Filled> RecordFiles::rebuild_index(const RecordPlace& place) {
  const Scan scan = TRY(scan_lines(place, TRY(known_entries(place.session))));
  TRY_VOID(put_index(place.session, scan.entries));
  return Filled{.filled = scan.good, .filled_bytes = scan.bytes};
}

Result<bool> RecordFiles::mend_index(const RecordPlace& place) {
  const Scan scan = TRY(scan_lines(place, TRY(known_entries(place.session))));
  if (scan.good != place.filled || scan.bytes != place.filled_bytes || !scan.is_vouched) {
    return false;
  }
  TRY_VOID(put_index(place.session, scan.entries));
  return true;
}

Result<bool> RecordFiles::has_sizes(const RecordPlace& place) {
  if (place.filled == 0) return true;
  const auto check = [&](SessionPart part, std::uint64_t bytes) -> Result<bool> {
    const auto file = disk_.open(session_file(place.session, part), JournalOpen::existing);
    if (!file && file.error().code() == Code::not_found) return false;
    if (!file) return std::unexpected(file.error());
    return TRY((*file)->size()) >= bytes;
  };
  return TRY(check(SessionPart::records, place.filled_bytes)) &&
         TRY(check(SessionPart::index, place.filled * entry_bytes));
}

// Rewrites both files under their names with `.new`.
class RecordFiles::Rewriting {
 public:
  static Result<Rewriting> begin(JournalDisk& disk, SessionId session) {
    Rewriting out;
    out.name_ = session_file(session, SessionPart::records) + ".new";
    out.file_ = TRY(disk.open(out.name_, JournalOpen::create));
    TRY_VOID(out.file_->truncate(0));
    return out;
  }
  Result<> add(std::string_view record, std::uint64_t position) {
    const std::size_t begin = lines_.size();
    append_line(lines_, record);
    const std::uint32_t crc = crc32c(std::string_view(lines_).substr(begin));
    lines_ += '\n';
    filled_.filled += 1;
    filled_.filled_bytes += lines_.size() - begin;
    append_entry(entries_, {.end = filled_.filled_bytes, .position = position, .crc = crc},
                 filled_.filled);
    return lines_.size() < scan_bytes ? Result<>() : flush();
  }
  Result<> finish() {
    TRY_VOID(flush());
    return file_->sync();
  }
  const std::string& name() const { return name_; }
  const std::string& entries() const { return entries_; }
  const Filled& filled() const { return filled_; }

 private:
  Result<> flush() {
    TRY_VOID(file_->write(filled_.filled_bytes - lines_.size(), lines_));
    lines_.clear();
    return {};
  }
  std::string name_;
  std::unique_ptr<JournalFile> file_;
  std::string lines_;
  std::string entries_;
  Filled filled_;
};

Result<RecordFiles::Filled> RecordFiles::rewrite(const RecordPlace& place,
                                                 const Replacement& replacement) {
  Rewriting fresh = TRY(Rewriting::begin(disk_, place.session));
  Result<> added;
  TRY_VOID(read(place, {.after = 0, .last = place.filled}, [&](const RecordSeen& seen) {
    const bool is_it = seen.seq == replacement.seq;
    added = fresh.add(is_it ? replacement.record : seen.record, seen.position);
    return added.has_value();
  }));
  TRY_VOID(added);
  TRY_VOID(fresh.finish());
  const std::string name = session_file(place.session, SessionPart::records);
  open_.forget(name);
  TRY_VOID(disk_.rename({.from = fresh.name(), .to = name}));
  TRY_VOID(put_index(place.session, fresh.entries()));
  return fresh.filled();
}

Result<RecordFiles::Filled> RecordFiles::replace(RecordPlace place,
                                                 const Replacement& replacement) {
  Result<Filled> done = rewrite(place, replacement);
  if (done || done.error().code() != Code::damaged || !replacement.is_again) return done;
  const Scan scan = TRY(scan_lines(
      {.session = place.session, .filled = place.filled, .filled_bytes = ~std::uint64_t{0} >> 1},
      {}));
  if (scan.good < place.filled) return done;
  TRY_VOID(put_index(place.session, scan.entries));
  place.filled_bytes = scan.bytes;
  return rewrite(place, replacement);
}

Result<> RecordFiles::remove(SessionId session) {
  // Without its rows the session no longer exists, so remove them first.
  for (const SessionPart part : {SessionPart::rows, SessionPart::snapshot, SessionPart::tokens,
                                 SessionPart::index, SessionPart::records}) {
    const std::string name = session_file(session, part);
    open_.forget(name);
    TRY_VOID(disk_.remove(name));
  }
  return {};
}

}  // namespace perdure
