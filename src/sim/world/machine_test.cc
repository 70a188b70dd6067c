// Simulated processes give the guarantees of real ones, as far as the supervisor relies on them.
#include "sim/world/machine.h"

#include <gtest/gtest.h>

#include "testing/store/family_conformance.h"

namespace perdure::sim {
namespace {

class Stage final : public FamilyStage, private Processes {
 public:
  Stage() {
    universe_.faults = Faults::none();
    root_ = machine_.add({mark_}, 0);
  }
  ~Stage() override { universe_.scheduler.close(); }

  Processes& processes() override { return *this; }
  Family family() override { return {root_->pid, mark_}; }
  std::int64_t bear(Birth how) override {
    return machine_.add({mark_}, how == Birth::below ? root_->group : 0)->pid;
  }
  std::int64_t bear_stranger() override { return machine_.add({"MARK=other"}, 0)->pid; }
  bool lives(std::int64_t pid) override { return machine_.find(pid) != nullptr; }
  bool until_gone(std::int64_t pid) override { return !lives(pid); }

 private:
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec&, ProcessEvents&) override {
    return fail(Code::unavailable, "not on this stage");
  }
  std::size_t kill_marked(const std::string&) override { return 0; }
  std::size_t kill_descendants() override { return 0; }
  ProcessSet offspring(const Family& family) override { return machine_.offspring(family); }
  ProcessSet signal_each(const ProcessSet& processes, int number) override {
    return machine_.signal_each(processes, number);
  }

  std::string mark_ = "MARK=1";
  Universe universe_{1};
  Machine machine_{universe_};
  ProcPtr root_;
};

TEST(SimMachine, P4_who_belongs_to_a_process_and_who_is_signalled) {
  Stage stage;
  check_family(stage);
}

}  // namespace
}  // namespace perdure::sim
