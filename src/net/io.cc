// HttpIo and HttpReactor on one Asio context. Asio only reports here when a descriptor is ready;
// reads and writes are plain system calls, so that an idle connection holds no buffer.
#include "net/io.h"

#include <array>
#include <chrono>
#include <map>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fcntl.h>

#include "base/check.h"
#include "net/reactor.h"

namespace perdure {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Allows pending handlers to be dropped before its destruction.
class Context : public asio::io_context {
 public:
  using asio::io_context::io_context;
  void drop_pending() { shutdown(); }
};
using AsioDescriptor = asio::posix::basic_stream_descriptor<Context::executor_type>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>,
                                         Context::executor_type>;

constexpr std::size_t read_buffer_bytes = 64UL << 10;
constexpr std::size_t handlers_at_once = 64;  // limit for one run_for_ms()

class ReactorDescriptor final : public Descriptor {
 public:
  ReactorDescriptor(Context& context, Socket socket, DescriptorEvents& events)
      : state_(std::make_shared<State>(context, socket.release(), &events)) {}
  ~ReactorDescriptor() override {
    state_->events = nullptr;
    error_code ignored;
    state_->descriptor.close(ignored);
  }

  int get() const override { return state_->native; }

  void wait_readable() override {
    if (std::exchange(state_->waits_readable, true)) return;
    state_->descriptor.async_wait(AsioDescriptor::wait_read, [state = state_](const error_code&) {
      state->waits_readable = false;
      if (state->events != nullptr) state->events->on_readable();
    });
  }

  void wait_writable() override {
    if (std::exchange(state_->waits_writable, true)) return;
    state_->descriptor.async_wait(AsioDescriptor::wait_write, [state = state_](const error_code&) {
      state->waits_writable = false;
      if (state->events != nullptr) state->events->on_writable();
    });
  }

 private:
  // Shared with the handlers, which may still be queued after the descriptor is destroyed.
  struct State {
    State(Context& context, int fd, DescriptorEvents* told)
        : descriptor(context.get_executor(), fd), events(told), native(fd) {}
    AsioDescriptor descriptor;
    DescriptorEvents* events;
    int native;
    bool waits_readable = false;
    bool waits_writable = false;
  };

  std::shared_ptr<State> state_;
};

// A descriptor of another loop, and the function to call when it is readable.
class Driven {
 public:
  Driven(Context& context, int descriptor, std::move_only_function<void()> pump)
      : descriptor_(context.get_executor(), descriptor), pump_(std::move(pump)) {}

  void wait() {
    descriptor_.async_wait(AsioDescriptor::wait_read, [this](const error_code& error) {
      if (error == asio::error::operation_aborted) return;
      pump_();
      wait();
    });
  }

 private:
  AsioDescriptor descriptor_;
  std::move_only_function<void()> pump_;
};

class AsioIo final : public HttpIo, public HttpReactor {
 public:
  AsioIo() : context_(1), guard_(context_.get_executor()) {}
  // While all members exist: destroyed handlers may cancel a timer or post again.
  ~AsioIo() override { context_.drop_pending(); }

  void drive(int descriptor, std::move_only_function<void()> pump) override {
    // A copy, because Asio closes what it watches, and the loop owns its own.
    const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    CHECK(copy >= 0, "a loop's descriptor cannot be copied");
    driven_.push_back(std::make_unique<Driven>(context_, copy, std::move(pump)));
    driven_.back()->wait();
  }

  void run() override {
    context_.restart();
    if (!std::exchange(stopping_, false)) context_.run();
    stopping_ = false;
  }
  void stop() override {
    stopping_ = true;
    context_.stop();
  }
  void run_for_ms(int wait_ms) override {
    context_.restart();
    // Asio runs nothing in a time of 0.
    if (run_some() > 0 || wait_ms <= 0) return;
    if (context_.run_one_for(std::chrono::milliseconds(wait_ms)) > 0) run_some();
  }

  void post(Task task) override { asio::post(context_, std::move(task)); }

  TimerId after_ms(std::int64_t delay_ms, Task task) override {
    const TimerId id = next_timer_++;
    auto& timer = timers_.emplace(id, context_.get_executor()).first->second;
    timer.expires_after(std::chrono::milliseconds(delay_ms));
    timer.async_wait([this, id, task = std::move(task)](const error_code&) mutable {
      // A cancelled timer was removed from the map, even if its handler is already queued.
      if (timers_.erase(id) != 0) task();
    });
    return id;
  }
  void cancel(TimerId timer) override { timers_.erase(timer); }

  std::unique_ptr<Descriptor> adopt(Socket socket, DescriptorEvents& events) override {
    return std::make_unique<ReactorDescriptor>(context_, std::move(socket), events);
  }

  void resolve(const std::string& host, std::uint16_t port,
               std::move_only_function<void(Result<std::vector<SocketAddress>>)> done) override {
    using Found = asio::ip::tcp::resolver::results_type;
    resolver_.async_resolve(
        host, std::to_string(port),
        [host, done = std::move(done)](const error_code& error, const Found& found) mutable {
          if (error) {
            return done(fail(Code::unavailable, "look up " + host + ": " + error.message()));
          }
          std::vector<SocketAddress> out;
          for (const auto& entry : found) {
            const auto endpoint = entry.endpoint();
            const auto address = numeric_address(endpoint.address().to_string(), endpoint.port());
            if (address) out.push_back(*address);
          }
          done(std::move(out));
        });
  }

  std::span<char> read_buffer() override {
    if (!read_buffer_) read_buffer_ = std::make_unique<char[]>(read_buffer_bytes);
    return {read_buffer_.get(), read_buffer_bytes};
  }
  std::int64_t now_ms() const override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
  void* context() override { return static_cast<asio::io_context*>(&context_); }

 private:
  // A descriptor that is always ready, such as a stream at its end, must not block the caller.
  std::size_t run_some() {
    std::size_t ran = 0;
    while (ran < handlers_at_once && context_.poll_one() > 0) ++ran;
    return ran;
  }

  Context context_;
  asio::executor_work_guard<Context::executor_type> guard_;
  asio::ip::tcp::resolver resolver_{context_};
  std::map<TimerId, Timer> timers_;
  std::vector<std::unique_ptr<Driven>> driven_;
  std::unique_ptr<char[]> read_buffer_;
  TimerId next_timer_ = 1;
  bool stopping_ = false;
};

}  // namespace

std::unique_ptr<HttpIo> HttpIo::create() { return std::make_unique<AsioIo>(); }

HttpReactor& reactor_of(HttpIo& io) {
  auto* found = dynamic_cast<AsioIo*>(&io);
  CHECK(found != nullptr, "an HttpIo that is not ours");
  return *found;
}

}  // namespace perdure
