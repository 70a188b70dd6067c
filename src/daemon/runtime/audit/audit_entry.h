// One entry of the audit trail: who did what, from where, on which ids, and with which outcome. It
// holds only ids and names, never a secret, a prompt or an agent's text, so that no entry ever
// needs redaction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/fields.h"
#include "base/time.h"

namespace perdure {

// Longer texts are cut; further ids are omitted.
inline constexpr std::size_t audit_text_bytes_max = 512;
inline constexpr std::size_t audit_ids_max = 16;

// The outcome of an action that is allowed and starts. If the action then fails, a second entry has
// the error's code as outcome and the first one's number in `of`.
inline constexpr std::string_view audit_ok = "ok";

// Kinds of routes, as far as their refusals are to be told apart.
enum class RouteClass { none, login, open, observe, operate, answer, admin };

struct AuditEntry {
  std::string what;             // token.create, question.answer, request.refuse, …
  std::string by;               // the principal's id; empty: not identified
  std::string how;              // token "ci", page, unix socket, rule, daemon
  std::string from;             // an address, or unix
  std::vector<std::string> on;  // ids of sessions, tokens, questions, rules
  std::string outcome = std::string(audit_ok);
  std::string text;         // a short sentence for people
  std::uint64_t count = 1;  // equal events that this entry stands for
  std::uint64_t of = 0;     // the entry whose outcome this one reports; 0: none
  std::string node;         // which daemon, if several share a database; set by Audit
  // The action revokes a right and must also be possible on a full disk. Not stored.
  bool essential = false;
  // Of a refusal: what kind of route it was. Different kinds are never counted as one. Not stored.
  RouteClass route = RouteClass::none;

  bool operator==(const AuditEntry&) const = default;
  // `what` is stored as the record's kind.
  FIELDS {
    visit("by", self.by);
    visit("how", self.how);
    visit("from", self.from);
    visit("on", self.on);
    visit("outcome", self.outcome);
    visit("text", self.text);
    visit("count", self.count);
    visit("of", self.of);
    visit("node", self.node);
  }
};

struct AuditRecord {
  std::uint64_t seq = 0;  // 1, 2, 3 … over the whole trail; never reused
  Timestamp at;
  AuditEntry entry;
  bool operator==(const AuditRecord&) const = default;
};

}  // namespace perdure
