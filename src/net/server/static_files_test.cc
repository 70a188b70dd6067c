// Embedded files: those of the web page as the build made them, and their headers for caches.
#include "net/server/static_files.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "net/fixture_for_test.h"

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

// A file of 70 letters as the build would embed it; its brotli form is made up.
constexpr std::string_view gzip_of_letters(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4c\xa4\x06\x00\x00\x43\x81\x81\x2b\x46\x00\x00"
    "\x00",
    24);
const EmbeddedFile text_file{.path = "/index.html",
                             .content_type = "text/html; charset=utf-8",
                             .etag = "0123",
                             .gzip = gzip_of_letters,
                             .brotli = "brotli",
                             .plain_bytes = 70};
const EmbeddedFile font{.path = "/assets/plex-AbCdEf01.woff2",
                        .content_type = "font/woff2",
                        .etag = "4567",
                        .plain = "wOF2",
                        .plain_bytes = 4,
                        .is_immutable = true};

TEST(StaticFiles, the_page_is_inside_without_inline_script_or_style) {
  const auto plain = answer_static_file(embedded_files(), request("/"));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->status, 200);
  EXPECT_EQ(header(*plain, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(header(*plain, "Cache-Control"), "no-cache");
  EXPECT_EQ(header(*plain, "Content-Encoding"), "");
  EXPECT_TRUE(plain->body.starts_with("<!doctype html>"));
  EXPECT_TRUE(plain->body.ends_with("</html>\n"));
  EXPECT_TRUE(plain->body.contains("<script type=\"module\" crossorigin src=\"/assets/"));
  EXPECT_FALSE(plain->body.contains("<style"));
  EXPECT_FALSE(plain->body.contains("://"));
}

TEST(StaticFiles, what_the_build_made_has_its_type_and_hashed_names_are_kept_for_ever) {
  const std::map<std::string_view, std::string_view> types{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".woff2", "font/woff2"}};
  std::set<std::string_view> seen;
  for (const EmbeddedFile& file : embedded_files()) {
    const std::string_view suffix = file.path.substr(file.path.rfind('.'));
    seen.insert(suffix);
    if (types.contains(suffix)) EXPECT_EQ(file.content_type, types.at(suffix)) << file.path;
    EXPECT_EQ(file.is_immutable, file.path.starts_with("/assets/")) << file.path;
    EXPECT_EQ(file.plain.empty(), !file.gzip.empty()) << file.path;
    EXPECT_EQ(file.gzip.empty(), file.brotli.empty()) << file.path;
    EXPECT_LE(file.brotli.size(), file.gzip.size()) << file.path;
  }
  for (const char* suffix : {".html", ".js", ".css", ".svg"}) EXPECT_TRUE(seen.contains(suffix));
}

TEST(StaticFiles, the_routes_of_the_page_are_the_page_and_nothing_else_is) {
  for (const char* path : {"/", "/tasks", "/search", "/settings", "/settings/keys", "/new",
                           "/s/sess_01", "/t/task_01", "/index.html"}) {
    const auto answer = answer_static_file(embedded_files(), request(path));
    ASSERT_TRUE(answer) << path;
    EXPECT_TRUE(answer->body.starts_with("<!doctype html>")) << path;
    EXPECT_EQ(header(*answer, "Cache-Control"), "no-cache") << path;
  }
  for (const char* path :
       {"", "/none", "/index.html/", "/s", "/s/", "/s/a/b", "/s//", "/t/", "/tasks/", "/S/a",
        "/assets/", "/assets/none.js", "/favicon.ico", "/s/a/../b"}) {
    EXPECT_FALSE(answer_static_file(embedded_files(), request(path))) << path;
  }
}

TEST(StaticFiles, it_is_sent_in_the_smallest_form_that_the_client_takes) {
  const auto coding = [](const char* accepted) {
    const auto answer =
        answer_static_file(std::span(&text_file, 1), request("/", {{"accept-encoding", accepted}}));
    EXPECT_EQ(header(*answer, "Vary"), "Accept-Encoding");
    std::string name = header(*answer, "Content-Encoding");
    if (name == "br") EXPECT_EQ(answer->fixed_body, "brotli");
    if (name == "gzip") EXPECT_EQ(answer->fixed_body, gzip_of_letters);
    if (name.empty()) EXPECT_EQ(answer->body, std::string(70, 'a'));
    return name;
  };
  for (const char* brotli : {"br", "gzip, deflate, br", "gzip, BR;q=0.1", "*"}) {
    EXPECT_EQ(coding(brotli), "br") << brotli;
  }
  for (const char* gzip : {"gzip", "br;q=0, GZip;q=0.5", "*;q=0, gzip", "gzip, xbr"}) {
    EXPECT_EQ(coding(gzip), "gzip") << gzip;
  }
  for (const char* none : {"", "zstd", "gzip;q=0", "br;q=0, gzip; q=0.000", "*;q=0", "xgzip"}) {
    EXPECT_EQ(coding(none), "") << none;
  }
}

TEST(StaticFiles, what_compression_does_not_help_is_sent_as_it_is) {
  const auto answer = answer_static_file(
      std::span(&font, 1), request(std::string(font.path), {{"Accept-Encoding", "gzip, br"}}));
  EXPECT_EQ(header(*answer, "Content-Encoding"), "");
  EXPECT_EQ(header(*answer, "Content-Type"), "font/woff2");
  EXPECT_EQ(header(*answer, "Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(answer->fixed_body, "wOF2");
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

TEST(StaticFiles, security_headers_forbid_what_a_page_does_not_need) {
  const HttpResponse response{.headers = security_headers()};
  const std::string policy = header(response, "Content-Security-Policy");
  for (const char* part : {"default-src 'none';", "script-src 'self';", "style-src 'self';",
                           "connect-src 'self';", "worker-src 'self';", "base-uri 'none';",
                           "frame-ancestors 'none';", "require-trusted-types-for 'script';"}) {
    EXPECT_TRUE(policy.contains(part)) << part;
  }
  EXPECT_TRUE(policy.ends_with("trusted-types perdure svelte-trusted-html"));
  for (const char* part : {"unsafe", "://", "*", "allow-duplicates"}) {
    EXPECT_FALSE(policy.contains(part)) << part;
  }
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
              get("/", "If-None-Match: *\r\n") + get("/favicon.svg", "Connection: close\r\n"));
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
  EXPECT_TRUE(all.contains("image/svg+xml"));
}

}  // namespace
}  // namespace perdure
