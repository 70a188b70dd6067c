// The daemon of the acp_session fuzzer: one execution over a link that connects and disconnects. In
// every case frames arrive in order, decode, stay within the window, and a run has one end.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "agentctl/supervisor/fake_link_for_test.h"
#include "agentctl/supervisor/supervisor.h"
#include "base/check.h"
#include "daemon/hosting/agentctl_client.h"
#include "daemon/hosting/spool_reader.h"

namespace perdure {

class FuzzedDaemon final : private AgentctlClientEvents {
 public:
  using OnFrame = std::move_only_function<void(Frame)>;
  static constexpr std::uint64_t window = 8;

  struct Execution {
    ExecId exec;
    Gen gen = 0;
  };

  FuzzedDaemon(FakeLoop& loop, Execution execution, OnFrame on_frame)
      : loop_(loop), execution_(execution), on_frame_(std::move(on_frame)) {}

  bool is_attached() const { return client_ != nullptr; }
  const Execution& execution() const { return execution_; }
  FrameNo last() const { return last_; }
  FakeWire* link() { return wire_.get(); }

  void attach(Supervisor& supervisor) {
    detach();
    wire_ = std::make_shared<FakeWire>(loop_);
    FakeWire::Ends ends = wire_->ends();
    AgentctlClientEvents& events = *this;
    client_ = std::make_unique<AgentctlClient>(std::move(ends.near), events);
    supervisor.on_link(std::move(ends.far));
    acked_ = last_;
    client_->attach({.secret = "secret", .epoch = ++epoch_, .after = last_, .window = window});
    for (const SendCommand& command : unconfirmed_) client_->command(command);
    if (!stopping_.empty()) client_->stop(stopping_);
  }
  void detach() { client_.reset(); }
  // As a former owner, or as one that never was.
  void attach_wrongly(Supervisor& supervisor, const AttachPacket& packet) {
    FakeWire::Ends ends = std::make_shared<FakeWire>(loop_)->ends();
    std::string bytes;
    append_packet(bytes, packet);
    ends.near->send(std::move(bytes));
    supervisor.on_link(std::move(ends.far));
    strangers_.push_back(std::move(ends.near));
    if (strangers_.size() > 2) strangers_.pop_front();
  }
  void command(const SendCommand& command) {
    unconfirmed_.push_back(command);
    if (client_) client_->command(command);
  }
  void ack() {
    if (!client_) return;
    acked_ = last_;
    client_->ack(last_);
  }
  void stop(const std::string& reason) {
    stopping_ = reason;
    if (client_) client_->stop(reason);
  }
  // The agentctl is gone: reads the frames that it left.
  void read_rest(Folder& folder) {
    detach();
    Result<SpoolReader> reader = SpoolReader::create(folder, last_);
    CHECK(reader.has_value(), "the spool cannot be read");
    for (;;) {
      const Result<std::optional<SpoolEntry>> entry = reader->next();
      CHECK(entry.has_value(), "the spool is damaged");
      if (!*entry) return;
      take((*entry)->number, (*entry)->payload);
    }
  }

 private:
  void take(FrameNo number, std::string_view bytes) {
    CHECK(number == last_ + 1, "a frame is missing or comes twice");
    last_ = number;
    Result<Frame> frame = decode_frame(bytes);
    CHECK(frame.has_value(), "a frame cannot be read: " + std::string(bytes.substr(0, 400)));
    frame->exec = execution_.exec;
    frame->gen = execution_.gen;
    frame->number = number;
    check_end(*frame);
    on_frame_(std::move(*frame));
  }
  void check_end(const Frame& frame) {
    CHECK(!frame.run || !ended_.contains(frame.run), "a frame of a run that has ended");
    RunId ends;
    if (const auto* finished = get_if<FrameRunFinished>(&frame.body)) ends = finished->run;
    if (const auto* failed = get_if<FrameRunFailed>(&frame.body)) ends = failed->run;
    if (holds_alternative<FrameAgentExited>(frame.body)) ends = frame.run;
    CHECK(!ends || ended_.insert(ends).second, "a run ends twice");
  }

  void on_attached(const AttachedPacket& attached) override {
    CHECK(attached.exec == execution_.exec && attached.last >= last_, "attached to something else");
  }
  void on_refused(const RefusedPacket& refused) override {
    CHECK(false, "refused: " + refused.code + " " + refused.message);
  }
  void on_frame(FrameNo number, std::string_view frame) override {
    CHECK(number <= acked_ + window, "more frames than the window allows");
    take(number, frame);
  }
  void on_acted(std::uint64_t number) override {
    std::erase_if(unconfirmed_, [&](const auto& command) { return command.number <= number; });
  }
  void on_reply(std::uint64_t, Result<std::string>) override {}
  void on_shell_news(const std::string&) override {}
  void on_health(const HealthPacket&) override {}
  void on_leaving(const std::string&) override {}
  void on_closed(const std::string& why) override {
    CHECK(why == "the link was closed", "the agentctl broke the protocol: " + why);
    client_.reset();
  }

  FakeLoop& loop_;
  Execution execution_;
  OnFrame on_frame_;
  std::shared_ptr<FakeWire> wire_;
  std::unique_ptr<AgentctlClient> client_;
  std::deque<std::unique_ptr<Link>> strangers_;
  std::deque<SendCommand> unconfirmed_;
  std::string stopping_;
  std::uint64_t epoch_ = 1;
  FrameNo last_ = 0;
  FrameNo acked_ = 0;
  std::set<RunId> ended_;
};

}  // namespace perdure
