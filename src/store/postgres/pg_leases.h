// The owners of sessions, and the known nodes. Uses the connections for reads, because the daemon's
// loop calls it and must not wait for a commit. The server's clock decides which nodes are silent,
// and so only whether a lease may be taken; the lease's epoch, checked in each commit, is what
// stops the previous owner from writing.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "store/engine.h"
#include "store/postgres/pg_readers.h"

namespace perdure {

class PgLeases {
 public:
  struct Setting {
    std::string node;
    std::string home;
    std::uint64_t epoch = 0;    // of this life
    std::int64_t lease_ms = 0;  // a node without a sign of life for this long is silent
  };
  // The connections must outlive this object.
  PgLeases(PgReaders& readers, Setting setting) : readers_(readers), setting_(std::move(setting)) {}

  // See Store and StoreEngine. own() and announce() return stale_owner if this life was replaced.
  Result<Lease> own(SessionId session);
  Result<std::vector<SessionId>> open_sessions();
  Result<std::vector<SessionId>> orphans(std::size_t limit);
  Result<std::vector<SessionId>> lost(std::span<const OwnedSession> owned);
  Result<> offer(const OwnedSession& owned, const std::string& home);
  // The 1,000 nodes with the latest signs of life; -1 ms: the node said farewell.
  Result<std::vector<StoreNode>> nodes();
  Result<std::map<SessionId, std::string>> owners(std::span<const SessionId> sessions);
  Result<> announce(const std::string& address);

 private:
  Error replaced() const;

  PgReaders& readers_;
  const Setting setting_;
};

}  // namespace perdure
