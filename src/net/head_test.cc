// Which requests are refused and why: those that two readers could understand as different requests
// (RFC 9112, section 11); and which forms are valid.
#include "net/head.h"

#include <string>

#include <gtest/gtest.h>

#include "net/server/body_reader.h"

namespace perdure {
namespace {

// A request with this line and these header lines, including Host.
std::string request(std::string_view line, std::string_view headers = {}) {
  return std::string(line) + "\r\nHost: a:1\r\n" + std::string(headers) + "\r\n";
}

int status_of(std::string_view head) {
  const auto parsed = parse_request_head(head);
  return parsed ? 200 : parsed.error().status;
}

TEST(RequestHead, smuggling_is_refused) {
  struct Case {
    const char* what;
    const char* headers;
    int status = 400;
  };
  for (const Case& each : {
           Case{"two lengths", "Content-Length: 5\r\nContent-Length: 6\r\n"},
           Case{"two equal lengths", "Content-Length: 5\r\nContent-Length: 5\r\n"},
           Case{"a list of lengths", "Content-Length: 5, 5\r\n"},
           Case{"length and coding", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"},
           Case{"coding and length", "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"},
           Case{"two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"},
           Case{"another coding", "Transfer-Encoding: gzip, chunked\r\n", 501},
           Case{"chunked twice", "Transfer-Encoding: chunked, chunked\r\n", 501},
           Case{"a coding in disguise", "Transfer-Encoding: xchunked\r\n", 501},
           Case{"a quoted coding", "Transfer-Encoding: \"chunked\"\r\n", 501},
           Case{"a negative length", "Content-Length: -1\r\n"},
           Case{"a signed length", "Content-Length: +1\r\n"},
           Case{"a hexadecimal length", "Content-Length: 0x10\r\n"},
           Case{"a length too large", "Content-Length: 18446744073709551616\r\n"},
           Case{"no length", "Content-Length:\r\n"},
           Case{"a length and a word", "Content-Length: 5 5\r\n"},
           Case{"a blank before the colon", "Content-Length : 5\r\n"},
           Case{"a tab before the colon", "Transfer-Encoding\t: chunked\r\n"},
           Case{"a folded line", "X: a\r\n b\r\n"},
           Case{"a folded line by a tab", "X: a\r\n\tContent-Length: 5\r\n"},
           Case{"a bare CR", "X: a\rContent-Length: 5\r\n"},
           Case{"a bare LF", "X: a\nContent-Length: 5\r\n"},
           Case{"a line without a colon", "Content-Length\r\n"},
           Case{"no name", ": x\r\n"},
           Case{"a name with a blank", "Content Length: 5\r\n"},
           Case{"a control character", "X: a\x01\r\n"},
           Case{"DEL", "X: a\x7f\r\n"},
           Case{"a second Host", "Host: b\r\n"},
           Case{"an expectation", "Expect: 200-ok\r\n", 417},
       }) {
    EXPECT_EQ(status_of(request("POST / HTTP/1.1", each.headers)), each.status) << each.what;
  }
  using namespace std::string_literals;
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"s), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(status_of(" GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n"), 400);
}

TEST(RequestHead, first_lines) {
  for (const char* line :
       {"GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET\t/ HTTP/1.1", "GET / HTTP/1.1 ", "GET /",
        "G\"T / HTTP/1.1", " / HTTP/1.1", "GET / http/1.1", "GET / HTTP/11", "GET / HTTP/1.1x",
        "GET /a b HTTP/1.1", "GET /a\x80 HTTP/1.1", "GET /#x HTTP/1.1", "/ HTTP/1.1", ""}) {
    EXPECT_EQ(status_of(request(line)), 400) << line;
  }
  EXPECT_EQ(status_of(request("GET / HTTP/2.0")), 505);
  EXPECT_EQ(status_of(request("GET / HTTP/0.9")), 505);
  EXPECT_EQ(status_of(request("M-SEARCH / HTTP/1.1")), 200);
}

TEST(RequestHead, targets) {
  struct Case {
    const char* target;
    const char* path = nullptr;  // null: refused
  };
  for (const Case& each : {
           Case{"/", "/"},
           Case{"//", "//"},
           Case{"/a/b.c/..d/...", "/a/b.c/..d/..."},
           Case{"/%41%c3%a4", "/A\xc3\xa4"},
           Case{"/a?b/../c", "/a"},
           Case{"http://a:1/x?y", "/x"},
           Case{"HTTP://A:1", "/"},
           Case{"http://a:1?q", "/"},
           Case{"http://a/"},
           Case{"http://a:1@b/"},
           Case{"http://"},
           Case{"ftp://a:1/"},
           Case{"*"},
           Case{"a:1"},
           Case{"x/y"},
           Case{"/.."},
           Case{"/../x"},
           Case{"/a/./b"},
           Case{"/a/%2e%2E/b"},
           Case{"/a%2fb"},
           Case{"/a%2Fb"},
           Case{"/%"},
           Case{"/%4"},
           Case{"/%4g"},
           Case{"/%00"},
           Case{"/%0d%0a"},
           Case{"/?%"},
           Case{"/?a=%zz"},
       }) {
    const auto parsed =
        parse_request_head(request("GET " + std::string(each.target) + " HTTP/1.1"));
    ASSERT_EQ(parsed.has_value(), each.path != nullptr) << each.target;
    if (parsed) EXPECT_EQ(parsed->request.path, each.path) << each.target;
  }
  std::string many = "/?";
  for (int i = 0; i < 257; ++i) many += "a&";
  EXPECT_EQ(status_of(request("GET " + many + " HTTP/1.1")), 400);
  EXPECT_EQ(status_of(request("GET " + many.substr(0, 514) + " HTTP/1.1")), 200);
}

TEST(RequestHead, what_connection_and_expect_say) {
  const auto parse = [](std::string_view headers) {
    return parse_request_head(request("GET / HTTP/1.1", headers)).value();
  };
  EXPECT_TRUE(parse("").keeps_alive);
  EXPECT_FALSE(parse("Connection: foo, Close\r\n").keeps_alive);
  EXPECT_TRUE(parse("Expect: 100-Continue\r\n").expects_continue);
  EXPECT_TRUE(
      parse("Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n").request.wants_websocket);
  EXPECT_FALSE(parse("Upgrade: websocket\r\n").request.wants_websocket);
  EXPECT_EQ(parse("Content-Length: 007\r\n").body.bytes, 7U);
  EXPECT_EQ(parse("transfer-encoding: CHUNKED\r\n").body.kind, BodyKind::chunked);
}

TEST(RequestHead, its_end_is_found_across_any_cut) {
  const std::string whole = request("GET / HTTP/1.1", "A: b\r\n") + "rest";
  const std::size_t end = whole.size() - 4;
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    const HeadSearch first = find_head_end(whole.substr(0, cut), 0);
    EXPECT_EQ(first.end == HeadEnd::found, cut >= end);
    const HeadSearch second = find_head_end(whole, std::min(cut, end - 1));
    EXPECT_EQ(second.bytes, end);
  }
  EXPECT_EQ(find_head_end("GET / HTTP/1.0\n\n", 0).end, HeadEnd::broken);
  EXPECT_EQ(find_head_end("\r\nGET", 0).end, HeadEnd::broken);
  EXPECT_EQ(find_head_end("\n", 0).end, HeadEnd::broken);
}

struct Read {
  BodyReader::State state;
  std::string body;
  std::size_t used;
};

// In portions of equal size, so that tests cover every cut.
Read read_chunked(std::string_view bytes, std::size_t portion, std::size_t bytes_max = 1000) {
  BodyReader reader({BodyKind::chunked}, bytes_max);
  Read out{};
  while (out.used < bytes.size() && reader.state() == BodyReader::State::more) {
    out.used += reader.feed(bytes.substr(out.used, portion), out.body);
  }
  out.state = reader.state();
  return out;
}

TEST(ChunkedBody, is_read_to_the_letter_whatever_the_cuts) {
  using State = BodyReader::State;
  struct Case {
    std::string bytes;
    State state;
    std::string body;
  };
  for (const Case& each : {
           Case{"0\r\n\r\n", State::done, ""},
           Case{"1\r\na\r\n00\r\n\r\n", State::done, "a"},
           Case{"A;n=v\r\n0123456789\r\n0;x\r\nT: v\r\nU: w\r\n\r\n", State::done, "0123456789"},
           Case{"2\r\nab\r\n", State::more, "ab"},
           Case{"3e8\r\n", State::more, ""},
           Case{"3e9\r\n", State::too_long, ""},
           Case{"ffffffffffffffff\r\n", State::broken, ""},
           Case{"\r\n", State::broken, ""},
           Case{";x\r\n", State::broken, ""},
           Case{"g\r\n", State::broken, ""},
           Case{"-1\r\n", State::broken, ""},
           Case{"0x1\r\n", State::broken, ""},
           Case{" 1\r\n", State::broken, ""},
           Case{"1 \r\n", State::broken, ""},
           Case{"1\n", State::broken, ""},
           Case{"1\rx", State::broken, ""},
           Case{"1;\n", State::broken, ""},
           Case{"1\r\nab", State::broken, "a"},
           Case{"1\r\na\n", State::broken, "a"},
           Case{"1\r\na\rx", State::broken, "a"},
           Case{"0\r\nT: v\n\r\n", State::broken, ""},
           Case{"0\r\nT\r\rx", State::broken, ""},
           Case{"1;" + std::string(9000, 'x'), State::broken, ""},
           Case{"0\r\n" + std::string(9000, 'x'), State::broken, ""},
       }) {
    for (const std::size_t portion : {1UL, 2UL, 3UL, 7UL, 100'000UL}) {
      const Read read = read_chunked(each.bytes, portion);
      EXPECT_EQ(read.state, each.state) << each.bytes.substr(0, 40) << " by " << portion;
      EXPECT_EQ(read.body, each.body) << each.bytes.substr(0, 40) << " by " << portion;
    }
  }
  const Read read = read_chunked("1\r\na\r\n0\r\n\r\nGET /", 100);
  EXPECT_EQ(read.used, 11U);
}

}  // namespace
}  // namespace perdure
