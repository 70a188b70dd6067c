#include "sim/world/sim_link.h"

#include <algorithm>
#include <deque>
#include <string>

namespace perdure::sim {
namespace {

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  struct Side {
    LifePtr life;
    LinkEvents* events = nullptr;
    bool exists = true;
    bool reads = true;
    bool is_over = false;  // no more bytes follow those in transit
    bool told_closed = false;
    std::deque<std::string> coming;
    std::size_t arrived = 0;  // how many of them
    std::int64_t last_ms = 0;
    std::size_t unsent_bytes = 0;  // sent by this side, not yet received by the other
  };

  Wire(Universe& universe, LinkLives lives) : universe_(universe) {
    sides[0].life = std::move(lives.caller);
    sides[1].life = std::move(lives.listener);
  }

  void send(int from, std::string bytes) {
    if (broken_ || !sides[from].exists || sides[from].life->dead || bytes.empty()) return;
    if (!sides[1 - from].exists) return;
    Prng& prng = universe_.prng;
    const bool breaks = prng.chance(universe_.faults.link_cut);
    if (breaks) bytes.resize(prng.below(bytes.size() + 1));
    while (bytes.size() > 1 && prng.chance(150'000)) {
      const std::size_t piece = 1 + prng.below(bytes.size() - 1);
      bring(1 - from, bytes.substr(0, piece));
      bytes.erase(0, piece);
    }
    bring(1 - from, std::move(bytes));
    if (!breaks) return;
    broken_ = true;
    universe_.trace.note("link", 0, [] { return std::string("a link is cut"); });
    end_later(0);
    end_later(1);
  }

  void close(int side) {
    sides[side].exists = false;
    sides[side].events = nullptr;
    end_later(1 - side);
  }

  void look_later(int side) {
    universe_.after_in(sides[side].life, 0,
                       [self = shared_from_this(), side] { self->deliver(side); });
  }

  Side sides[2];

 private:
  std::int64_t arrival_ms(Side& to) {
    const std::int64_t now = universe_.scheduler.now_ms();
    to.last_ms = std::max(to.last_ms, now + universe_.delay(universe_.faults.link_delay_ms_max));
    return to.last_ms - now;
  }
  void bring(int to, std::string bytes) {
    if (bytes.empty()) return;
    sides[1 - to].unsent_bytes += bytes.size();
    sides[to].coming.push_back(std::move(bytes));
    universe_.after(arrival_ms(sides[to]), [self = shared_from_this(), to] {
      ++self->sides[to].arrived;
      self->deliver(to);
    });
  }
  void end_later(int to) {
    universe_.after(arrival_ms(sides[to]), [self = shared_from_this(), to] {
      self->sides[to].is_over = true;
      self->deliver(to);
    });
  }

  void deliver(int at) {
    Side& side = sides[at];
    if (!side.exists || side.life->dead || !side.events || !side.reads) return;
    if (side.life->nap_ms(universe_.scheduler.now_ms()) > 0) return look_later(at);
    const auto self = shared_from_this();  // the call may end both ends
    if (side.arrived > 0) {
      const std::string bytes = std::move(side.coming.front());
      side.coming.pop_front();
      --side.arrived;
      sides[1 - at].unsent_bytes -= bytes.size();
      if (sides[1 - at].unsent_bytes == 0) drained_later(1 - at);
      if (side.arrived > 0 || side.is_over) look_later(at);
      side.events->on_bytes(bytes);
    } else if (side.is_over && side.coming.empty() && !std::exchange(side.told_closed, true)) {
      side.events->on_closed();
    }
  }

  void drained_later(int at) {
    universe_.after_in(sides[at].life, 0, [self = shared_from_this(), at] {
      Side& side = self->sides[at];
      if (!side.exists || !side.events || side.told_closed) return;
      if (side.unsent_bytes == 0) side.events->on_drained();
    });
  }

  Universe& universe_;
  bool broken_ = false;
};

class SimLink final : public Link {
 public:
  SimLink(std::shared_ptr<Wire> wire, int side) : wire_(std::move(wire)), side_(side) {}
  ~SimLink() override { wire_->close(side_); }
  SimLink(const SimLink&) = delete;
  SimLink& operator=(const SimLink&) = delete;

  void set_events(LinkEvents& events) override {
    wire_->sides[side_].events = &events;
    wire_->look_later(side_);
  }
  void send(std::string bytes) override { wire_->send(side_, std::move(bytes)); }
  std::size_t unsent_bytes() const override { return wire_->sides[side_].unsent_bytes; }
  void pause() override { wire_->sides[side_].reads = false; }
  void resume() override {
    wire_->sides[side_].reads = true;
    wire_->look_later(side_);
  }

 private:
  std::shared_ptr<Wire> wire_;
  int side_;
};

}  // namespace

std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_link(Universe& universe,
                                                                  LinkLives lives) {
  const auto wire = std::make_shared<Wire>(universe, std::move(lives));
  return {std::make_unique<SimLink>(wire, 0), std::make_unique<SimLink>(wire, 1)};
}

}  // namespace perdure::sim
