// Runs a fork: copies page by page, so that memory use does not grow with the session. The last
// commit lists the new session. A fork of several commits has a mark in its outbox until then;
// after a crash the rest is therefore not a session, and the next boot removes it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/session/transitions/fork.h"
#include "daemon/runtime/care/transfer.h"
#include "daemon/runtime/shared.h"
#include "store/store.h"

namespace perdure {

struct ForkOrder {
  SessionId from;
  Seq at = 0;  // 0: all
  SessionId to;
  std::string by;
  // If set: the records come from this file, and `from` is the exported session. Nothing in the
  // file is trusted (CopyKind::imported).
  std::shared_ptr<ParsedExport> file;
  // Only with a file: another program's session, bound to this (CopyKind::adopted).
  std::optional<AdoptedBinding> binding = {};
};

// Answers once, when the whole copy is durable. not_found, cursor_invalid or conflict change
// nothing.
void start_fork(ActorShared& shared, ForkOrder order, ReplyFn reply);

// Whether these rows belong to an incomplete fork.
bool is_unfinished_fork(const std::vector<OutboxRow>& outbox);
// Marks a journal that is not a session as an incomplete fork: no version lists or opens it.
void mark_as_no_session(Append& append);
// Removes the session if it is an incomplete fork; returns whether it was one. For the boot, when
// no fork is running.
bool drop_unfinished_fork(Store& store, SessionId session);

}  // namespace perdure
