// Any bytes sent to a connection of the server, in portions: never a crash, never a request that
// the strict rules forbid. A request accepted by both our reader and Beast's means the same to
// both.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/check.h"
#include "memory_stream.h"
#include "net/head.h"
#include "net/server/connection.h"

namespace perdure {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t body_bytes_max = 1000;

// The rules again, by plain search.
void check_rules(const HttpRequest& request) {
  CHECK(request.path.starts_with('/'));
  CHECK(!request.path.contains('\0') && !request.path.contains('\n'));
  CHECK(!(request.path + "/").contains("/../") && !(request.path + "/").contains("/./"));
  CHECK(!request.target.contains(' ') && !request.target.contains('#'));
  CHECK(request.body.size() <= body_bytes_max);
  CHECK(request.count("host") <= 1);
  CHECK(request.count("content-length") + request.count("transfer-encoding") <= 1);
  for (const HttpHeader& header : request.headers) {
    for (const std::string& text : {header.name, header.value}) {
      for (const char c : text) CHECK(c != '\r' && c != '\n' && c != '\0');
    }
    CHECK(!header.name.empty() && !header.name.contains(' ') && !header.name.contains(':'));
    CHECK(!header.value.starts_with(' ') && !header.value.ends_with(' '));
  }
}

void compare_with_beast(std::string_view bytes) {
  const HeadSearch search = find_head_end(bytes, 0);
  if (search.end != HeadEnd::found) return;
  const std::string_view head = bytes.substr(0, search.bytes);
  const auto ours = parse_request_head(head);
  if (!ours) return;
  check_rules(ours->request);
  CHECK(head.ends_with("\r\n\r\n"));
  http::request_parser<http::string_body> theirs;
  theirs.body_limit(boost::none);
  theirs.header_limit(1U << 20U);
  boost::system::error_code error;
  const std::size_t used = theirs.put({head.data(), head.size()}, error);
  // It rejects more, such as some values of Connection. If both accept, the results must be equal.
  if (error || !theirs.is_header_done()) return;
  CHECK(used == head.size());
  CHECK(theirs.get().method_string() == ours->request.method);
  CHECK(theirs.get().target() == ours->request.target);
  CHECK(theirs.chunked() == (ours->body.kind == BodyKind::chunked));
  const auto length = theirs.content_length();
  CHECK(length.has_value() == (ours->body.kind == BodyKind::length));
  if (length) CHECK(*length == ours->body.bytes);
  std::size_t count = 0;
  for (const auto& field : theirs.get()) {
    CHECK(count < ours->request.headers.size());
    CHECK(ours->request.count({field.name_string().data(), field.name_string().size()}) > 0);
    ++count;
  }
  CHECK(count == ours->request.headers.size());
}

// The server around one connection. Some requests are answered late, some by a stream.
class Stage final : public ConnectionHost, public HttpHandler, public HttpStreamEvents {
 public:
  explicit Stage(HttpIo& io) : reactor_(reactor_of(io)) {}

  HttpReactor& reactor() override { return reactor_; }
  HttpHandler& handler() override { return *this; }
  const HttpServerLimits& limits() const override { return limits_; }
  bool is_down() const override { return false; }
  void schedule(std::shared_ptr<Connection> connection) override {
    if (!connection->is_scheduled) scheduled_.push_back(connection);
    connection->is_scheduled = true;
  }
  bool note_known(Connection& /*connection*/, const std::string& /*credential*/) override {
    return true;
  }
  void forget(Connection& /*connection*/) override { is_forgotten = true; }

  HttpAdmission on_head(const HttpRequest& head) override {
    check_rules(head);
    CHECK(head.body.empty());
    HttpAdmission out{.body_bytes_max = body_bytes_max};
    if (head.path == "/refused") out.refuse = HttpResponse{.status = 401};
    return out;
  }
  void on_request(HttpRequest request, std::shared_ptr<HttpExchange> exchange) override {
    check_rules(request);
    CHECK(open_ == nullptr || open_->is_gone(), "one request at a time");
    if (request.path == "/dropped") return;
    if (request.path == "/stream") {
      const auto stream = exchange->stream({}, *this);
      stream->write(std::make_shared<const std::string>("some bytes"));
      return stream->finish();
    }
    if (request.path.size() % 2 == 0) return exchange->respond({.body = request.body});
    open_ = std::move(exchange);
  }
  void on_drained() override {}
  void on_closed() override {}

  void go_on() {
    if (open_) std::exchange(open_, nullptr)->respond({.body = "late"});
    for (const auto& connection : std::exchange(scheduled_, {})) {
      connection->is_scheduled = false;
      connection->round();
    }
  }
  bool is_quiet() const { return scheduled_.empty() && !open_; }
  bool is_forgotten = false;

 private:
  HttpReactor& reactor_;
  HttpServerLimits limits_{.head_bytes_max = 2000};
  std::vector<std::shared_ptr<Connection>> scheduled_;
  std::shared_ptr<HttpExchange> open_;
};

void serve(std::string_view bytes, std::size_t portion) {
  static const std::unique_ptr<HttpIo> io = HttpIo::create();
  const auto stage = std::make_shared<Stage>(*io);
  const auto stream = std::make_shared<MemoryStream>();
  stream->refuses_every = portion % 3 == 0 ? 0 : portion % 3 + 1;
  const auto peer = std::make_shared<const HttpPeer>();
  auto connection = std::make_shared<Connection>(stage, stream, peer);
  connection->start();
  for (std::size_t at = 0; at < bytes.size() && stream->wants_bytes(); at += portion) {
    stream->give(bytes.substr(at, portion));
    stage->go_on();
    stream->make_writable();
  }
  stream->end();
  // Every connection whose peer has ended ends too, after its remaining output.
  for (std::size_t i = 0; i < 100'000 && !(stage->is_forgotten && stage->is_quiet()); ++i) {
    stage->go_on();
    stream->make_writable();
  }
  CHECK(stage->is_forgotten && stream->is_closed);
}

}  // namespace
}  // namespace perdure

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  perdure::compare_with_beast(bytes);
  perdure::serve(bytes, data[0] + 1UL);
  return 0;
}
