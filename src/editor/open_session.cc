#include "editor/open_session.h"

#include <utility>

#include "base/json/json.h"
#include "base/limits.h"

namespace perdure::face {
namespace {

// The hash of an update that was stored separately; empty: the record has the update itself.
std::string blob_of(std::string_view update) {
  constexpr std::string_view opening = R"({"blob":")";
  if (!update.starts_with(opening)) return {};
  const JsonView reference(update);
  return reference["bytes"].is_there() ? reference["blob"].text() : std::string();
}

bool is_end_of_run(std::string_view kind) {
  return kind == "run.completed" || kind == "run.failed" || kind == "run.cancelled" ||
         kind == "run.interrupted";
}

}  // namespace

OpenSession::OpenSession(Connection& connection, Setup setup, OnCaughtUp on_caught_up)
    : connection_(connection),
      setup_(std::move(setup)),
      on_caught_up_(std::move(on_caught_up)),
      lending_(connection, {setup_.id, setup_.lender, setup_.lent}) {}

bool OpenSession::is_telling() const {
  if (reset_) return false;
  return caught_up_ ? live_ || setup_.past == Past::told : setup_.past == Past::told;
}

void OpenSession::say(std::uint64_t seq, std::string_view text) {
  if (is_telling()) connection_.update(id(), print_remark({.seq = seq, .text = text}));
}

void OpenSession::on_state(std::string_view json) {
  if (live_) lending_.set_running(runs_);
  if (!reset_) return;
  setup_.head = JsonView(json)["head"].number();
  if (setup_.head == 0) reset_ = false;
}

// The log of a restored backup: messages sent to an editor cannot be withdrawn, so it only gets a
// notice that the state has changed.
void OpenSession::on_reset() {
  say(cursor_,
      "The journal of this session was replaced, most likely by a restored backup. Load "
      "the session again to see it as it is now.");
  give_up({.message = "the journal of this session was replaced; load the session again"});
  reset_ = true;
  runs_ = false;
  cursor_ = 0;
  received_ = 0;
  teller_ = RecordTeller();
  questions_.clear();
  held_.clear();
  held_bytes_ = 0;
  fetching_ = 0;
}

void OpenSession::on_refused(const client::Refusal& refusal) {
  const acp::RpcError error = rpc_error_of(refusal);
  give_up(error);
  if (OnCaughtUp done = std::exchange(on_caught_up_, nullptr)) done(std::unexpected(error));
}

void OpenSession::wait_for(std::uint64_t head) {
  if (!caught_up_ && head > setup_.head) setup_.head = head;
}

void OpenSession::on_record(std::uint64_t seq, std::string_view json) {
  // A record of a stream that this one has replaced.
  if (seq != received_ + 1) return;
  received_ = seq;
  if (fetching_ == 0) return take(seq, json);
  held_bytes_ += json.size();
  held_.emplace_back(seq, json);
  if (held_bytes_ <= face_held_bytes_max) return;
  // Too many records wait for it: use the short form in the record itself.
  connection_.remark("record " + std::to_string(fetching_) + " of " + id() + " is shown shortened");
  const std::string record = std::exchange(fetched_record_, {});
  process(std::exchange(fetching_, 0), JsonView(record), {});
  drain();
}

void OpenSession::take(std::uint64_t seq, std::string_view json) {
  const JsonView record(json);
  const std::string_view update = record["update"].raw();
  if (blob_of(update).empty()) return process(seq, record, update);
  fetch_update(seq, std::string(json));
}

void OpenSession::fetch_update(std::uint64_t seq, std::string record) {
  fetching_ = seq;
  const std::string hash = blob_of(JsonView(record)["update"].raw());
  fetched_record_ = std::move(record);
  connection_.call(get_request(session_path(id(), "/blobs/" + hash)),
                   [this, seq, alive = std::weak_ptr(alive_)](Result<client::ApiAnswer> answer) {
                     if (alive.expired() || fetching_ != seq) return;
                     const auto body = body_of(std::move(answer));
                     const bool is_there = body && JsonView::read(*body);
                     fetching_ = 0;
                     const std::string whole = std::exchange(fetched_record_, {});
                     process(seq, JsonView(whole),
                             is_there ? std::string_view(*body) : std::string_view());
                     drain();
                   });
}

void OpenSession::drain() {
  while (fetching_ == 0 && !held_.empty()) {
    const auto [seq, json] = std::move(held_.front());
    held_.pop_front();
    held_bytes_ -= json.size();
    take(seq, json);
  }
}

void OpenSession::process(std::uint64_t seq, JsonView record, std::string_view update) {
  cursor_ = seq;
  const bool is_own = note_turn(record);
  std::vector<std::string> updates;
  teller_.tell(record, update, updates);
  if (!is_own && is_telling()) {
    for (const std::string& one : updates) connection_.update(id(), one);
  }
  const std::string kind = record["kind"].text();
  if (kind == "session.renamed") setup_.is_titled = true;
  runs_ = (runs_ || kind == "run.started") && !is_end_of_run(kind);
  if (live_) lending_.set_running(runs_);
  if (kind == "permission.requested") {
    note_question(record, update);
  } else if (kind == "permission.resolved") {
    close_question(record["perm_id"].text());
  } else if (kind == "resume.failed" || kind == "executor.error") {
    if (live_) {
      say(seq, "The agent could not be started: " + record["message"].text() +
                   " Prompts that wait are kept.");
    }
  } else if (is_end_of_run(kind)) {
    end_run(record);
  }
  if (reset_ && cursor_ >= setup_.head) reset_ = false;
  catch_up_if_there();
}

void OpenSession::catch_up_if_there() {
  if (caught_up_ || reset_ || cursor_ < setup_.head) return;
  caught_up_ = true;
  if (OnCaughtUp done = std::exchange(on_caught_up_, nullptr)) done({});
}

void OpenSession::go_live() {
  const bool was_told = setup_.past == Past::told;
  live_ = true;
  lending_.set_running(runs_);
  if (!was_told && !teller_.commands().empty()) connection_.update(id(), teller_.commands());
  for (auto& [permission, question] : questions_) ask(question);
}

void OpenSession::set_option(const acp::OptionAsked& asked) {
  acp::OptionValue wanted = asked.option;
  if (!teller_.options().empty()) wanted.option = teller_.option_name(asked.option.option);
  if (wanted.option.empty() || !teller_.may_be(wanted)) {
    return connection_.give_error(asked.id, {.code = acp::rpc_code::invalid_params,
                                             .message = "the agent has no such option or value"});
  }
  JsonWriter body;
  body.begin_object().key(wanted.option).string(wanted.value).end_object();
  connection_.call(
      post_request({.path = session_path(id(), "/options"), .body = std::move(body).take()}),
      [this, asked, wanted, alive = std::weak_ptr(alive_)](Result<client::ApiAnswer> answer) {
        if (alive.expired()) return;
        const auto body = body_of(std::move(answer));
        if (!body) return connection_.give_error(asked.id, body.error());
        if (asked.by_mode) return connection_.give_result(asked.id, "{}");
        connection_.give_result(
            asked.id, R"({"configOptions":)" +
                          acp::print_options(teller_.options_with(wanted), acp::Dialect::v1) + '}');
      });
}

}  // namespace perdure::face
