// Makes a journal of a session that another program left, in the form that /api/import takes. The
// same session gives the same bytes, ids included.
#pragma once

#include <cstdint>
#include <string>

#include "adopt/native_session.h"
#include "base/id.h"

namespace perdure::adopt {

// Where it was found, for the record that says so.
struct Provenance {
  std::string agent;
  std::string file;
  std::uint64_t bytes = 0;
};

// The whole file. A turn that has no end stays open in it: the import closes what is open, and says
// that nobody knows what became of it.
std::string make_import(const NativeSession& session, const Provenance& from);

}  // namespace perdure::adopt
