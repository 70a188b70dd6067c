// Questions and their tokens: one outcome each, and an allow only if a person gave it.
#include "sim/judges/ledger.h"

namespace perdure::sim {

void Ledger::see(const Event& event, const PermissionRequested& e) {
  const Asked asked{.exec = {session_, event.origin.exec, event.origin.gen},
                    .request = e.request,
                    .options = e.options};
  expect(permissions_.emplace(e.permission, asked).second, "TOK3", "a question is asked twice");
  asked_[{event.origin.exec, e.request}] = e.permission;
  open_permissions_.insert(e.permission);
  const Frame* frame = frame_of(event.origin);
  const auto* said = frame ? get_if<FramePermission>(&frame->body) : nullptr;
  expect(copying_ || (said && said->request == e.request && said->options == e.options), "PROC5",
         "a question differs from its frame");
}

void Ledger::see(const Event& event, const TokenMinted& e) {
  const Token token{.permission = e.permission, .run = event.origin.run, .expires = e.expires};
  expect(tokens_.emplace(e.token, token).second, "TOK1", "a token is minted twice");
  active_tokens_.insert(e.token);
  const auto asked = permissions_.find(e.permission);
  if (!expect(asked != permissions_.end() && !asked->second.resolved, "TOK3",
              "a token for no open question")) {
    return;
  }
  asked->second.token = e.token;
  expect(!event.origin.run || !run_ || !run_->cancelling, "TOK3",
         "a question of a cancelled run can be answered");
  expect(!event.origin.after_run && !stop_requested_, "TOK3",
         "a question of a run that is over can be answered");
  expect(e.expires.has_value() == (policy_.wait_ms > 0), "C15", "a deadline that nobody asked for");
  if (copying_) return;
  owed_.notes.emplace_back(NotifyWhat::needs_input, event.origin.run);
  if (event.origin.run) owed_.waitings.push_back(e.token);
}

void Ledger::close_token(WaitTokenId token, TokenStatus status, const std::string& by) {
  const auto at = tokens_.find(token);
  if (!expect(at != tokens_.end(), "TOK1", "an unknown token is closed")) return;
  expect(at->second.status == TokenStatus::active, "TOK1", "a token is closed twice");
  at->second.status = status;
  at->second.by = by;
  active_tokens_.erase(token);
}

// O4: the open run continues with the answer, or without the question.
void Ledger::owe_resumed(WaitTokenId token) {
  const auto at = tokens_.find(token);
  const bool of_run = run_ && at != tokens_.end() && at->second.run == run_->id;
  if (of_run && !copying_) owed_.resumes.push_back(token);
}

void Ledger::see(const Event&, const TokenConsumed& e) {
  expect(!e.by.starts_with("session:"), "TOK3", "a process inside a session answered");
  close_token(e.token, TokenStatus::consumed, e.by);
  owe_resumed(e.token);
}

void Ledger::see(const Event&, const TokenRevoked& e) {
  close_token(e.token, TokenStatus::revoked, "");
  const auto at = tokens_.find(e.token);
  const bool of_run = run_ && at != tokens_.end() && at->second.run == run_->id;
  if (of_run && e.reason == "interrupted") owed_.wait_was_open = true;
  if (e.reason == "withdrawn") owe_resumed(e.token);
  const bool tells = e.reason == "cancelled" && run_ && run_->cancelling && !copying_;
  if (tells && at != tokens_.end())
    owed_.answers.push_back(permissions_.at(at->second.permission).request);
}

void Ledger::see(const Event&, const TokenExpired& e) {
  const auto at = tokens_.find(e.token);
  if (at != tokens_.end() && !copying_) {
    const auto& expires = at->second.expires;
    const bool same_host = expires && expires->host_boot == facts_.now().host_boot;
    expect(expires.has_value(), "C15", "a wait without a deadline expired");
    expect(!same_host || expires->remaining_ms(facts_.now()) == 0, "C15",
           "a wait expired too early");
    owed_.answers.push_back(permissions_.at(at->second.permission).request);
    if (run_ && at->second.run == run_->id) owed_.expired = run_->id;
  }
  close_token(e.token, TokenStatus::expired, "");
}

void Ledger::see(const Event&, const PermissionResolved& e) {
  const auto at = permissions_.find(e.permission);
  if (!expect(at != permissions_.end(), "TOK3", "an unknown question is resolved")) return;
  Asked& asked = at->second;
  expect(!asked.resolved, "TOK3", "a question has a second outcome");
  asked.resolved = true;
  asked.outcome = e.outcome;
  asked.option_id = e.option_id;
  asked.by = e.by;
  open_permissions_.erase(e.permission);
  const bool selected = e.outcome == PermissionOutcome::selected;
  expect(selected == !e.option_id.empty(), "TOK3", "an outcome that does not fit its option");
  if (copying_) return;
  const auto token = tokens_.find(asked.token);
  const bool answered = token != tokens_.end() && token->second.status == TokenStatus::consumed;
  expect(!selected || answered, "TOK3", "allowed, and nobody answered");
  if (!asked.token) owed_.answers.push_back(asked.request);  // refused at once
  if (!answered) return;
  expect(token->second.by == e.by, "TOK3", "another answered than was recorded");
  expect(facts_.answer_was_sent({e.by, e.permission, asked.token, e.option_id}), "TOK3",
         "an answer that nobody gave");
  bool offered = !selected;
  for (const PermissionOption& option : asked.options) offered |= option.id == e.option_id;
  expect(offered, "TOK3", "an answer that was not offered");
  owed_.answers.push_back(asked.request);
}

// Token and question close in one transaction (TOK1).
void Ledger::see_waits_closed_together() {
  expect(open_permissions_.size() == active_tokens_.size(), "TOK1",
         "a question and its token were not closed together");
  for (const WaitTokenId token : active_tokens_) {
    expect(open_permissions_.contains(tokens_.at(token).permission), "TOK1",
           "a token is open and its question is not");
    expect(!run_ || !run_->cancelling || tokens_.at(token).run != run_->id, "TOK3",
           "a run is cancelled, and its question is open");
  }
}

}  // namespace perdure::sim
