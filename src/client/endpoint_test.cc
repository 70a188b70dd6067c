// Where the daemon is: folders from the environment, and URLs that are accepted completely or not
// at all.
#include "client/endpoint.h"

#include <map>

#include <gtest/gtest.h>

#include "client/api.h"

namespace perdure::client {
namespace {

Environment environment(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Endpoint, data_folder_is_the_first_of_three) {
  EXPECT_EQ(*data_folder_of(environment({{"PERDURE_HOME", "/p"}, {"HOME", "/h"}})), "/p");
  EXPECT_EQ(*data_folder_of(environment({{"XDG_STATE_HOME", "/x"}, {"HOME", "/h"}})), "/x/perdure");
  EXPECT_EQ(*data_folder_of(environment({{"HOME", "/h"}})), "/h/.local/state/perdure");
  EXPECT_EQ(data_folder_of(environment({})).error().code(), Code::invalid_argument);
}

TEST(Endpoint, urls_of_a_daemon) {
  const auto secure = parse_endpoint("https://build.example:8443/");
  ASSERT_TRUE(secure.has_value());
  EXPECT_EQ(secure->host, "build.example");
  EXPECT_EQ(secure->port, 8443);
  EXPECT_TRUE(secure->tls);
  EXPECT_EQ(host_header(*secure), "build.example:8443");
  const auto six = parse_endpoint("http://[::1]");
  ASSERT_TRUE(six.has_value());
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->port, 7433);
  EXPECT_EQ(host_header(*six), "[::1]:7433");
}

TEST(Endpoint, a_token_does_not_go_to_another_machine_in_the_clear) {
  EXPECT_EQ(parse_endpoint("http://build.example").error().code(), Code::denied);
  EXPECT_EQ(parse_endpoint("http://127.0.0.1.nip.io").error().code(), Code::denied);
  EXPECT_TRUE(parse_endpoint("http://localhost:7433").has_value());
}

TEST(Endpoint, everything_else_is_no_url_of_a_daemon) {
  for (const char* url :
       {"", "localhost", "ftp://x", "https://", "https://:1", "https://x:", "https://x:0",
        "https://x:99999", "https://x:1a", "https://u@x", "https://x/path", "https://x?y",
        "https://[::1", "https://[::1]x", "https://a:1:2", "https://x#@localhost"}) {
    const auto endpoint = parse_endpoint(url);
    ASSERT_FALSE(endpoint.has_value()) << url;
    EXPECT_EQ(endpoint.error().code(), Code::invalid_argument) << url;
  }
}

TEST(Refusal, reads_whatever_the_daemon_said) {
  const Refusal full = read_refusal(
      409, R"({"error":{"code":"not_resumable","message":"no id","actions":["fresh"]}})");
  EXPECT_EQ(full.error().code(), Code::not_resumable);
  EXPECT_EQ(full.message, "no id");
  EXPECT_EQ(full.actions, std::vector<std::string>{"fresh"});
  const Refusal newer = read_refusal(409, R"({"error":{"code":"a_newer_code"}})");
  EXPECT_EQ(newer.code, "a_newer_code");
  EXPECT_EQ(newer.error().code(), Code::conflict);
  EXPECT_EQ(read_refusal(404, "<html>").error().code(), Code::not_found);
  EXPECT_EQ(read_refusal(401, "").error().code(), Code::denied);
  EXPECT_FALSE(read_refusal(500, "").message.empty());
}

}  // namespace
}  // namespace perdure::client
