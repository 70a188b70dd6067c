#include "perdure/verbs/verbs.h"

#include <algorithm>
#include <iterator>

namespace perdure::cli {

const std::vector<Verb>& all_verbs() {
  static const std::vector<Verb> verbs = [] {
    std::vector<Verb> unsorted;
    for (const auto group : {live_verbs, prompt_verbs, lifecycle_verbs, open_verbs, read_verbs,
                             decide_verbs, rule_verbs, care_verbs, audit_verbs, agent_verbs,
                             adopt_verbs, store_verbs, remote_verbs, plumbing_verbs}) {
      std::ranges::move(group(), std::back_inserter(unsorted));
    }
    std::vector<Verb> out;
    const auto take = [&](const auto& is_next) {
      std::ranges::copy_if(unsorted, std::back_inserter(out), is_next);
    };
    for (const Group group :
         {Group::live, Group::open, Group::read, Group::decide, Group::care, Group::plumbing}) {
      take([&](const Verb& verb) { return !verb.is_hidden && verb.group == group; });
    }
    take([](const Verb& verb) { return verb.is_hidden; });
    return out;
  }();
  return verbs;
}

}  // namespace perdure::cli
