// Makes a journal from another program's session, in the format of /api/import. The same session
// yields the same bytes, ids included.
#pragma once

#include <cstdint>
#include <string>

#include "adopt/native_session.h"
#include "base/id.h"

namespace perdure::adopt {

// The session's origin, for the record that names it.
struct Provenance {
  std::string agent;
  std::string file;
  std::uint64_t bytes = 0;
};

// The whole file. A turn without an end stays open in it: the import closes open turns and marks
// their outcome as unknown.
std::string make_import(const NativeSession& session, const Provenance& from);

}  // namespace perdure::adopt
