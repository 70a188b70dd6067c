// What a SqliteStore is made of. The writer and the readers share the index and nothing else.
#pragma once

#include <memory>

#include "store_sqlite/extents.h"
#include "store_sqlite/reader.h"
#include "store_sqlite/session_index.h"
#include "store_sqlite/sqlite_store.h"
#include "store_sqlite/writer.h"

namespace perdure {

struct SqliteStore::Parts {
  explicit Parts(const SqliteOptions& options)
      : index(options.sessions_cached_max),
        readers({.path = options.path, .vfs = options.vfs, .flags = SQLITE_OPEN_READONLY},
                options.readers_max) {}

  // The session as of now, with the places of the records in `range` that are only in memory.
  Result<IndexedView> view(StoreReader& reader, SessionId session, SeqRange range);

  // Reads all of the session's records; what is wrong goes to the report.
  Result<> verify_session(StoreReader& reader, SessionId session, VerifyReport& report);

  SessionIndex index;
  std::unique_ptr<Writer> writer;
  ReaderPool readers;  // closed before the writer's connection
};

}  // namespace perdure
