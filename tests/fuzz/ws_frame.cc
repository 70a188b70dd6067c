// Any bytes sent to a WebSocket of the server after its handshake, in portions: never a crash, no
// text that is not UTF-8, no message beyond the limit, and exactly one end.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "memory_stream.h"
#include "net/websocket/websocket_session.h"

namespace perdure {
namespace {

constexpr std::size_t message_bytes_max = 300;

// Echoes every message.
struct Echo final : WebSocketEvents {
  void on_open() override { CHECK(++opened == 1 && closed == 0); }
  void on_text(std::string_view text) override {
    CHECK(is_utf8(text));
    answer(text);
    socket->send_text(std::make_shared<const std::string>(text));
  }
  void on_binary(std::string_view bytes) override {
    answer(bytes);
    socket->send_binary(std::make_shared<const std::string>(bytes));
  }
  void on_drained() override { CHECK(socket->unsent_bytes() == 0); }
  void on_closed(std::uint16_t code, const std::string& reason) override {
    CHECK(++closed == 1 && code >= 1000 && is_utf8(reason));
  }
  void answer(std::string_view message) {
    CHECK(opened == 1 && closed == 0 && message.size() <= message_bytes_max);
    if (message == "close") socket->close(4000, "as you wish");
    if (message == "drop") hangs_up = true;
  }

  std::shared_ptr<WebSocket> socket;
  int opened = 0;
  int closed = 0;
  bool hangs_up = false;
};

void talk(std::string_view bytes, std::size_t portion) {
  static const std::unique_ptr<HttpIo> io = HttpIo::create();
  const auto stream = std::make_shared<MemoryStream>();
  stream->refuses_every = portion % 3 == 0 ? 0 : portion % 3 + 1;
  const HttpRequest handshake{.method = "GET",
                              .target = "/ws",
                              .path = "/ws",
                              .headers = {{"Host", "x"},
                                          {"Upgrade", "websocket"},
                                          {"Connection", "Upgrade"},
                                          {"Sec-WebSocket-Version", "13"},
                                          {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}}};
  Echo echo;
  bool is_gone = false;
  WebSocketSetup setup{.limits = {.message_bytes_max = message_bytes_max}, .stream = stream};
  setup.unsent_bytes_max = 2000;
  setup.close_ms = 1;
  setup.on_gone = [&] { is_gone = true; };
  echo.socket =
      hold_websocket(accept_websocket(reactor_of(*io), std::move(setup), handshake, echo));
  const auto go_on = [&](const auto& until) {
    for (int i = 0; i < 100'000 && !until(); ++i) {
      io->run_for_ms(0);
      stream->make_writable();
      if (echo.hangs_up) echo.socket = closed_websocket();
    }
    return until();
  };
  CHECK(go_on([&] { return echo.opened == 1; }));
  CHECK(stream->written.starts_with("HTTP/1.1 101 "));
  for (std::size_t at = 0; at < bytes.size() && !is_gone; at += portion) {
    CHECK(go_on([&] { return is_gone || stream->wants_bytes(); }));
    stream->give(bytes.substr(at, portion));
  }
  stream->end();
  CHECK(go_on([&] { return is_gone; }));
  CHECK(stream->is_closed && (echo.closed == 1 || echo.hangs_up));
  while (io->run_for_ms(0), stream.use_count() > 1) {}
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  perdure::talk(bytes, data[0] + 1UL);
  return 0;
}
