// Waits until a resume ladder has ended and makes its receipt. It reads the session's records like
// any other client, so that what it tells is what was journalled, and folds them itself, so that
// the receipt is of the moment of the boundary and not of what came behind it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "env/env.h"
#include "runtime/runtime.h"
#include "session/receipt.h"

namespace perdure {

class ResumeWait final : public RecordSink {
 public:
  struct Order {
    SessionId session;
    State before;   // as it was when the resume was asked for
    Seq after = 0;  // records behind this one are looked at; below before.head for a repeat
  };
  struct Outcome {
    std::optional<Receipt> receipt;  // nothing: it took longer than resume_answer_ms
    bool failed = false;             // no rung served
  };
  using Done = std::move_only_function<void(Outcome)>;
  struct Ports {
    Runtime& runtime;
    Loop& loop;
  };

  ResumeWait(Ports ports, Order order, Done done);
  ~ResumeWait() override;
  // Begins; the answer comes later, from the loop, exactly once.
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
  std::optional<State> later_;  // of a repeat, whose own moment cannot be folded any more
  SubscriptionId subscription_ = 0;
  Loop::TimerId timer_ = 0;
  bool exact_ = false;  // order_.before has been folded up to the record that is looked at
  bool ended_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// {"rung": 3, "rung_name": "load", …}: every member is there.
std::string receipt_json(const Receipt& receipt);

}  // namespace perdure
