// The calls that a copy to another engine needs in addition to the reads of a Store.
#include <algorithm>

#include "store/sqlite/index/codec.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/store_parts.h"

namespace perdure {

std::vector<std::string> SqliteStore::notes() const { return parts_->writer->notes(); }

EngineTotals SqliteStore::totals() {
  const SqliteStats now = stats();
  return {.commits = now.commits, .appends = now.appends, .disk_full = now.disk_full};
}

Result<SessionBelongings> SqliteStore::belongings(SessionId session) {
  ReaderPool::Lease reader = TRY(parts_->readers.lease());
  const IndexedView view = TRY(parts_->view(*reader, session, {}));
  SessionBelongings out;
  Statement refs = TRY(reader->db.prepare("SELECT ref FROM refs WHERE sid = ? ORDER BY ref"));
  refs.bind_u64(1, view.sid);
  while (TRY(refs.step())) out.refs.emplace_back(refs.bytes(0));
  Statement blobs =
      TRY(reader->db.prepare("SELECT hash FROM blob_owners WHERE sid = ? ORDER BY hash"));
  blobs.bind_u64(1, view.sid);
  while (TRY(blobs.step())) {
    Hash hash;
    const std::string_view bytes = blobs.bytes(0);
    if (bytes.size() != hash.bytes.size()) return fail(Code::damaged, "a blob's hash is damaged");
    std::copy(bytes.begin(), bytes.end(), hash.bytes.begin());
    out.blobs.push_back(hash);
  }
  return out;
}

Result<std::vector<StoredAnswer>> SqliteStore::answers(std::string_view after, std::size_t limit) {
  std::vector<std::string> keys;
  {
    ReaderPool::Lease reader = TRY(parts_->readers.lease());
    Statement select =
        TRY(reader->db.prepare("SELECT key FROM answers WHERE key > ? ORDER BY key LIMIT ?"));
    select.bind_text(1, after).bind_u64(2, limit);
    while (TRY(select.step())) keys.emplace_back(select.bytes(0));
  }
  std::vector<StoredAnswer> out;
  for (const std::string& key : keys) {
    if (std::optional<StoredAnswer> found = TRY(answer(key))) out.push_back(*std::move(found));
  }
  return out;
}

}  // namespace perdure
