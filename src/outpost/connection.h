// One caller of an outpost: a stranger until its first line, then a source of calls or the tunnel
// to one agentctl. A caller that violates the protocol is disconnected, without any other effect.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "core/wire/outpost.h"
#include "env/env.h"
#include "env/link.h"
#include "outpost/outpost.h"

namespace perdure {

class OutpostConnection final : private LinkEvents {
 public:
  // Owned by the outpost.
  struct Place {
    std::uint64_t number = 0;
    std::string source;  // callers are counted by source
  };
  OutpostConnection(Outpost& outpost, Place place, std::unique_ptr<Link> link);
  ~OutpostConnection() override;
  void begin();
  std::uint64_t number() const { return place_.number; }
  const std::string& source() const { return place_.source; }

 private:
  // The agentctl's end of a tunnel.
  struct Far final : LinkEvents {
    explicit Far(OutpostConnection& owner) : owner(owner) {}
    void on_bytes(std::string_view bytes) override { owner.pass_back(bytes); }
    void on_drained() override { owner.link_->resume(); }
    void on_closed() override { owner.leave_when_sent(); }
    OutpostConnection& owner;
  };

  void on_bytes(std::string_view bytes) override;
  void on_drained() override;
  void on_closed() override { leave(); }

  void read_lines();
  void meet(const std::string& line);
  void refuse(const Error& why);
  void open_tunnel(const OutpostHello& hello);
  void take_call(const std::string& line);
  void pass_back(std::string_view bytes);
  void leave();
  // Closes after some time for pending output.
  void leave_when_sent();
  void no_stranger_any_more();

  Outpost& outpost_;
  Place place_;
  std::unique_ptr<Link> link_;
  Far far_events_{*this};
  std::unique_ptr<Link> far_;
  OutpostLines lines_{outpost_hello_bytes_max};
  enum class State { stranger, calls, tunnel, leaving };
  State state_ = State::stranger;
  bool has_left_ = false;
  std::size_t open_calls_ = 0;
  Loop::TimerId timer_ = 0;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
