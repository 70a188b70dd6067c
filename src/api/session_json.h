// A session as JSON: the one form in which every route, stream and socket shows it. Every member is
// always there, null where there is nothing, so that a client never has to guess.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "session/inbox.h"
#include "session/read_model.h"

namespace perdure {

// What only the server knows of a session.
struct ServedBeside {
  std::uint64_t connections = 0;  // streams and sockets that read it now (U10)
  std::string log_id;
  std::string doubt;       // why its liveness is not known
  std::string node = {};   // whose it is, when that is another daemon of the store
  std::string login_hint;  // of the session's agent: told when it needs a login (P12)
};
struct ApiWorld;
ServedBeside beside_session(ApiWorld& world, const SessionView& view);

// Whether an error says that a person has to log in.
bool needs_login(std::string_view error_code);

// L28 and the contract's "Status and state".
std::string status_json(const SessionView& view, const ServedBeside& beside);
// The same and everything else: title, queue, pending questions, workspace, options (L7, O30).
std::string session_json(const SessionView& view, const ServedBeside& beside);

// A value that may be absent: null then.
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
