#include "daemon/api/routes/session/resume_wait.h"

#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "core/session/machine.h"
#include "core/wire/journal/record.h"

namespace perdure {

ResumeWait::ResumeWait(Ports ports, Order order, Done done)
    : ports_(ports), order_(std::move(order)), done_(std::move(done)) {}

ResumeWait::~ResumeWait() {
  ports_.loop.cancel(timer_);
  if (subscription_ != 0) ports_.runtime.unsubscribe(subscription_);
}

void ResumeWait::start() {
  const Result<SubscriptionId> reading =
      ports_.runtime.subscribe(order_.session, order_.after, "", *this);
  if (!reading) {  // the session was removed in between
    return end({.receipt = Receipt{.reason = reading.error().message()}, .failed = true});
  }
  subscription_ = *reading;
  timer_ = ports_.loop.after_ms(resume_answer_ms, [this, alive = std::weak_ptr<bool>(alive_)] {
    if (alive.expired()) return;
    timer_ = 0;
    end({});
  });
}

void ResumeWait::on_records(Seq first,
                            std::span<const std::shared_ptr<const std::string>> records) {
  for (Seq seq = first; const auto& bytes : records) {
    if (ended_) return;
    const Result<DecodedRecord> decoded = decode_record(*bytes);
    if (!decoded) return end({});
    if (seq == order_.before.head + 1) {
      order_.before = evolve(std::move(order_.before), decoded->record.event);
    }
    exact_ = seq == order_.before.head;
    look_at(decoded->record.event);
    seq += 1;
  }
}

// The state at the current record, as far as it can be known.
const State& ResumeWait::state_then() {
  if (exact_) return order_.before;
  if (Result<State> now = ports_.runtime.state(order_.session)) later_ = std::move(*now);
  return later_ ? *later_ : order_.before;
}

void ResumeWait::look_at(const Event& event) {
  if (const auto* boundary = get_if<ContextBoundary>(&event.body)) {
    const bool by_ladder =
        boundary->how != BoundaryHow::cleared && boundary->how != BoundaryHow::compacted;
    if (by_ladder) end({.receipt = make_receipt(*boundary, state_then())});
  } else if (const auto* failed = get_if<ResumeFailed>(&event.body)) {
    end({.receipt = make_receipt(*failed, state_then()), .failed = true});
  } else if (const auto* stopped = get_if<SessionStopped>(&event.body)) {
    end({.receipt = Receipt{.reason = "the session was stopped: " + stopped->reason},
         .failed = true});
  }
}

void ResumeWait::on_cut(Seq) {
  subscription_ = 0;
  end({});
}

void ResumeWait::end(Outcome outcome) {
  if (std::exchange(ended_, true)) return;
  // Not within a call from the runtime, because the callback may destroy this object.
  ports_.loop.post(
      [this, alive = std::weak_ptr<bool>(alive_), outcome = std::move(outcome)]() mutable {
        if (!alive.expired()) std::exchange(done_, {})(std::move(outcome));
      });
}

std::string receipt_json(const Receipt& receipt) {
  std::string injected = "null";
  if (receipt.injected) injected = encode_fields(*receipt.injected);
  std::string lost;
  append_json(lost, receipt.lost);
  std::string attempts;
  append_json(attempts, receipt.attempts);
  JsonWriter out;
  out.begin_object().key("rung").number(rung_number(receipt.rung));
  out.key("rung_name").string(enum_text(receipt.rung)).key("how");
  if (receipt.how) {
    out.string(enum_text(*receipt.how));
  } else {
    out.null();
  }
  out.key("agent_session_id");
  if (receipt.agent_session_id.empty()) {
    out.null();
  } else {
    out.string(receipt.agent_session_id);
  }
  out.key("verified").string(enum_text(receipt.verified));
  out.key("inject_armed").boolean(receipt.inject_armed).key("injected").raw(injected);
  out.key("lost").raw(lost).key("reason").string(receipt.reason).key("attempts").raw(attempts);
  out.key("already_running").boolean(receipt.already_running).end_object();
  return std::move(out).take();
}

}  // namespace perdure
