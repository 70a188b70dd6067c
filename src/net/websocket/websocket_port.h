// A ByteStream in the form that Beast's algorithms need: a read waits for some bytes, a write takes
// some, and each calls back once from the loop. One of each may be pending.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/byte_stream.h"
#include "net/reactor.h"

namespace perdure {

class WebSocketPort final : public ByteStreamEvents,
                            public std::enable_shared_from_this<WebSocketPort> {
 public:
  enum class Outcome { good, ended, aborted };
  using Done = std::move_only_function<void(Outcome, std::size_t bytes)>;

  explicit WebSocketPort(HttpReactor& reactor) : reactor_(reactor) {}
  ~WebSocketPort() override { close(); }

  // The early bytes were received before the stream became ours.
  void attach(std::shared_ptr<ByteStream> stream, std::string early_bytes);
  // The memory must stay valid until `done` is called.
  void read(std::span<char> into, Done done);
  void write(std::vector<std::string_view> parts, Done done);
  // Aborts pending operations.
  void close();
  std::string trouble() const { return stream_ ? stream_->trouble() : trouble_; }

  void on_bytes(std::string_view bytes) override;
  void on_end() override;
  void on_writable() override;
  void on_broken() override;

 private:
  void finish_read();
  void try_write();
  void abort(Done& waiting);

  HttpReactor& reactor_;
  std::shared_ptr<ByteStream> stream_;
  std::string in_;
  std::span<char> read_into_;
  Done read_done_;
  std::vector<std::string_view> parts_;
  Done write_done_;
  std::string trouble_;
  bool is_ended_ = false;
};

}  // namespace perdure
