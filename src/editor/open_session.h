// One session that is open on an editor's connection. It reads all records of the session and
// tracks what the editor waits for: turns, questions, settings. Pure: its requests go to its
// Connection. Destroying it detaches; nothing is cancelled or stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/acp/agent/agent.h"
#include "editor/connection.h"
#include "editor/lending.h"
#include "editor/record_teller.h"

namespace perdure::face {

// Whether the editor receives records up to the head at which the session was opened.
enum class Past { told, silent };

class OpenSession {
 public:
  struct Setup {
    std::string id;
    Past past = Past::silent;
    std::uint64_t head = 0;  // caught up at this record
    bool is_titled = true;   // otherwise its first prompt names it
    LentAbilities lent = {};
    std::string lender = {};
  };
  // Called once: after the records up to the head were sent, or with the error that prevents it.
  using OnCaughtUp = std::move_only_function<void(std::expected<void, acp::RpcError>)>;

  OpenSession(Connection& connection, Setup setup, OnCaughtUp on_caught_up);

  const std::string& id() const { return setup_.id; }
  const RecordTeller& teller() const { return teller_; }
  Lending& lending() { return lending_; }
  bool is_caught_up() const { return caught_up_; }
  bool has_prompts() const { return !prompts_.empty(); }

  // The stream of its records.
  void on_state(std::string_view json);
  void on_record(std::uint64_t seq, std::string_view json);
  void on_reset();
  void on_refused(const client::Refusal& refusal);
  // Caught up only at this record, if it has not been reached yet.
  void wait_for(std::uint64_t head);
  // Call after the answer that opened it: sends the offered commands and the open questions.
  void go_live();

  // Requests of the editor. The key must be unique.
  void prompt(const acp::PromptAsked& asked, std::string key);
  void cancel();
  // The turn started by this request.
  void cancel_prompt(const acp::RpcId& id);
  void set_option(const acp::OptionAsked& asked);
  // False: the request does not belong to this session.
  bool answer(const acp::PermissionAnswered& answered);
  bool refuse(const acp::RpcId& id);
  // Answers every open request with the error.
  void give_up(const acp::RpcError& error);

 private:
  struct Prompt {
    acp::RpcId id;
    std::string key;
    std::string message = {};  // the daemon's id for it, once known
    std::string run = {};
    bool started = false;
    bool edited = false;  // by another client: the running text differs from the typed one
    bool cancelling = false;
  };
  struct Question {
    std::string params;  // of session/request_permission
    acp::RpcId asked;    // null: not sent, or answered
  };

  void take(std::uint64_t seq, std::string_view json);
  void process(std::uint64_t seq, JsonView record, std::string_view update);
  void fetch_update(std::uint64_t seq, std::string record);
  void drain();
  void catch_up_if_there();
  bool is_telling() const;
  void say(std::uint64_t seq, std::string_view text);

  // open_session_turns.cc. Returns whether the record is this editor's own prompt, which it already
  // shows.
  bool note_turn(JsonView record);
  Prompt* find_prompt(std::string_view member, JsonView record);
  void name_after(const std::string& text);
  void placed(const std::string& key, JsonView answer);
  void end_run(JsonView record);
  void finish(const std::string& run, std::string_view stop_reason);
  void fail(const std::string& run, const acp::RpcError& error);
  void withdraw(Prompt& prompt);
  void cancel_run();
  void note_question(JsonView record, std::string_view update);
  void ask(Question& question);
  void close_question(const std::string& permission);

  Connection& connection_;
  Setup setup_;
  OnCaughtUp on_caught_up_;
  RecordTeller teller_;
  Lending lending_;
  bool runs_ = false;           // whether a turn runs
  std::uint64_t cursor_ = 0;    // the last record processed
  std::uint64_t received_ = 0;  // the last record received; it may be held
  bool caught_up_ = false;
  bool live_ = false;
  bool reset_ = false;  // after a log reset: records up to the head are repeats
  std::vector<Prompt> prompts_;
  std::map<std::string, Question> questions_;  // open ones, by permission id
  // Records held while an earlier record's update is being fetched.
  std::deque<std::pair<std::uint64_t, std::string>> held_;
  std::size_t held_bytes_ = 0;
  std::uint64_t fetching_ = 0;  // the record being fetched; 0: none
  std::string fetched_record_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace perdure::face
