// All reads over HTTP: the list, single sessions, their records, rows and turns, the streams.
// Deletion is here too, because it first reads what it would remove.
#pragma once

#include "daemon/api/gate/route.h"
#include "daemon/api/streams/list_stream.h"
#include "daemon/api/streams/streams.h"
#include "daemon/api/world.h"
#include "daemon/runtime/care/redaction.h"
#include "daemon/runtime/reads/past.h"

namespace perdure {

class ReadRoutes {
 public:
  // World and slots (Api::streams()) must outlive it; it must outlive the router that it was added
  // to. `still_valid` is Gate::still_valid().
  ReadRoutes(ApiWorld& world, StreamSlots& slots, StillValid still_valid)
      : world_(world),
        streams_(world, slots, std::move(still_valid)),
        lists_(streams_),
        past_(world.runtime) {}

  ~ReadRoutes() { streams_.drop_all(); }

  void add_to(Router& router);
  // Sockets count as streams, too.
  Streams& streams() { return streams_; }
  std::size_t open_streams() const { return streams_.count(); }

 private:
  void add_list(Router& router);      // list_routes.cc
  void add_session(Router& router);   // read_routes.cc
  void add_text(Router& router);      // text_routes.cc
  void add_deletion(Router& router);  // delete_routes.cc

  // A handler that receives the session named by the first argument.
  using OfSession = Result<> (ReadRoutes::*)(Call& call, SessionId session);
  RouteHandler of_session(OfSession handler);
  void get(Router& router, std::string pattern, std::string summary, OfSession handler);

  Result<> sessions(Call& call);
  Result<> inbox(Call& call);
  Result<> executors(Call& call);
  Result<> search(Call& call);

  Result<> session(Call& call, SessionId session);
  Result<> status(Call& call, SessionId session);
  Result<> events(Call& call, SessionId session);
  Result<> rows(Call& call, SessionId session);
  Result<> page(Call& call, SessionId session);
  Result<> at(Call& call, SessionId session);
  Result<> density(Call& call, SessionId session);
  Result<> blob(Call& call, SessionId session);

  Result<> history(Call& call, SessionId session);
  Result<> transcript(Call& call, SessionId session);
  Result<> resume_context(Call& call, SessionId session);

  Result<> delete_preview(Call& call, SessionId session);
  Result<> remove(Call& call, SessionId session);
  SecretMask secrets_of(SessionId session) const;
  Result<> redact(Call& call, SessionId session);
  Result<> redact_ids(Call& call);
  void redact_noted(Call call, RedactionOrder order);
  // Tells what a deletion would take, under this status.
  Result<> answer_preview(Call& call, SessionId session, int status);

  const std::string& log_id() { return world_.runtime.store().log_id(); }

  ApiWorld& world_;
  Streams streams_;
  ListStreams lists_;
  KeptPast past_;
};

}  // namespace perdure
