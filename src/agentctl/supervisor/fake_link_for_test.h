// Two ends of a link on a FakeLoop. Bytes arrive complete and in order unless a test blocks them;
// bytes sent before an end was closed still arrive.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "agentctl/supervisor/fake_world_for_test.h"
#include "env/link.h"

namespace perdure {

// State shared by both ends. A test keeps it to hold bytes back.
class FakeWire : public std::enable_shared_from_this<FakeWire> {
 public:
  explicit FakeWire(FakeLoop& loop) : loop_(loop) {}

  struct Ends {
    std::unique_ptr<Link> near;
    std::unique_ptr<Link> far;
  };
  Ends ends() {
    return {std::make_unique<End>(shared_from_this(), 0),
            std::make_unique<End>(shared_from_this(), 1)};
  }

  // Stops delivery; unsent bytes pile up at their senders.
  void block() { is_blocked_ = true; }
  void unblock() {
    is_blocked_ = false;
    for (const std::size_t side : {0, 1}) deliver_soon(side);
  }

 private:
  struct Side {
    LinkEvents* events = nullptr;
    std::string unsent;
    bool is_open = true;
  };
  class End final : public Link {
   public:
    End(std::shared_ptr<FakeWire> wire, std::size_t side) : wire_(std::move(wire)), side_(side) {}
    ~End() override { wire_->close(side_); }
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    void set_events(LinkEvents& events) override { wire_->sides_[side_].events = &events; }
    void send(std::string bytes) override { wire_->send(side_, bytes); }
    std::size_t unsent_bytes() const override { return wire_->sides_[side_].unsent.size(); }
    void pause() override {}
    void resume() override {}

   private:
    std::shared_ptr<FakeWire> wire_;
    std::size_t side_;
  };

  void send(std::size_t side, const std::string& bytes) {
    if (!sides_[1 - side].is_open || bytes.empty()) return;
    sides_[side].unsent += bytes;
    deliver_soon(side);
  }
  void deliver_soon(std::size_t side) {
    loop_.post([self = shared_from_this(), side] { self->deliver(side); });
  }
  void deliver(std::size_t from) {
    if (is_blocked_ || sides_[from].unsent.empty()) return;
    const std::string bytes = std::exchange(sides_[from].unsent, {});
    if (LinkEvents* const to = sides_[1 - from].events) to->on_bytes(bytes);
    if (LinkEvents* const by = sides_[from].events) by->on_drained();
  }
  void close(std::size_t side) {
    sides_[side].is_open = false;
    sides_[side].events = nullptr;
    loop_.post([self = shared_from_this(), side] {
      self->deliver(side);
      if (LinkEvents* const other = std::exchange(self->sides_[1 - side].events, nullptr)) {
        other->on_closed();
      }
    });
  }

  FakeLoop& loop_;
  std::array<Side, 2> sides_;
  bool is_blocked_ = false;
};

}  // namespace perdure
