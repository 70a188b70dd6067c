#include "sim/actors/sim_peers.h"

#include <utility>

#include "sim/actors/daemons.h"

namespace perdure::sim {
namespace {

constexpr std::int64_t patience_ms = 8'000;

}  // namespace

// One command in transit; outlives the daemon that sent it.
struct SimPeers::Call : std::enable_shared_from_this<Call> {
  Call(SimPeers& peers, std::string to, SessionId of, Request what, ReplyFn then)
      : universe(peers.universe_),
        daemons(peers.daemons_),
        from(peers.from_),
        node(std::move(to)),
        session(of),
        request(std::move(what)),
        reply(std::move(then)) {}

  void send() {
    universe.after_in(from, patience_ms, [self = shared_from_this()] {
      self->answer(fail(Code::unavailable, self->node + " does not answer"));
    });
    if (universe.prng.chance(universe.faults.link_cut)) return;  // lost in transit
    universe.after(delay(), [self = shared_from_this()] { self->arrive(); });
  }

  void arrive() {
    Daemon* const to = daemons.find(node);
    if (!to->runtime()) return answer_later(fail(Code::unavailable, node + " is not there"));
    universe.after_in(to->life(), 0, [self = shared_from_this(), to] { self->ask(*to); });
  }

  void ask(Daemon& to) {
    Runtime* const runtime = to.serving();
    if (!runtime) return answer_later(fail(Code::unavailable, node + " is starting"));
    runtime->submit_here(session, request,
                         [self = shared_from_this(), life = to.life()](Result<Reply> result) {
                           if (!life->dead) self->answer_later(std::move(result));
                         });
  }

  void answer_later(Result<Reply> result) {
    if (universe.prng.chance(universe.faults.link_cut)) return;  // its reply is lost in transit
    universe.after_in(from, delay(), [self = shared_from_this(), result = std::move(result)] {
      self->answer(result);
    });
  }

  void answer(const Result<Reply>& result) {
    if (reply) std::exchange(reply, {})(result);
  }

  std::int64_t delay() { return universe.delay(universe.faults.link_delay_ms_max); }

  Universe& universe;
  Daemons& daemons;
  LifePtr from;
  std::string node;
  SessionId session;
  Request request;
  ReplyFn reply;
};

void SimPeers::submit(const std::string& node, SessionId session, Request request, ReplyFn reply) {
  std::make_shared<Call>(*this, node, session, std::move(request), std::move(reply))->send();
}

}  // namespace perdure::sim
