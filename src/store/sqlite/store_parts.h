// The parts of a SqliteStore. The writer and the readers share only the index.
#pragma once

#include <memory>

#include "store/sqlite/index/extents.h"
#include "store/sqlite/index/session_index.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/writer.h"

namespace perdure {

struct SqliteStore::Parts {
  explicit Parts(const SqliteOptions& options)
      : index(options.sessions_cached_max),
        readers({.path = options.path, .vfs = options.vfs, .flags = SQLITE_OPEN_READONLY},
                options.readers_max) {}

  // The session's current state, with the positions of records in `range` held only in memory.
  Result<IndexedView> view(StoreReader& reader, SessionId session, SeqRange range);

  // Reads all of the session's records; adds damage to the report.
  Result<> verify_session(StoreReader& reader, SessionId session, VerifyReport& report);

  SessionIndex index;
  std::unique_ptr<Writer> writer;
  ReaderPool readers;  // closed before the writer's connection
};

}  // namespace perdure
