// The tables, as numbered migrations, and the start of a life: a node's new instance raises the
// epoch and shuts out the previous one. Schema: docs/protocol/postgres.md.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/postgres/link/pg_link.h"

namespace perdure {

struct PgBegin {
  std::string node;             // this daemon's name, unique on the database
  std::string home;             // where its agents live
  std::string instance;         // of this process, for people to identify it
  std::string new_log_id;       // for a new store, or one restored elsewhere
  std::string new_shared_key;   // for a store without one; empty: none is created
  std::uint64_t epoch_min = 0;  // this life's epoch is above this
  enum class Missing { make, refuse } missing = Missing::make;
  enum class Others { welcome, refuse } others = Others::welcome;  // refuse: they are a conflict
  std::int64_t lease_ms = 0;  // a node without a sign of life for this long is gone
};

struct PgLife {
  std::uint64_t epoch = 0;
  std::string log_id;
  std::string shared_key;
};

// The NOTIFY channel of the daemons on one database.
inline constexpr const char* pg_channel = "perdure";

// In one transaction: migrates the schema (under a lock, so that only one node does so at a time)
// and begins a life. format_too_new: a newer version created it. conflict: another live node has an
// older version, or no other node is allowed. not_found: the store is missing and must not be
// created. After an error nothing is changed.
Result<PgLife> begin_life(PgLink& link, const PgBegin& begin);

// Whether the database contains a store.
Result<bool> has_store(PgLink& link);

}  // namespace perdure
