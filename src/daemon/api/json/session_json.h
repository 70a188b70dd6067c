// A session as JSON, in the one form that every route, stream and socket uses. Every member is
// always present, and null if it has no value, so that clients never guess.
#pragma once

#include <cstdint>
#include <string>

#include "base/json/json.h"
#include "core/views/inbox.h"
#include "core/views/read_model.h"

namespace perdure {

// Facts about a session that only the server knows.
struct ServedBeside {
  std::uint64_t connections = 0;  // streams and sockets that read it now (U10)
  std::string log_id;
  std::string doubt;       // why its liveness is not known
  std::string node = {};   // the owner, if it is another daemon on the store
  std::string login_hint;  // from the session's agent; shown when it needs a login (P12)
};
struct ApiWorld;
ServedBeside beside_session(ApiWorld& world, const SessionView& view);

// Whether the error means that a person must log in.
bool needs_login(std::string_view error_code);

// L28 and the contract's "Status and state".
std::string status_json(const SessionView& view, const ServedBeside& beside);
// The same plus title, queue, pending questions, workspace, options (L7, O30).
std::string session_json(const SessionView& view, const ServedBeside& beside);

// Writes null if the value is absent.
void write_text_or_null(JsonWriter& out, std::string_view text);
void write_time_or_null(JsonWriter& out, Timestamp at);
template <class AnyId>
void write_id_or_null(JsonWriter& out, const AnyId& id) {
  if (id.is_null()) {
    out.null();
  } else {
    out.string(id.text());
  }
}

}  // namespace perdure
