// Interim: a node journal in memory, until the real one is merged.
#pragma once

#include "runtime/node.h"

namespace perdure {

class MemoryNode final : public Node {
 public:
  const NodeState& state() const override { return state_; }
  void create_task(NodeRequest, std::string, std::string, OnTask) override {}
  void change_task(NodeRequest, TaskId, TaskChange, OnTask) override {}
  void delete_task(NodeRequest, TaskId, OnDone) override {}
  void add_token(NodeRequest, TokenRow row, OnDone done) override {
    state_.tokens[row.id] = row;
    finish(done);
  }
  void revoke_token(NodeRequest, std::string id, OnDone done) override {
    state_.tokens.erase(id);
    finish(done);
  }
  void add_browser(NodeRequest, BrowserRow, OnDone) override {}
  void revoke_browser(NodeRequest, std::string, OnDone) override {}
  void add_rule(NodeRequest, PermissionRule, OnDone) override {}
  void remove_rule(NodeRequest, std::string, OnDone) override {}
  void add_tombstone(NodeRequest, Tombstone tombstone, OnDone done) override {
    state_.tombstones[tombstone.session] = tombstone;
    finish(done);
  }
  std::uint64_t watch(std::function<void()> changed) override {
    watchers_.emplace(++last_, std::move(changed));
    return last_;
  }
  void unwatch(std::uint64_t number) override { watchers_.erase(number); }

 private:
  void finish(OnDone& done) {
    done({});
    for (auto& [number, changed] : watchers_) changed();
  }
  NodeState state_;
  std::map<std::uint64_t, std::function<void()>> watchers_;
  std::uint64_t last_ = 0;
};

}  // namespace perdure
