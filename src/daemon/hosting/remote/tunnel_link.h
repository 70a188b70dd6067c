// The socket of an agentctl on another host, as a link: the first line names the agentctl to the
// outpost there, which passes on the bytes that follow.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/hosting/remote/outpost_client.h"

namespace perdure {

class TunnelLink final : public Link, private LinkEvents {
 public:
  TunnelLink(DialledLink link, const OutpostHello& hello) : link_(std::move(link)) {
    link_.link->send(encode_line(hello));
  }

  void set_events(LinkEvents& events) override {
    events_ = &events;
    link_.link->set_events(*this);
  }
  void send(std::string bytes) override { link_.link->send(std::move(bytes)); }
  std::size_t unsent_bytes() const override { return link_.link->unsent_bytes(); }
  void pause() override { link_.link->pause(); }
  void resume() override { link_.link->resume(); }

 private:
  void on_bytes(std::string_view bytes) override {
    if (is_open_) return events_->on_bytes(bytes);
    if (is_refused_) return;
    lines_.add(bytes);
    const Result<std::optional<std::string>> line = lines_.next();
    if (line && !*line) return;
    const Result<OutpostWelcome> welcome =
        line ? decode_welcome(**line) : Result<OutpostWelcome>(std::unexpected(line.error()));
    // After a refusal the outpost closes the link.
    is_open_ = welcome && welcome->code.empty();
    is_refused_ = !is_open_;
    const std::string rest = lines_.take_rest();
    if (is_open_ && !rest.empty()) events_->on_bytes(rest);
  }
  void on_drained() override { events_->on_drained(); }
  void on_closed() override { events_->on_closed(); }

  DialledLink link_;
  LinkEvents* events_ = nullptr;
  OutpostLines lines_{outpost_hello_bytes_max};
  bool is_open_ = false;
  bool is_refused_ = false;
};

}  // namespace perdure
