// JSON-RPC messages: how each kind is recognised, which errors of sloppy agents are tolerated, and
// that output is one line that reads back.
#include "core/acp/rpc.h"

#include <string>

#include <gtest/gtest.h>

namespace perdure::acp {
namespace {

using Kind = RpcMessage::Kind;

TEST(Rpc, tells_the_four_kinds_apart) {
  const auto request = parse_rpc(R"({"jsonrpc":"2.0","id":"7-a","method":"m","params":{"a":1}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, Kind::request);
  EXPECT_EQ(request->id.text, R"("7-a")");
  EXPECT_EQ(request->method, "m");
  EXPECT_EQ(request->params, R"({"a":1})");

  const auto notification = parse_rpc(R"({"method":"a\/b","jsonrpc":"2.0"})");
  ASSERT_TRUE(notification);
  EXPECT_EQ(notification->kind, Kind::notification);
  EXPECT_EQ(notification->method, "a/b");
  EXPECT_EQ(notification->params, "");

  const auto result = parse_rpc(R"({"jsonrpc":"2.0","id":0,"result":null})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, Kind::result);
  EXPECT_EQ(result->id, RpcId::number(0));
  EXPECT_EQ(result->result, "null");

  const auto error = parse_rpc(R"({"jsonrpc":"2.0","id":-3,"error":{"code":1,"message":"m"}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::error);
  EXPECT_EQ(error->error, R"({"code":1,"message":"m"})");
}

TEST(Rpc, forgives_what_real_agents_do) {
  // A handler that returned nothing.
  EXPECT_EQ(parse_rpc(R"({"jsonrpc":"2.0","id":1})")->kind, Kind::result);
  EXPECT_EQ(parse_rpc(R"({"jsonrpc":"2.0","id":1})")->result, "null");
  // Both members, one of them empty.
  EXPECT_EQ(parse_rpc(R"({"jsonrpc":"2.0","id":1,"result":{},"error":null})")->kind, Kind::result);
  EXPECT_EQ(parse_rpc(R"({"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1}})")->kind,
            Kind::error);
  // An answer to a notification.
  const auto error = parse_rpc(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32601}})");
  ASSERT_TRUE(error);
  EXPECT_TRUE(error->id.is_null());
}

TEST(Rpc, everything_else_is_no_message) {
  for (const char* text :
       {R"({})", R"({"jsonrpc":"2.0"})", R"({"jsonrpc":"1.0","id":1,"result":1})",
        R"({"id":1,"result":1})", R"({"level":30,"method":"GET"})",
        R"({"jsonrpc":"2.0","id":{},"result":1})", R"({"jsonrpc":"2.0","id":true,"method":"m"})",
        R"({"jsonrpc":"2.0","method":7})"}) {
    EXPECT_FALSE(parse_rpc(text)) << text;
  }
}

TEST(Rpc, R1_error_data_is_kept_as_it_came) {
  const RpcError error =
      parse_rpc_error(R"({"code":-32603,"message":"Internal error","data":{"details":1.50}})");
  EXPECT_EQ(error.code, rpc_code::internal_error);
  EXPECT_EQ(error.message, "Internal error");
  EXPECT_EQ(error.data.text, R"({"details":1.50})");
  EXPECT_EQ(parse_rpc_error(print_rpc_error(error)), error);
}

TEST(Rpc, an_error_badly_told_is_an_error) {
  EXPECT_EQ(parse_rpc_error(R"("it broke")").message, "it broke");
  EXPECT_EQ(parse_rpc_error(R"({"code":"E1","message":17})"), (RpcError{.code = 0}));
  EXPECT_EQ(parse_rpc_error("17"), (RpcError{.code = 0}));
}

TEST(Rpc, prints_one_line_whatever_the_parameters_look_like) {
  std::string out;
  append_request(out, {R"("a")"}, {"m", "{\n  \"a\": \"b\\n\"\r\n}"});
  EXPECT_EQ(out,
            "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"m\","
            "\"params\":{   \"a\": \"b\\n\"  }}\n");
  out.clear();
  append_notification(out, {"n", ""});
  append_result(out, RpcId::number(4), "[1,\n2]");
  append_error(out, {}, {.code = -32700, .message = "Parse error", .data = {"\n1"}});
  EXPECT_EQ(out,
            "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":[1, 2]}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":"
            "{\"code\":-32700,\"message\":\"Parse error\",\"data\": 1}}\n");
}

}  // namespace
}  // namespace perdure::acp
