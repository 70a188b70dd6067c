// Updates the files made for people when a session is saved.
#include "base/limits.h"
#include "store/files/files_writer.h"
#include "store/files/views.h"

namespace perdure {

Result<std::optional<StoredSnapshot>> FilesWriter::saved_snapshot(SessionId session) {
  const Result<std::string> text = read_whole(disk_, session_file(session, SessionPart::snapshot));
  if (!text && text.error().code() == Code::not_found) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  return snapshot_in_view(*text);
}

// All records of `session` must be in its file.
Result<> FilesWriter::write_views(const StoredSession& session) {
  std::optional<StoredSnapshot> snapshot;
  if (session.snapshot_unsaved) {
    snapshot = {.seq = *session.snapshot_seq, .bytes = *session.snapshot_unsaved};
  } else if (session.snapshot_seq) {
    snapshot = TRY(saved_snapshot(session.id));
  }
  const std::optional<State> state =
      fold_for_view(snapshot, session.head, [&](Seq after) -> Result<RecordPage> {
        RecordPage page{.first = after + 1, .records = {}};
        TRY_VOID(records_.read(place_of(session),
                               {.after = after, .last = after + page_records_max},
                               [&](const RecordSeen& seen) {
                                 page.records.emplace_back(seen.record);
                                 return true;
                               }));
        return page;
      });
  // Only the runtime's snapshot must survive a power cut: the rest can be rebuilt.
  const Replace how = snapshot ? Replace::synced : Replace::unsynced;
  TRY_VOID(replace_file(disk_, session_file(session.id, SessionPart::snapshot),
                        encode_snapshot_view({.session = session.id,
                                              .last_seq = session.head,
                                              .state = state ? &*state : nullptr,
                                              .snapshot = snapshot}),
                        how));
  if (!state) return {};
  return replace_file(disk_, session_file(session.id, SessionPart::tokens),
                      encode_tokens_view(*state), Replace::unsynced);
}

}  // namespace perdure
