#include "agentctl/supervisor/services/lending.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agentctl/supervisor/services/acp_reply.h"
#include "base/json/fields_json.h"
#include "base/json/json.h"
#include "base/json/json_view.h"
#include "base/limits.h"
#include "core/acp/rpc.h"

namespace perdure {
namespace {

// The ability that a lender must offer for this method; empty: the method is never lent.
std::string_view ability_of(std::string_view method) {
  if (method == "fs/read_text_file") return "fs_read";
  if (method == "fs/write_text_file") return "fs_write";
  return method.starts_with("terminal/") ? "terminal" : "";
}

bool has(const LendParams& terms, std::string_view ability) {
  if (ability == "fs_read") return terms.fs_read;
  if (ability == "fs_write") return terms.fs_write;
  return ability == "terminal" && terms.terminal;
}

std::string request_json(std::uint64_t id, std::string_view method, std::string_view params) {
  JsonWriter json;
  json.begin_object().key("request").begin_object().key("id").number_unsigned(id);
  json.key("method").string(method).key("params").raw(params).end_object().end_object();
  return std::move(json).take();
}

}  // namespace

Lending::Lending(Setup setup) : setup_(std::move(setup)) {}

Lending::~Lending() {
  setup_.loop.cancel(absent_);
  for (Lender& lender : waiting_) setup_.loop.cancel(lender.timer);
  for (auto& [id, lent] : lent_) setup_.loop.cancel(lent.timer);
}

void Lending::lend(std::string_view json, WorkspacePort::Reply reply) {
  Result<WithUnknown<LendParams>> params = decode_fields<LendParams>(json);
  if (!params) return reply(std::unexpected(params.error()));
  LendParams& terms = params->value;
  if (terms.lender.empty()) return reply(fail(Code::invalid_argument, "lender is missing"));
  drop_lender(terms.lender);
  if (waiting_.size() >= lenders_max) {
    return reply(fail(Code::limit_reached, "too many editors lend to this session"));
  }
  setup_.loop.cancel(std::exchange(absent_, 0));
  last_ = terms;
  Lender lender{std::move(terms), std::move(reply), 0};
  // Resend a request that was handed to this lender and lost on the way.
  const auto lost = std::ranges::find_if(lent_, [&](const auto& entry) {
    return entry.second.lender == lender.terms.lender && entry.first > lender.terms.got;
  });
  if (lost != lent_.end()) return hand(std::move(lender), lost->first);
  lender.timer =
      setup_.loop.after_ms(lend_hold_ms, [this, name = lender.terms.lender] { hold_over(name); });
  waiting_.push_back(std::move(lender));
  hand_out();
}

Result<std::string> Lending::give_back(std::string_view json) {
  TRY_VOID(json_validate(json));
  const JsonView answer(json);
  const auto found = lent_.find(answer["id"].number());
  if (found == lent_.end()) return fail(Code::not_found, "that request is answered already");
  const std::string_view result = answer["result"].raw();
  const std::string_view error = answer["error"].raw();
  if (result.empty() == error.empty()) {
    return fail(Code::invalid_argument, "say either result or error");
  }
  setup_.loop.cancel(found->second.timer);
  Lent lent = std::move(found->second);
  lent_.erase(found);
  if (!error.empty()) {
    lent.reply(std::unexpected(acp::parse_rpc_error(error)));
    return std::string("{}");
  }
  const std::string terminal = JsonView(lent.params)["terminalId"].text();
  if (lent.method == "terminal/create" && terminals_.size() < lent_terminals_max) {
    terminals_.insert(JsonView(result)["terminalId"].text());
  } else if (lent.method == "terminal/release") {
    terminals_.erase(terminal);
  }
  lent.reply(std::string(result));
  return std::string("{}");
}

bool Lending::is_there(std::string_view ability) const {
  if (absent_ != 0 && has(last_, ability)) return true;
  return std::ranges::any_of(waiting_,
                             [&](const Lender& lender) { return has(lender.terms, ability); });
}

// An editor may have access beyond the workspace; the agent may not.
bool Lending::is_inside(std::string_view params) const {
  return tree_path_of(JsonView(params)["path"].text(), setup_.roots).has_value();
}

bool Lending::offer(const std::string& method, const std::string& params, AgentReply& reply) {
  const std::string_view ability = ability_of(method);
  if (ability.empty() || !json_validate(params)) return false;
  const bool is_terminal = ability == "terminal";
  if (is_terminal && method != "terminal/create") {
    if (!terminals_.contains(JsonView(params)["terminalId"].text())) return false;
    if (!is_there(ability)) {
      reply(std::unexpected(acp::RpcError{
          acp::rpc_code::internal_error, "the editor that had this terminal is gone", {}}));
      return true;
    }
  }
  if (!is_there(ability) || lent_.size() >= lent_requests_max) return false;
  if (!is_terminal && !is_inside(params)) return false;
  const std::uint64_t id = ++last_id_;
  Lent lent{{}, method, params, std::move(reply), 0};
  // Waiting for a program's end may take as long as the program.
  if (method != "terminal/wait_for_exit") {
    lent.timer = setup_.loop.after_ms(lend_answer_ms, [this, id] { take_back(id); });
  }
  lent_.emplace(id, std::move(lent));
  hand_out();
  return true;
}

// Gives one request to each waiting lender, the newest lender first.
void Lending::hand_out() {
  for (auto& [id, lent] : lent_) {
    if (!lent.lender.empty()) continue;
    const std::string_view ability = ability_of(lent.method);
    const auto found = std::find_if(waiting_.rbegin(), waiting_.rend(), [&](const Lender& lender) {
      return has(lender.terms, ability);
    });
    if (found == waiting_.rend()) continue;
    Lender lender = std::move(*found);
    waiting_.erase(std::next(found).base());
    hand(std::move(lender), id);
  }
}

void Lending::hand(Lender lender, std::uint64_t id) {
  setup_.loop.cancel(lender.timer);
  Lent& lent = lent_.at(id);
  lent.lender = lender.terms.lender;
  if (waiting_.empty()) wait_for_return();
  lender.reply(request_json(id, lent.method, lent.params));
}

// A lender has one request at a time: an earlier one is no longer awaited.
void Lending::drop_lender(const std::string& name) {
  const auto found = std::ranges::find_if(
      waiting_, [&](const Lender& lender) { return lender.terms.lender == name; });
  if (found == waiting_.end()) return;
  setup_.loop.cancel(found->timer);
  WorkspacePort::Reply reply = std::move(found->reply);
  waiting_.erase(found);
  reply(std::string(R"({"request":null})"));
}

void Lending::hold_over(const std::string& name) {
  drop_lender(name);
  if (waiting_.empty()) wait_for_return();
}

void Lending::wait_for_return() {
  setup_.loop.cancel(absent_);
  absent_ = setup_.loop.after_ms(lend_return_ms, [this] {
    absent_ = 0;
    take_all_back();
  });
}

void Lending::take_back(std::uint64_t id) {
  const auto found = lent_.find(id);
  if (found == lent_.end()) return;
  setup_.loop.cancel(found->second.timer);
  Lent lent = std::move(found->second);
  lent_.erase(found);
  if (!lent.method.starts_with("terminal/") || lent.method == "terminal/create") {
    return setup_.workspace(lent.method, lent.params, std::move(lent.reply));
  }
  lent.reply(std::unexpected(acp::RpcError{
      acp::rpc_code::internal_error, "the editor that had this terminal is gone", {}}));
}

void Lending::take_all_back() {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, lent] : lent_) ids.push_back(id);
  for (const std::uint64_t id : ids) take_back(id);
}

}  // namespace perdure
