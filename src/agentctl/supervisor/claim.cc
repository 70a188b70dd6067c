#include "agentctl/supervisor/claim.h"

#include <string>

namespace perdure {
namespace {

// One line per start. The file is truncated at this size, about 1,800 starts: no start is late by
// that many.
constexpr std::uint64_t notes_bytes_max = 64UL << 10;

}  // namespace

Result<> check_start(Folder& run_folder, const Bootstrap& bootstrap) {
  const Result<std::string> notes =
      run_folder.read(session_lock_name(bootstrap.session), 0, 2 * notes_bytes_max);
  if (!notes && notes.error().code() == Code::not_found) return {};
  if (!notes) return std::unexpected(notes.error());
  if (!notes->contains(bootstrap.exec.text())) return {};
  return fail(Code::conflict, "this execution was started already: it ran before");
}

Result<> note_start(Folder& run_folder, const Bootstrap& bootstrap) {
  const std::string name = session_lock_name(bootstrap.session);
  const Result<std::uint64_t> size = run_folder.size(name);
  if (size && *size > notes_bytes_max) TRY_VOID(run_folder.truncate(name, 0));
  return run_folder.append(name, bootstrap.exec.text() + "\n");
}

Result<> claim_spool(Folder& folder) {
  if (!TRY(folder.list()).empty()) {
    return fail(Code::conflict, "the spool of this execution is there already: it ran before");
  }
  return folder.append("claimed", "\n");
}

}  // namespace perdure
