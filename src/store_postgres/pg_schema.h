// The tables, as numbered migrations, and the beginning of a life on them: a node's new instance
// raises the epoch and shuts out the one before. docs/protocol/postgres.md describes the schema.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store_postgres/pg_link.h"

namespace perdure {

struct PgBegin {
  std::string node;             // the name of this daemon among those on one database
  std::string home;             // where its agents live
  std::string instance;         // of this process, to be told from others by a person
  std::string new_log_id;       // for a new store, or one that was restored elsewhere
  std::string new_shared_key;   // for a store without one; empty: none is made
  std::uint64_t epoch_min = 0;  // the epoch of this life is a later one
  enum class Missing { make, refuse } missing = Missing::make;
  enum class Others { welcome, refuse } others = Others::welcome;  // refuse: they are a conflict
  std::int64_t lease_ms = 0;  // a node that was not heard of for so long is gone
};

struct PgLife {
  std::uint64_t epoch = 0;
  std::string log_id;
  std::string shared_key;
};

// What the daemons of a database tell each other by NOTIFY.
inline constexpr const char* pg_channel = "perdure";

// In one transaction: brings the schema up to date (under a lock, so that two do not do it at once)
// and begins a life. format_too_new: a newer version made it. conflict: another node is at work
// that is of an older version, or that was not to be there. not_found: there is none, and none is
// to be made. After an error nothing is changed.
Result<PgLife> begin_life(PgLink& link, const PgBegin& begin);

// Whether a store is in that database.
Result<bool> has_store(PgLink& link);

}  // namespace perdure
