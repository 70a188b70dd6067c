// The tables, as numbered migrations, and the beginning of a life on them: a node's new instance
// raises the epoch and shuts out the one before. docs/protocol/postgres.md describes the schema.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store_postgres/pg_link.h"

namespace perdure {

struct PgBegin {
  std::string node;        // the name of this daemon among those on one database
  std::string instance;    // of this process, to be told from others by a person
  std::string new_log_id;  // for a new store, or one that was restored elsewhere
  enum class Missing { make, refuse } missing = Missing::make;
  std::int64_t silence_ms = 0;  // another node that was heard of since is a conflict
};

struct PgLife {
  std::uint64_t epoch = 0;
  std::string log_id;
};

// In one transaction: brings the schema up to date (under a lock, so that two do not do it at once)
// and begins a life. format_too_new: a newer version made it. conflict: another node is at work.
// not_found: there is none, and none is to be made. After an error nothing is changed.
Result<PgLife> begin_life(PgLink& link, const PgBegin& begin);

// Whether a store is in that database.
Result<bool> has_store(PgLink& link);

}  // namespace perdure
