// Judges all journals. Sees every batch on its way to the disk and everything durable; keeps one
// Ledger per session; provides the facts against which clients, readers and processes are checked.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/judges/ledger.h"
#include "sim/world/disk.h"
#include "sim/world/host.h"
#include "sim/world/universe.h"

namespace perdure::sim {

// A daemon's life.
struct DaemonLife {
  std::uint64_t number = 0;
  BootId boot;
};

class Judge final : public WorldFacts, public HostWatcher {
 public:
  Judge(Universe& universe, Disk& disk) : universe_(universe), disk_(disk) {}
  // The host is created after its judge.
  void set_host(const Host& host) { host_ = &host; }

  // The number of a batch between the runtime and the store.
  using BatchNumber = std::uint64_t;
  // A batch from this daemon life.
  BatchNumber on_append(const Append& batch, const DaemonLife& by);
  // The batch is durable and checked, or refused: in both cases it is finished.
  void on_ended(SessionId session, BatchNumber number);
  // Whether an unfinished batch of this life stores an answer under this key.
  bool is_undecided(const std::string& key, std::uint64_t life) const;
  // Reads what has become durable.
  void catch_up(SessionId session);
  // That life is over, and the disk has decided which of its batches are stored.
  void on_crash(std::uint64_t life);
  // Only half a fork, or a session that was to be deleted, may be removed.
  void on_removed(SessionId session);
  void expect_removal(SessionId session) { unwanted_.insert(session); }
  bool is_to_be_removed(SessionId session) const { return unwanted_.contains(session); }

  Ledger& ledger(SessionId session);
  const std::map<SessionId, std::unique_ptr<Ledger>>& ledgers() const { return ledgers_; }

  // Compares the daemon's view of a session with the journal (J4).
  void check_state(const State& state);
  // Compares bytes on disk with those read when they were committed (J2, DISK3).
  void check_bytes(SessionId session, Seq seq);
  void check_all_bytes();

  // We damaged a record of this session.
  void set_damaged(SessionId session) { damaged_.insert(session); }
  bool is_damaged(SessionId session) const override { return damaged_.contains(session); }

  // The snapshot is unusable: we flipped a bit of it, or it is not a session's.
  void set_snapshot_damaged(SessionId session) { bad_snapshots_.insert(session); }
  bool may_lack_snapshot(SessionId session) const;

  void note_answer(AnswerGiven answer);
  void note_prompt(const std::string& key, PromptWhen when) { prompts_[key] = when; }
  void note_workspace(SessionId session) { workspaces_.insert(session); }
  void note_told(SessionId session, const Notify& what) {
    told_[session].insert({what.what, what.run});
  }
  // At rest: every required notification was sent.
  void check_told(SessionId session);

  bool execution_lives(const ExecKey& exec) const override { return host_->lives(exec); }
  const Frame* find_frame(const ExecKey& exec, FrameNo number) const override;
  bool answer_was_sent(const AnswerGiven& answer) const override;
  std::optional<PromptWhen> when_of(const std::string& key) const override;
  bool are_several() const override { return universe_.has_several_daemons; }
  bool workspace_was_asked(SessionId session) const override {
    return workspaces_.contains(session);
  }
  BootId boot() const override { return boot_; }
  Moment now() override { return universe_.clock.now(); }

  void on_start(const LaunchSpec& spec) override;
  void on_command_acted(const ExecKey& exec, const SendCommand& command) override;
  void on_frames_acked(const ExecKey& exec, FrameNo frame) override;
  bool was_declared_dead(const ExecKey& exec) override;
  bool has_ended(const ExecKey& exec) override;

 private:
  struct Pending {
    BatchNumber number = 0;
    Append batch;  // without its records
    std::size_t records = 0;
    std::uint64_t last_hash = 0;  // of its last record: records are chained
    std::set<std::string> keys = {};
    DaemonLife by = {};
  };
  void check_copy(std::string_view bytes);
  // The batch that contains the record after the ledger's last; null: none.
  const Pending* bringer(SessionId session, const Ledger& book);

  Universe& universe_;
  Disk& disk_;
  const Host* host_ = nullptr;
  std::map<SessionId, std::unique_ptr<Ledger>> ledgers_;
  std::map<SessionId, std::deque<Pending>> pending_;
  BatchNumber last_batch_ = 0;
  BootId boot_;  // of the daemon whose records are checked
  std::set<SessionId> damaged_;
  std::set<SessionId> unwanted_;
  std::set<SessionId> bad_snapshots_;
  std::set<std::tuple<std::string, PermissionId, WaitTokenId, std::string>> answers_;
  std::map<SessionId, std::set<std::pair<NotifyWhat, RunId>>> told_;
  std::map<std::string, PromptWhen> prompts_;
  std::set<SessionId> workspaces_;
  std::map<ExecKey, std::size_t> acted_;
};

}  // namespace perdure::sim
