// A fork: records 1…at of a session copied into a new one, then everything that was open in them
// closed. Nothing carries over that could act: no run, no wait, no queue, no execution, and not the
// agent's own session, which goes on belonging to the original.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "session/machine.h"

namespace perdure {

// Where the records come from. Those of a file bring nothing along that could reach or run
// anything here: agent and its options, folder, MCP servers and environment are bound anew by a
// person (C13), and so they are in whatever is forked of an import. Those of an
// adoption are bound by whoever asks for it, and keep the agent's own session.
enum class CopyKind { forked, imported, adopted };
ENUM_TEXT(CopyKind, "forked", "imported", "adopted");

// What an adoption is bound to; nothing of it is taken from the file.
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

  // The copies of these records, which follow those given before.
  std::vector<Event> copy(std::span<const Record> records);
  // Whether members of such a record that this version does not know are copied with it: not where
  // they could bring along what must not come (C13).
  bool keeps_unknown(const EventBody& body) const;
  // What closes the copy, to be called once after the last record.
  std::vector<Event> close();

  // The fold of all events given so far.
  const State& state() const { return state_; }

 private:
  void take_away_reach(EventBody& body) const;
  void bind(EventBody& body) const;
  void add(std::vector<Event>& out, EventBody body, Origin origin = {});

  Order order_;
  State state_;
};

}  // namespace perdure
