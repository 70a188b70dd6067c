#include "daemon/setup/leftovers.h"

#include <filesystem>
#include <set>
#include <string>

#include "daemon/registry/node.h"
#include "daemon/runtime/audit/audit_index.h"

namespace perdure {
namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_below(const fs::path& path) {
  std::error_code error;
  std::uint64_t bytes = 0;
  if (fs::is_regular_file(path, error)) return fs::file_size(path, error);
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) bytes += entry.file_size(error);
  }
  return bytes;
}

}  // namespace

Result<std::vector<SessionId>> sessions_of(StoreEngine& store) {
  constexpr std::size_t page = 1000;
  std::vector<SessionId> out;
  SessionId after;
  while (true) {
    const std::vector<ListedSession> listed = TRY(store.list(after, page));
    if (listed.empty()) return out;
    for (const ListedSession& each : listed) {
      if (each.session == Node::journal_id() || is_audit_journal(each.session)) continue;
      out.push_back(each.session);
    }
    after = listed.back().session;
  }
}

Result<ApiWorld::Collected> collect_leftovers(const DataFolder& data, StoreEngine& store,
                                              const CollectOrder& order) {
  std::set<std::string> known;
  for (const SessionId session : TRY(sessions_of(store))) known.insert(session.text());
  ApiWorld::Collected out;
  const auto take = [&](const fs::path& path, const std::string& session) {
    // Folders with other names were not created by us.
    const Result<SessionId> id = SessionId::parse(session);
    if (known.contains(session) || !id) return;
    const auto made_ms = static_cast<std::int64_t>(id->ulid().high >> 16);
    if (order.made_before && made_ms >= order.made_before->ms) return;
    std::error_code error;
    out.bytes += bytes_below(path);
    out.removed.push_back(path.string() + ": of session " + session + ", which is gone");
    if (order.how == ApiWorld::Collect::take) fs::remove_all(path, error);
  };
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(data.environments(), error)) {
    take(entry.path(), entry.path().stem());
  }
  for (const auto& entry : fs::directory_iterator(data.workspaces(), error)) {
    const std::string name = entry.path().filename();
    constexpr std::string_view prefix = "session_";
    if (name.starts_with(prefix)) take(entry.path(), name.substr(prefix.size()));
  }
  return out;
}

}  // namespace perdure
