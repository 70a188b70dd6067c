// The node on a store: waiting commands are decided in batches, each against the state resulting
// from the previous ones, and answered after the commit that holds them. One commit is in flight; a
// store error drops the whole batch, and after an fsync error no command is answered at all.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/registry/node_events.h"
#include "daemon/registry/node_load.h"

namespace perdure {

class NodeJournal final : public Node {
 public:
  NodeJournal(World world, LoadedNode loaded);

  const NodeState& state() const override { return state_; }
  void create_task(NodeRequest request, std::string title, std::string description,
                   OnTask done) override;
  void change_task(NodeRequest request, TaskId task, TaskChange change, OnTask done) override;
  void delete_task(NodeRequest request, TaskId task, OnDone done) override;
  void add_token(NodeRequest request, TokenRow row, OnDone done) override;
  void revoke_token(NodeRequest request, std::string id, OnDone done) override;
  void add_browser(NodeRequest request, BrowserRow row, OnDone done) override;
  void revoke_browser(NodeRequest request, std::string id, OnDone done) override;
  void add_rule(NodeRequest request, PermissionRule rule, OnDone done) override;
  void add_typed_rule(NodeRequest request, TypedRule rule, OnDone done) override;
  void remove_rule(NodeRequest request, std::string id, OnDone done) override;
  void add_tombstone(NodeRequest request, Tombstone tombstone, OnDone done) override;
  void redact(NodeRequest request, std::vector<std::string> ids, OnDone done) override;
  Result<std::string> shown_id(const std::string& key) override;
  std::uint64_t watch(std::function<void()> changed) override;
  void unwatch(std::uint64_t number) override { watchers_.erase(number); }
  Result<bool> catch_up() override;

 private:
  using Reply = std::move_only_function<void(Result<std::string>)>;  // the answer as JSON

  struct Waiting {
    NodeRequest request;
    NodeCommand command;
    Reply reply;
    int tries = 0;
  };
  struct Taken {
    Waiting waiting;
    Result<std::string> answer;
    bool stands = false;  // from the store: valid even if the commit fails
  };
  struct Batch {
    NodeState state;
    Hash head_hash;
    std::vector<std::string> records;
    std::vector<StoredAnswer> answers;
    std::vector<Taken> taken;
    bool essential = false;
  };

  void submit(NodeRequest request, NodeCommand command, Reply reply);
  void submit_done(NodeRequest request, NodeCommand command, OnDone done);
  void submit_task(NodeRequest request, NodeCommand command, OnTask done);
  // The task that an answer speaks of, as it is now.
  Result<Task> answered_task(const std::string& answer) const;
  void schedule();
  void pump();
  void take(Batch& batch, Waiting waiting);
  Result<std::string> decide_one(Batch& batch, const Waiting& waiting);
  // The stored or pending answer to a repeated key; absent for a new key.
  std::optional<Taken> repeated(const Batch& batch, const Waiting& waiting);
  void commit(std::unique_ptr<Batch> batch);
  void on_committed(const Result<>& result);
  void on_durable(Batch& batch);
  void tell_watchers();
  void on_refused(Batch& batch, const Error& error);

  World world_;
  NodeState state_;
  Hash head_hash_;
  Seq snapshot_at_ = 0;
  std::deque<Waiting> inbox_;
  std::unique_ptr<Batch> in_flight_;
  bool scheduled_ = false;
  std::optional<Error> failed_;  // the store no longer accepts this journal
  std::map<std::uint64_t, std::function<void()>> watchers_;
  std::uint64_t last_watcher_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure
