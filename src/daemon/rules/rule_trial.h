// Tries a rule on past questions before it is saved: how many it would have decided, and which.
// Reads the journal in portions, yielding to the loop in between, newest sessions first, and ends
// at a number of records or a time, whichever comes first. Symlinks are ignored: which ones existed
// then is unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/registry/node.h"
#include "daemon/runtime/reads/session_list.h"
#include "daemon/runtime/runtime.h"

namespace perdure {

struct TriedQuestion {
  SessionId session;
  std::string session_title;
  PermissionId permission;
  Seq seq = 0;  // of its record
  Timestamp at;
  std::string title;
  std::string command;
  std::string answer;      // its outcome: allow_once, reject_once …, cancelled, expired, open
  std::string by;          // who answered
  bool overruled = false;  // another rule, which asks or denies, would have taken precedence
};

struct RuleTrial {
  std::int64_t days = 0;
  std::uint64_t questions = 0;           // asked in these days
  std::uint64_t matched = 0;             // that the rule would have decided
  std::uint64_t overruled = 0;           // also matched, but another rule takes precedence
  std::uint64_t answered_otherwise = 0;  // of the matched: the actual answer differed
  bool is_complete = true;               // false: some questions were not examined
  std::vector<TriedQuestion> list;       // matched and overruled ones, newest first, bounded
};

struct RuleTrialAsk {
  TypedRule rule;
  std::optional<PermissionRule> exact = {};  // this one instead of `rule`
  std::int64_t days = 30;
};

using OnTried = std::move_only_function<void(RuleTrial)>;

// Answers once, on the loop, never within the call. All arguments but the rule outlive the trial.
void try_rule(Runtime& runtime, const Node& node, Clock& clock, RuleTrialAsk ask, OnTried done);

}  // namespace perdure
