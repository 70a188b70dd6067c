// One read is in progress at a time. The next one starts when the socket has sent the last one, the
// client's acks allow it, and the shell has reported more output.
#include "daemon/api/ws/shell_socket.h"

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes/base64.h"
#include "base/limits.h"
#include "daemon/api/gate/session_argument.h"
#include "daemon/api/routes/session/workspace_link.h"

namespace perdure {
namespace {

constexpr std::uint16_t close_policy = 1008;

struct Opening {
  std::string shell;  // empty: a new one
  std::uint64_t offset = 0;
  std::uint64_t columns = 80;
  std::uint64_t rows = 24;
};

Result<std::uint64_t> number_of(const HttpRequest& request, std::string_view name,
                                std::uint64_t otherwise) {
  const auto text = request.parameter(name);
  if (!text) return otherwise;
  std::uint64_t out = 0;
  const auto [at, error] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (error != std::errc() || at != text->data() + text->size()) {
    return fail(Code::invalid_argument, std::string(name) + " must be a number");
  }
  return out;
}

Result<Opening> parse_opening(const HttpRequest& request) {
  Opening out;
  out.shell = request.parameter("shell").value_or("");
  out.offset = TRY(number_of(request, "offset", out.offset));
  out.columns = TRY(number_of(request, "columns", out.columns));
  out.rows = TRY(number_of(request, "rows", out.rows));
  return out;
}

// Owned by the open streams, which end it when the principal loses its right.
class ShellSocket final : public WebSocketEvents, public OpenStream {
 public:
  ShellSocket(Streams& streams, Principal principal, ExecKey exec, Opening opening)
      : streams_(streams),
        principal_(std::move(principal)),
        exec_(exec),
        opening_(std::move(opening)) {}
  ~ShellSocket() override { workspaces().unwatch_shells(watch_); }

  static void start(std::unique_ptr<ShellSocket> made, StreamSlots::Slot slot,
                    HttpExchange& exchange) {
    ShellSocket& self = *made;
    self.seat_ = self.streams_.add(std::move(made), std::move(slot));
    self.socket_ = exchange.upgrade({.message_bytes_max = shell_input_bytes_max}, self);
  }

  const Principal& principal() const override { return principal_; }
  void beat() override {}  // the protocol has no heartbeat; a client may ping
  void end() override {
    if (!closed_) socket_->close(close_policy, "revoked");
  }

 private:
  void on_open() override {
    watch_ = workspaces().watch_shells(exec_, [this](const std::string& shell) {
      if (closed_ || shell != shell_) return;
      has_more_ = true;
      read_on();
    });
    if (!opening_.shell.empty()) return begin(opening_.shell, opening_.offset);
    JsonWriter json;
    json.begin_object().key("columns").number_unsigned(opening_.columns);
    json.key("rows").number_unsigned(opening_.rows).end_object();
    ask("shell.open", std::move(json).take(), [this](const JsonObject& answer) {
      begin(json_string(answer.find("shell")).value_or(""), 0);
    });
  }
  void on_text(std::string_view text) override {
    if (const Result<> done = control(text); !done) tell_error(done.error());
  }
  void on_binary(std::string_view bytes) override {
    if (shell_.empty()) return;
    JsonWriter json;
    json.begin_object().key("shell").string(shell_);
    json.key("base64").string(base64_encode(bytes)).end_object();
    ask("shell.input", std::move(json).take(), [](const JsonObject&) {});
  }
  void on_drained() override { read_on(); }
  void on_closed(std::uint16_t, const std::string&) override {
    closed_ = true;
    socket_.reset();
    streams_.retire(seat_);
  }

  void begin(std::string shell, std::uint64_t offset) {
    shell_ = std::move(shell);
    offset_ = acked_ = offset;
    JsonWriter json;
    json.begin_object().key("type").string("opened").key("shell").string(shell_);
    json.key("offset").number_unsigned(offset_).end_object();
    send(std::move(json).take());
    has_more_ = true;
    read_on();
  }

  Result<> control(std::string_view text) {
    const JsonObject object = TRY(JsonObject::parse(text));
    const std::string type = TRY(json_string(object.find("type")));
    if (type == "ack") {
      acked_ = TRY(json_uint(object.find("offset")));
      acks_ = true;
      read_on();
      return {};
    }
    if (type != "resize") return fail(Code::invalid_argument, "unknown control '" + type + "'");
    JsonWriter json;
    json.begin_object().key("shell").string(shell_);
    json.key("columns").number_unsigned(TRY(json_uint(object.find("columns"))));
    json.key("rows").number_unsigned(TRY(json_uint(object.find("rows")))).end_object();
    ask("shell.resize", std::move(json).take(), [](const JsonObject&) {});
    return {};
  }

  void read_on() {
    const bool too_far = acks_ && offset_ > acked_ && offset_ - acked_ > shell_window_bytes;
    if (closed_ || shell_.empty() || reading_ || !has_more_ || too_far) return;
    if (socket_->unsent_bytes() > 0) return;  // on_drained continues here
    reading_ = true;
    has_more_ = false;
    JsonWriter json;
    json.begin_object().key("shell").string(shell_).key("offset").number_unsigned(offset_);
    json.key("as").string("base64").end_object();
    ask("shell.read", std::move(json).take(),
        [this](const JsonObject& answer) { on_read(answer); });
  }

  void on_read(const JsonObject& answer) {
    reading_ = false;
    const std::uint64_t lost = json_uint(answer.find("lost_bytes")).value_or(0);
    if (lost > 0) send(R"({"type":"lost","bytes":)" + std::to_string(lost) + "}");
    const std::uint64_t next = json_uint(answer.find("next_offset")).value_or(offset_);
    const std::uint64_t end = json_uint(answer.find("output_end")).value_or(next);
    Result<std::string> bytes = base64_decode(json_string(answer.find("base64")).value_or(""));
    if (bytes && !bytes->empty()) {
      socket_->send_binary(std::make_shared<const std::string>(std::move(*bytes)));
    }
    offset_ = next;
    if (next < end) {
      has_more_ = true;
      return read_on();
    }
    const std::string_view exit = answer.find("exit");
    if (exit.empty() || json_is_null(exit)) return;
    send(R"({"type":"exit",)" + std::string(exit.substr(1)));
    socket_->close(1000, "the shell has ended");
  }

  template <class Then>
  void ask(std::string method, std::string params, Then then) {
    workspaces().call(exec_, std::move(method), std::move(params),
                      [this, exists = std::weak_ptr(exists_), then](Result<std::string> result) {
                        if (exists.expired() || closed_) return;
                        if (!result) return give_up(result.error());
                        const Result<JsonObject> answer = JsonObject::parse(*result);
                        if (!answer) return give_up(answer.error());
                        then(*answer);
                      });
  }
  void give_up(const Error& error) {
    tell_error(error);
    if (reading_ || shell_.empty()) socket_->close(1011, "the shell cannot be read");
  }
  void tell_error(const Error& error) {
    JsonWriter json;
    json.begin_object().key("type").string("error").key("code").string(code_name(error.code()));
    json.key("message").string(error.message()).end_object();
    send(std::move(json).take());
  }
  void send(std::string text) {
    if (socket_) socket_->send_text(std::make_shared<const std::string>(std::move(text)));
  }

  Workspaces& workspaces() { return streams_.world().workspaces; }

  Streams& streams_;
  Principal principal_;
  ExecKey exec_;
  Opening opening_;
  std::shared_ptr<WebSocket> socket_;
  std::uint64_t seat_ = 0;   // its number among the open streams
  std::uint64_t watch_ = 0;  // 0: none
  std::string shell_;
  std::uint64_t offset_ = 0;
  std::uint64_t acked_ = 0;
  bool acks_ = false;  // the client reports how far it has read
  bool has_more_ = false;
  bool reading_ = false;
  bool closed_ = false;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace

void open_shell_socket(Streams& streams, Call call) {
  ApiWorld& world = streams.world();
  const Result<SessionId> session = shell_session_of(world, call);
  if (!session) return call.fail(session.error());
  Result<Opening> opening = parse_opening(call.request);
  if (!opening) return call.fail(opening.error());
  Result<StreamSlots::Slot> slot = streams.admit(call.principal);
  if (!slot) return call.fail(slot.error());
  const std::string by = call.principal.id;
  with_execution(world, *session, by,
                 [&streams, opening = std::move(*opening), slot = std::move(*slot),
                  call = std::move(call)](Result<ExecKey> exec) mutable {
                   if (!exec) return call.fail(exec.error());
                   ShellSocket::start(std::make_unique<ShellSocket>(streams, call.principal, *exec,
                                                                    std::move(opening)),
                                      std::move(slot), *call.exchange);
                 });
}

}  // namespace perdure
