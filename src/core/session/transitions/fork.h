// A fork: records 1…at of a session copied into a new one, followed by records that close what
// they left open. Nothing that could act carries over: no run, wait, queue or execution, nor the
// agent's own session, which still belongs to the original.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/session/machine.h"

namespace perdure {

// The source of the records. Records from a file must not give access to anything on this host: a
// person binds agent, options, folder, MCP servers and environment again (C13), also in forks of an
// import. For an adoption, the requester binds them, and the agent's own session is kept.
enum class CopyKind { forked, imported, adopted };
ENUM_TEXT(CopyKind, "forked", "imported", "adopted");

// The bindings of an adoption; none of them come from the file.
struct AdoptedBinding {
  AgentProfile agent;
  std::string agent_session_id;
  std::string cwd;
  Policy policy;
};

class Forker {
 public:
  struct Order {
    SessionId from;
    SessionId to;
    std::string by;
    Moment now;
    CopyKind kind = CopyKind::forked;
    AdoptedBinding binding = {};  // with CopyKind::adopted
  };
  explicit Forker(Order order) : order_(std::move(order)) {}

  // Copies of these records, which follow those passed before.
  std::vector<Event> copy(std::span<const Record> records);
  // Whether to copy members of such a record that this version does not know: not if they could
  // carry over what must not be copied (C13).
  bool keeps_unknown(const EventBody& body) const;
  // The events that close the copy. Call once, after the last record.
  std::vector<Event> close();

  // The fold of all events so far.
  const State& state() const { return state_; }

 private:
  void take_away_reach(EventBody& body) const;
  void bind(EventBody& body) const;
  void add(std::vector<Event>& out, EventBody body, Origin origin = {});

  Order order_;
  State state_;
};

}  // namespace perdure
