// Runs a fork: copies page by page, so that a long session needs no more memory than a short one.
// The new session is listed by its last commit. One that needs several has a mark in its outbox
// until then, so that what a crash leaves of it is no session and is taken away at the next boot.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/shared.h"
#include "runtime/transfer.h"
#include "session/fork.h"
#include "store/store.h"

namespace perdure {

struct ForkOrder {
  SessionId from;
  Seq at = 0;  // 0: all
  SessionId to;
  std::string by;
  // Given: the records come out of this file, and `from` is the session it was made of. Nothing of
  // it is trusted (CopyKind::imported).
  std::shared_ptr<ParsedExport> file;
  // Given with a file: another program's session, bound to this (CopyKind::adopted).
  std::optional<AdoptedBinding> binding = {};
};

// Answers once, when the whole copy is durable. not_found, cursor_invalid or conflict change
// nothing.
void start_fork(ActorShared& shared, ForkOrder order, ReplyFn reply);

// Whether these are the rows of a fork that is not whole.
bool is_unfinished_fork(const std::vector<OutboxRow>& outbox);
// Marks a journal that is not a session as such a fork: no version lists it or opens it.
void mark_as_no_session(Append& append);
// Takes the session away when it is such a fork; says whether it was one. For the boot, when no
// fork is under way.
bool drop_unfinished_fork(Store& store, SessionId session);

}  // namespace perdure
