// Embedded files: those of the web page as the build made them, and what caches are told.
#include "http/static_files.h"

#include <array>

#include <gtest/gtest.h>

#include "http/fixture_for_test.h"

namespace perdure {
namespace {

using namespace http_test;

HttpRequest request(std::string path, std::vector<HttpHeader> headers = {}) {
  return {.method = "GET", .path = std::move(path), .headers = std::move(headers)};
}

std::string header(const HttpResponse& response, std::string_view name) {
  for (const HttpHeader& each : response.headers) {
    if (each.name == name) return each.value;
  }
  return "";
}

TEST(StaticFiles, the_page_is_inside_and_says_its_version) {
  const auto plain = answer_static_file(embedded_files(), request("/"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->status, 200);
  EXPECT_EQ(header(*plain, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(header(*plain, "Cache-Control"), "no-cache");
  EXPECT_EQ(header(*plain, "Content-Encoding"), "");
  EXPECT_TRUE(plain->body.starts_with("<!doctype html>"));
  EXPECT_TRUE(plain->body.ends_with("</html>\n"));
  EXPECT_FALSE(plain->body.contains("@PERDURE_VERSION@"));
  EXPECT_FALSE(plain->body.contains("<script"));
  EXPECT_FALSE(answer_static_file(embedded_files(), request("/none")));
  EXPECT_FALSE(answer_static_file(embedded_files(), request("/index.html/")));
}

TEST(StaticFiles, it_is_sent_compressed_to_whom_can_take_it) {
  const auto compressed = [](const char* accepted) {
    const auto answer =
        answer_static_file(embedded_files(), request("/", {{"accept-encoding", accepted}}));
    EXPECT_EQ(header(*answer, "Vary"), "Accept-Encoding");
    EXPECT_EQ(answer->fixed_body.empty(), header(*answer, "Content-Encoding").empty());
    EXPECT_NE(answer->fixed_body.empty(), answer->body.empty());
    if (!answer->fixed_body.empty()) EXPECT_TRUE(answer->fixed_body.starts_with("\x1f\x8b"));
    return !answer->fixed_body.empty();
  };
  for (const char* yes : {"gzip", "br, GZip;q=0.5", "*", "*;q=0, gzip"}) {
    EXPECT_TRUE(compressed(yes)) << yes;
  }
  for (const char* no : {"", "br", "gzip;q=0", "gzip; q=0.000", "*;q=0", "xgzip"}) {
    EXPECT_FALSE(compressed(no)) << no;
  }
}

TEST(StaticFiles, who_has_it_gets_304) {
  const auto first = answer_static_file(embedded_files(), request("/"));
  const std::string etag = header(*first, "ETag");
  EXPECT_TRUE(etag.starts_with("W/\""));
  const auto status = [](const std::string& known) {
    const auto answer =
        answer_static_file(embedded_files(), request("/", {{"If-None-Match", known}}));
    EXPECT_EQ(header(*answer, "ETag").empty(), false);
    if (answer->status == 304) EXPECT_TRUE(answer->body.empty() && answer->fixed_body.empty());
    return answer->status;
  };
  EXPECT_EQ(status(etag), 304);
  EXPECT_EQ(status(etag.substr(2)), 304);
  EXPECT_EQ(status("\"x\", " + etag), 304);
  EXPECT_EQ(status("*"), 304);
  EXPECT_EQ(status("\"x\""), 200);
  EXPECT_EQ(status(""), 200);
  EXPECT_EQ(status("x" + etag.substr(2)), 200);
}

TEST(StaticFiles, a_hashed_name_may_be_kept_for_ever) {
  EmbeddedFile file = embedded_files()[0];
  file.is_immutable = true;
  const auto answer = answer_static_file(std::span(&file, 1), request(std::string(file.path)));
  EXPECT_EQ(header(*answer, "Cache-Control"), "public, max-age=31536000, immutable");
}

TEST(StaticFiles, security_headers_forbid_what_a_page_does_not_need) {
  const HttpResponse response{.headers = security_headers()};
  const std::string policy = header(response, "Content-Security-Policy");
  EXPECT_TRUE(policy.contains("default-src 'self'"));
  EXPECT_TRUE(policy.contains("frame-ancestors 'none'"));
  EXPECT_TRUE(policy.contains("require-trusted-types-for 'script'"));
  EXPECT_FALSE(policy.contains("unsafe"));
  EXPECT_EQ(header(response, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header(response, "Cross-Origin-Resource-Policy"), "same-origin");
  EXPECT_EQ(header(response, "Referrer-Policy"), "no-referrer");
}

using StaticServer = ServerTest;

TEST_F(StaticServer, head_and_304_over_the_wire_have_no_body) {
  handler.answer = [](const HttpRequest& asked, auto exchange) {
    exchange->respond(*answer_static_file(embedded_files(), asked));
  };
  listen();
  auto client = connect();
  client.send("HEAD / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n" +
              get("/", "If-None-Match: *\r\n") + get("/style.css", "Connection: close\r\n"));
  ASSERT_TRUE(client.until_ended());
  const std::string& all = client.received;
  const std::size_t second = all.find("HTTP/1.1 304");
  const std::size_t third = all.find("HTTP/1.1 200 OK", second);
  ASSERT_NE(second, std::string::npos);
  ASSERT_NE(third, std::string::npos);
  EXPECT_TRUE(all.substr(0, second).ends_with("\r\n\r\n"));
  EXPECT_TRUE(all.substr(0, second).contains("Content-Length: "));
  EXPECT_TRUE(all.substr(second, third - second).ends_with("\r\n\r\n"));
  EXPECT_FALSE(all.substr(second, third - second).contains("Content-Length"));
  EXPECT_TRUE(all.contains("text/css"));
}

}  // namespace
}  // namespace perdure
