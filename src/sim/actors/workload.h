// The clients: people and programs that send requests, lose answers, retry, and remember what they
// were told. Each answer is compared with the journal immediately (ACK1–ACK4).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/runtime/runtime.h"
#include "sim/actors/daemons.h"
#include "sim/actors/reader.h"
#include "sim/judges/judge.h"
#include "sim/world/universe.h"

namespace perdure::sim {

// One client request. A retry is identical in key and body.
struct Order {
  SessionId session;
  std::string by;
  std::string key;
  Hash body_hash;
  InputBody body;
  bool is_reuse = false;      // the key of another order: must be rejected
  bool wrong_secret = false;  // must be rejected
  bool is_inside = false;     // a process inside a session, which may not answer
};

class Workload {
 public:
  Workload(Universe& universe, Judge& judge, Daemons& daemons);

  // Clients start.
  void start();
  // Every request was made, and answered or abandoned.
  bool is_done() const;
  // From now on nothing is lost; unanswered requests are retried until they are answered.
  void heal();
  // Answers, cancels and releases everything that waits for a person. True if nothing does.
  bool care();
  // Every session must resume on its own after a restart.
  void resume_all_at_boot();
  // Meddling clients start again; questions get short deadlines.
  void meddle_now();
  void stop_meddling();
  // Forks every session.
  void fork_all();
  // Sends a prompt to every session that can take one; each must end well.
  void ask_all_again();
  // Stops every agent.
  void stop_all();
  // Cancels every open run.
  void cancel_all();
  // Whether those prompts have ended as they should.
  void check_asked_again();
  // A key's stored answer is the accepted one, and belongs to one client only.
  void check_kept(Runtime& runtime);
  bool all_read() const { return unread().empty(); }
  // A reader that is not where it should be; empty: none.
  std::string unread() const;
  std::uint64_t orders() const { return sent_.size(); }

 private:
  struct Sent {
    Order order;
    int tries = 0;
    bool settled = false;  // the client has its answer or gave up
    bool answered = false;
    bool is_put_off = false;        // with the advice to retry
    Seq asked_at = 0;               // the journal's length at the last request
    bool folder_missing = false;    // at the time of some request
    bool reachable = true;          // its execution was reachable at every request
    bool is_seen_late = false;      // both facts may have changed before the decision
    std::optional<Reply> accepted;  // the first success
    std::int64_t accepted_ms = 0;
  };
  struct Client {
    std::string by;
    std::size_t left = 0;  // orders still to send
  };

  void act(std::size_t client);
  void send(std::size_t number, std::int64_t delay_ms);
  void submit(std::size_t number);
  bool has_folder(SessionId session);
  void check_back(std::size_t number);
  void on_answer(std::size_t number, const Result<Reply>& answer, std::int64_t asked_ms);
  void check_after_failed_sync(const Order& order, const Reply& reply, const Life& life);
  void check_reached(const Sent& sent, const Result<Reply>& answer, const std::string& owner);
  void check_accepted(Sent& sent, const Reply& reply);
  void check_refused(const Sent& sent, const Error& error, std::int64_t asked_ms);
  void check_no_change(const Sent& sent);
  void check_answer_refused(const Order& order, Code code);
  void check_effect(const Sent& sent, const Reply& reply);
  void check_prompt(const Order& order, const Reply& reply);
  void check_answer(const Order& order, const Reply& reply);
  void check_change(const Order& order, const Reply& reply);
  void check_resume(const Sent& sent, const Reply& reply);
  std::size_t add(Order order);
  void add_reader(SessionId session);
  void readers_act();
  void meddle();
  std::optional<Order> draw_meddling(SessionId session);

  std::optional<Order> draw(Client& client);
  Order draw_create(const Client& client);
  Order draw_prompt(const Client& client, SessionId session);
  std::optional<Order> draw_queue(const Client& client, SessionId session);
  std::optional<Order> draw_answer(const Client& client, SessionId session);
  Order draw_configure(const Client& client, SessionId session);
  Order draw_resume(const Client& client, SessionId session);
  void draw_fork(const Client& client, SessionId session);
  void fork(const Client& client, SessionId session, Seq at);
  void set_wait(std::int64_t longest_ms);
  Order make(const Client& client, SessionId session, InputBody body);
  void note_answers(const Order& order);

  Universe& universe_;
  Judge& judge_;
  Daemons& daemons_;
  std::vector<Client> clients_;
  std::vector<SessionId> sessions_;
  std::size_t sessions_max_ = 1;
  std::vector<Sent> sent_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::size_t open_ = 0;
  std::size_t meddling_left_ = 60;
  std::vector<std::size_t> asked_again_;
  std::int64_t healed_ms_ = 0;
  IdSource ids_;
};

}  // namespace perdure::sim
