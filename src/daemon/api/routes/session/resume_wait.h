// Waits until a resume ladder has ended and makes its receipt. It reads the session's records like
// any client, so that it reports what was journalled. It folds them itself, so that the receipt
// describes the moment of the boundary and not a later one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "core/views/receipt.h"
#include "daemon/runtime/runtime.h"
#include "env/env.h"

namespace perdure {

class ResumeWait final : public RecordSink {
 public:
  struct Order {
    SessionId session;
    State before;   // at the time of the resume request
    Seq after = 0;  // only later records are examined; below before.head for a repeat
  };
  struct Outcome {
    std::optional<Receipt> receipt;  // absent: it took longer than resume_answer_ms
    bool failed = false;             // no rung succeeded
  };
  using Done = std::move_only_function<void(Outcome)>;
  struct Ports {
    Runtime& runtime;
    Loop& loop;
  };

  ResumeWait(Ports ports, Order order, Done done);
  ~ResumeWait() override;
  // Starts. The answer comes later, from the loop, exactly once.
  void start();

  std::size_t room() const override { return ended_ ? 0 : 100; }
  void on_records(Seq first, std::span<const std::shared_ptr<const std::string>> records) override;
  void on_cut(Seq cursor) override;

 private:
  void look_at(const Event& event);
  void end(Outcome outcome);
  const State& state_then();

  Ports ports_;
  Order order_;
  Done done_;
  std::optional<State> later_;  // for a repeat, whose own state can no longer be folded
  SubscriptionId subscription_ = 0;
  Loop::TimerId timer_ = 0;
  bool exact_ = false;  // order_.before has been folded up to the current record
  bool ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// {"rung": 3, "rung_name": "load", …}: every member is present.
std::string receipt_json(const Receipt& receipt);

}  // namespace perdure
