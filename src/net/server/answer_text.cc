#include "net/server/answer_text.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/check.h"
#include "base/json/json.h"
#include "net/server/static_files.h"
#include "net/websocket/letters.h"

namespace perdure {
namespace {

// "Sun, 06 Nov 1994 08:49:37 GMT", formatted once per second.
const std::string& date_now() {
  static std::time_t made_at = -1;
  static std::string text;
  const std::time_t now = std::time(nullptr);
  if (now == made_at) return text;
  constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 64> line{};
  const int size = std::snprintf(line.data(), line.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                                 days[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                                 months[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900,
                                 utc.tm_hour, utc.tm_min, utc.tm_sec);
  text.assign(line.data(), static_cast<std::size_t>(size));
  made_at = now;
  return text;
}

void add_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  out.append("\r\n");
}

bool is_ours(std::string_view name) {
  return equal_ignoring_case(name, "content-length") || equal_ignoring_case(name, "date") ||
         equal_ignoring_case(name, "connection") || equal_ignoring_case(name, "transfer-encoding");
}

}  // namespace

std::string answer_head(const HttpResponse& response, const AnswerFraming& framing) {
  CHECK(response.status >= 100 && response.status <= 599);
  std::string out;
  out.reserve(256);
  out.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  out.append(reason_phrase(response.status)).append("\r\n");
  for (const HttpHeader& header : response.headers) {
    CHECK(is_token(header.name), header.name);
    if (!is_ours(header.name)) add_header(out, header.name, header.value);
  }
  add_header(out, "Date", date_now());
  if (framing.content_length) {
    add_header(out, "Content-Length", std::to_string(*framing.content_length));
  }
  if (framing.chunked) add_header(out, "Transfer-Encoding", "chunked");
  if (framing.closes) add_header(out, "Connection", "close");
  out.append("\r\n");
  return out;
}

HttpResponse error_answer(int status, Code code, std::string_view message) {
  JsonWriter writer;
  writer.begin_object().key("error").begin_object();
  writer.key("code").string(code_name(code)).key("message").string(message);
  writer.key("actions").begin_array().end_array();
  writer.end_object().end_object();
  HttpResponse answer{
      .status = status,
      .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
      .body = std::string(writer.text())};
  for (const HttpHeader& header : security_headers()) answer.headers.push_back(header);
  return answer;
}

HttpResponse upgrade_required_answer() {
  HttpResponse answer =
      error_answer(426, Code::invalid_argument,
                   "this is a WebSocket: connect with `Upgrade: websocket` over HTTP/1.1");
  answer.headers.push_back({"Upgrade", "websocket"});
  return answer;
}

std::string request_text(const HttpRequest& request, std::string_view host) {
  std::string out = request.method + " " + request.target + " HTTP/1.1\r\n";
  if (request.count("host") == 0) add_header(out, "Host", host);
  for (const HttpHeader& header : request.headers) {
    CHECK(is_token(header.name), header.name);
    if (equal_ignoring_case(header.name, "content-length")) continue;
    add_header(out, header.name, header.value);
  }
  const bool has_body = !request.body.empty() || request.method == "POST" ||
                        request.method == "PUT" || request.method == "PATCH";
  if (has_body) add_header(out, "Content-Length", std::to_string(request.body.size()));
  out.append("\r\n").append(request.body);
  return out;
}

}  // namespace perdure
