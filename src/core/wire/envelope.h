// The common members of the records in both journals: number, time, kind, and the hash of the
// previous record. Sessions and the node share this decoder.
#pragma once

#include <string>
#include <string_view>

#include "base/json/fields_json.h"

namespace perdure {

// Takes a required member; the error names it.
template <class T>
Decoded take_required(Members& members, std::string_view name, T& out) {
  const std::string_view raw = members.take(name);
  std::string unknown;
  Decoded decoded = raw.empty() ? Decoded(wrong("it is missing")) : decode_value(raw, out, unknown);
  if (!decoded) decoded.error().inside(name);
  return decoded;
}

// `out` has seq, at, kind and prev.
Decoded decode_envelope(Members& members, auto& out) {
  if (auto d = take_required(members, "seq", out.seq); !d) return d;
  if (out.seq == 0) return std::unexpected(FieldError{"seq", "it starts at 1"});
  if (auto d = take_required(members, "ts", out.at); !d) return d;
  if (auto d = take_required(members, "kind", out.kind); !d) return d;
  if (out.kind.empty()) return std::unexpected(FieldError{"kind", "it is empty"});
  return take_required(members, "prev", out.prev);
}

}  // namespace perdure
