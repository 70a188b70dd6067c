// Whose the sessions are, and which nodes there are. All of it goes over the connections for reads:
// the daemon's loop asks, and must not wait behind a commit. Who was silent is the server's clock
// to say, which only decides whether a lease may be taken; that the one before writes no more is
// what the lease's epoch does, in each commit.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "store/engine.h"
#include "store_postgres/pg_readers.h"

namespace perdure {

class PgLeases {
 public:
  struct Setting {
    std::string node;
    std::string home;
    std::uint64_t epoch = 0;    // of this life
    std::int64_t lease_ms = 0;  // a node that was not heard of for so long is silent
  };
  // The connections have to outlive it.
  PgLeases(PgReaders& readers, Setting setting) : readers_(readers), setting_(std::move(setting)) {}

  // See Store and StoreEngine for these. Of a life that was replaced own() and announce() say
  // stale_owner.
  Result<Lease> own(SessionId session);
  Result<std::vector<SessionId>> open_sessions();
  Result<std::vector<SessionId>> orphans(std::size_t limit);
  Result<std::vector<SessionId>> lost(std::span<const OwnedSession> owned);
  Result<> offer(const OwnedSession& owned, const std::string& home);
  // Those heard of last, at most 1,000; one that said farewell was heard of -1 ms ago.
  Result<std::vector<StoreNode>> nodes();
  Result<std::map<SessionId, std::string>> owners(std::span<const SessionId> sessions);
  Result<> announce(const std::string& address);

 private:
  Error replaced() const;

  PgReaders& readers_;
  const Setting setting_;
};

}  // namespace perdure
