// The document against the route table: it contains every route, and every reference resolves.
// tools/check_openapi.mjs also checks it with a linter.
#include "daemon/api/json/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/api/bench_for_test.h"

namespace perdure {
namespace {

using testing::HasSubstr;

TEST(OpenApi, every_route_is_in_the_document_with_its_parameters) {
  ApiBench bench;
  add_openapi_route(bench.router, "1.2.3");
  const std::string document = bench.ask_route("GET", "/openapi.json", "").exchange->body();
  ASSERT_TRUE(json_validate(document));
  const std::string paths = at_path(document, "paths");
  for (const auto& route : bench.router.routes()) {
    std::string method = route->method;
    for (char& letter : method) letter = static_cast<char>(std::tolower(letter));
    const Result<JsonObject> all = JsonObject::parse(paths);
    const std::string operation = at_path(all->find(route->pattern), method);
    EXPECT_FALSE(operation.empty()) << route->pattern;
    const std::string parameters = at_path(operation, "parameters");
    if (route->pattern.contains("{id}")) {
      EXPECT_THAT(parameters, HasSubstr(R"("name":"id")")) << route->pattern;
    }
  }
}

TEST(OpenApi, bodies_are_those_that_the_routes_read) {
  const std::string document = openapi_json(Router(), "1");
  const std::string prompt = at_path(document, "components.schemas.Prompt");
  EXPECT_EQ(at_path(prompt, "properties.when.enum"), R"(["auto","queue","interrupt","steer"])");
  EXPECT_EQ(at_path(prompt, "additionalProperties"), "false");
  const std::string create = at_path(document, "components.schemas.CreateSession.properties");
  EXPECT_EQ(at_path(create, "env.additionalProperties.type"), "string");
  EXPECT_EQ(at_path(create, "survive.type"), "boolean");
}

TEST(OpenApi, every_reference_leads_somewhere) {
  ApiBench bench;
  const std::string document = openapi_json(bench.router, "1");
  std::size_t seen = 0;
  constexpr std::string_view mark = "\"$ref\":\"#/";
  for (auto at = document.find(mark); at != std::string::npos; at = document.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    std::string path = document.substr(begin, document.find('"', begin) - begin);
    std::ranges::replace(path, '/', '.');
    EXPECT_FALSE(at_path(document, path).empty()) << path;
    seen += 1;
  }
  EXPECT_GT(seen, 20U);
}

}  // namespace
}  // namespace perdure
