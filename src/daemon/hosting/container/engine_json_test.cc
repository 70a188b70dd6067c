// Requests to an engine and values read from its answers; the texts are those of dockerd 20.10 and
// podman 4.3, shortened.
#include "daemon/hosting/container/engine_json.h"

#include <gtest/gtest.h>

#include "base/json/json_view.h"

namespace perdure {
namespace {

ContainerOrder an_order() {
  return {.name = "perdure-exec_1-fd.2",
          .image = "localhost/x:1",
          .command = {"/perdure/agentctl", "run", "/perdure/run/exec_1.json"},
          .environment = {"PERDURE_EXEC=exec_1"},
          .labels = {{container_label_managed, "true"}, {container_label_session, "sess_1"}},
          .mounts = {{"/a:b", "/work", false}, {"/bin/agentctl", "/perdure/agentctl", true}},
          .user = "1000:1000",
          .network = "none",
          .limits = {.memory_bytes = 1000, .processes = 10, .cpu_percent = 50},
          .may_swap = false};
}

TEST(EngineJson, L16_a_container_is_asked_for_with_its_labels_mounts_and_limits) {
  const std::string text = encode_container(an_order());
  const auto json = JsonView::read(text);
  ASSERT_TRUE(json) << text;
  const JsonView host = (*json)["HostConfig"];
  EXPECT_EQ((*json)["Image"].text(), "localhost/x:1");
  EXPECT_EQ((*json)["Entrypoint"].items().at(0).text(), "/perdure/agentctl");
  EXPECT_EQ((*json)["Cmd"].items().size(), 2u);
  EXPECT_EQ((*json)["Labels"]["perdure.managed"].text(), "true");
  EXPECT_EQ((*json)["Labels"]["perdure.session"].text(), "sess_1");
  EXPECT_EQ((*json)["User"].text(), "1000:1000");
  // A colon in a path is not a separator here.
  EXPECT_EQ(host["Mounts"].items().at(0)["Source"].text(), "/a:b");
  EXPECT_FALSE(host["Mounts"].items().at(0)["ReadOnly"].flag());
  EXPECT_TRUE(host["Mounts"].items().at(1)["ReadOnly"].flag());
  EXPECT_EQ(host["Memory"].number(), 1000u);
  EXPECT_EQ(host["MemorySwap"].number(), 1000u);
  EXPECT_EQ(host["PidsLimit"].number(), 11u);
  EXPECT_EQ(host["NanoCpus"].number(), 500'000'000u);
  EXPECT_EQ(host["NetworkMode"].text(), "none");
  EXPECT_EQ(host["CapDrop"].items().at(0).text(), "ALL");
  EXPECT_EQ(host["RestartPolicy"]["Name"].text(), "no");
}

TEST(EngineJson, L16_without_limits_and_network_none_are_asked_for) {
  ContainerOrder order = an_order();
  order.limits = {};
  order.network.clear();
  const std::string text = encode_container(order);
  const JsonView host = JsonView(text)["HostConfig"];
  for (const char* key : {"Memory", "MemorySwap", "PidsLimit", "NanoCpus", "NetworkMode"}) {
    EXPECT_FALSE(host[key].is_there()) << key;
  }
}

TEST(EngineJson, L16_a_container_is_seen_in_each_of_its_states) {
  const auto life = [](const std::string& state) {
    return decode_container_sight(R"({"Id":"abc","State":)" + state + "}")->life;
  };
  EXPECT_EQ(life(R"({"Status":"running","Running":true,"Paused":false})"), ContainerLife::running);
  EXPECT_EQ(life(R"({"Status":"paused","Running":true,"Paused":true})"), ContainerLife::paused);
  EXPECT_EQ(life(R"({"Status":"created","Running":false})"), ContainerLife::created);
  EXPECT_EQ(life(R"({"Status":"exited","ExitCode":137})"), ContainerLife::ended);
  EXPECT_EQ(life(R"({"Status":"dead"})"), ContainerLife::ended);
  const auto ended = decode_container_sight(
      R"({"Id":"abc","State":{"Status":"exited","ExitCode":137,"OOMKilled":true,"Error":"no"},
          "Config":{"Labels":{"perdure.exec":"exec_1"}}})");
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 137);
  EXPECT_TRUE(ended->out_of_memory);
  EXPECT_EQ(ended->error, "no");
  EXPECT_EQ(ended->labels.at("perdure.exec"), "exec_1");
}

TEST(EngineJson, L16_what_is_no_answer_of_an_engine_is_an_error) {
  for (const char* text : {"", "no", "3", "\"x\"", "{", "<html>"}) {
    EXPECT_FALSE(decode_container_sight(text)) << text;
    EXPECT_FALSE(decode_abilities(text)) << text;
    EXPECT_FALSE(decode_list(text)) << text;
    EXPECT_FALSE(decode_created(text)) << text;
  }
  EXPECT_FALSE(decode_container_sight(R"({"Id":"abc"})"));
  EXPECT_FALSE(decode_created("{}"));
}

TEST(EngineJson, L16_abilities_lists_and_refusals_are_read) {
  const auto engine = decode_abilities(
      R"({"ServerVersion":"4.3.1","MemoryLimit":true,"SwapLimit":false,"PidsLimit":true,
          "CpuCfsQuota":true,"SecurityOptions":["name=seccomp,profile=default","name=rootless"]})");
  ASSERT_TRUE(engine);
  EXPECT_TRUE(engine->rootless && engine->limits_memory && engine->limits_processes);
  EXPECT_FALSE(engine->limits_swap);
  const auto listed =
      decode_list(R"([{"Id":"a","State":"running","Labels":{"x":"y"}},{"Id":"b"}])");
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->at(0).labels.at("x"), "y");
  EXPECT_EQ(refusal_words(R"({"message":"no such image"})"), "no such image");
  EXPECT_EQ(refusal_words("oops"), "oops");
  EXPECT_EQ(label_filter("a=b"), "all=true&filters=%7B%22label%22%3A%5B%22a%3Db%22%5D%7D");
}

}  // namespace
}  // namespace perdure
