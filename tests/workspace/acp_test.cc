// Requests of an agent over ACP, served on real files and processes.
#include "agentctl/supervisor/services/acp_services.h"
#include "base/limits.h"
#include "fixture.h"

namespace perdure::test {
namespace {

namespace fs = std::filesystem;

class AcpRequests : public WorkspaceFixture {
 protected:
  void SetUp() override {
    WorkspaceFixture::SetUp();
    fs::create_directory_symlink(root_, base_ / "alias");
    services_ = std::make_unique<AcpServices>(
        AcpServicesSetup{.loop = *loop_,
                         .processes = *processes_,
                         .files = *files_,
                         .environment = environment_,
                         .root_aliases = {(base_ / "alias").string()}});
  }
  void TearDown() override {
    services_.reset();
    WorkspaceFixture::TearDown();
  }

  AcpResult ask(std::string_view method, const std::string& params) {
    auto answer = std::make_shared<std::optional<AcpResult>>();
    AcpReply reply = [answer](AcpResult result) { *answer = std::move(result); };
    EXPECT_TRUE(services_->serve(method, params, reply));
    EXPECT_TRUE(run_until([&] { return answer->has_value(); }));
    return answer->value_or(std::unexpected(AcpError{0, "no answer"}));
  }
  std::string ok(std::string_view method, const std::string& params) {
    const AcpResult result = ask(method, params);
    EXPECT_TRUE(result) << method << params << (result ? "" : result.error().message);
    return result.value_or("{}");
  }
  int error(std::string_view method, const std::string& params) {
    const AcpResult result = ask(method, params);
    EXPECT_FALSE(result) << method << params << result.value_or("");
    return result ? 0 : result.error().code;
  }
  std::string path(std::string_view name) const {
    return R"("sessionId":"s","path":")" + (root_ / name).string() + "\"";
  }
  std::string read(std::string_view name, const std::string& more = "") {
    return at(ok("fs/read_text_file", "{" + path(name) + more + "}"), "content");
  }
  std::string create(const std::string& params) {
    return at(ok("terminal/create", R"({"sessionId":"s",)" + params + "}"), "terminalId");
  }
  std::string on(const std::string& terminal) {
    return R"({"sessionId":"s","terminalId":")" + terminal + "\"}";
  }

  std::unique_ptr<AcpServices> services_;
};

TEST_F(AcpRequests, reads_lines) {
  put(root_ / "t", "one\ntwo\nthree\nfour");
  EXPECT_EQ(read("t"), "one\ntwo\nthree\nfour");
  EXPECT_EQ(read("t", R"(,"line":2,"limit":2)"), "two\nthree\n");
  EXPECT_EQ(read("t", R"(,"line":4)"), "four");
  EXPECT_EQ(read("t", R"(,"limit":1)"), "one\n");
  EXPECT_EQ(read("t", R"(,"limit":0)"), "");
  EXPECT_EQ(read("t", R"(,"line":99)"), "");
  EXPECT_EQ(read("t", R"(,"line":null,"limit":null,"_meta":{"x":1})"), "one\ntwo\nthree\nfour");
  std::string lines;
  for (int i = 1; i <= 400'000; ++i) lines += "line " + std::to_string(i) + "\n";
  put(root_ / "long", lines);
  EXPECT_EQ(read("long", R"(,"line":399999,"limit":1)"), "line 399999\n");
}

TEST_F(AcpRequests, writes_and_makes_folders) {
  ok("fs/write_text_file", "{" + path("new/deep/file") + R"(,"content":"héllo"})");
  EXPECT_EQ(get(root_ / "new/deep/file"), "héllo");
  const std::string alias = (base_ / "alias/x/../y").string();
  ok("fs/write_text_file", R"({"path":")" + alias + R"(","content":"y"})");
  EXPECT_EQ(get(root_ / "y"), "y");
  EXPECT_EQ(error("fs/write_text_file", "{" + path("z") + "}"), acp_invalid_params);
  EXPECT_FALSE(fs::exists(root_ / "z"));
}

TEST_F(AcpRequests, errors_have_codes_of_acp) {
  put(root_ / "binary", "\xff\xfe");
  fs::create_symlink("/etc/passwd", root_ / "out");
  EXPECT_EQ(error("fs/read_text_file", "{" + path("none") + "}"), acp_not_found);
  EXPECT_EQ(error("fs/read_text_file", "{" + path("binary") + "}"), acp_invalid_params);
  EXPECT_EQ(error("fs/read_text_file", "{" + path("out") + "}"), acp_invalid_params);
  EXPECT_EQ(error("fs/read_text_file", "{" + path("../home/x") + "}"), acp_invalid_params);
  for (const auto* params :
       {R"({"path":"/etc/passwd"})", R"({"path":"relative"})", "{}", "[1]", R"({"path":"/"})"}) {
    EXPECT_EQ(error("fs/read_text_file", params), acp_invalid_params) << params;
  }
  // A folder whose name only begins like the workspace's.
  EXPECT_EQ(error("fs/read_text_file", R"({"path":")" + root_.string() + R"(-other/x"})"),
            acp_invalid_params);
  put(root_ / "big", std::string(acp_text_bytes_max + 1, 'x'));
  EXPECT_EQ(error("fs/read_text_file", "{" + path("big") + "}"), acp_internal_error);
  AcpReply untouched = [](AcpResult) { FAIL() << "not ours to answer"; };
  EXPECT_FALSE(services_->serve("session/request_permission", "{}", untouched));
  EXPECT_TRUE(untouched);
}

TEST_F(AcpRequests, a_terminal_runs_a_command_to_its_end) {
  const std::string terminal =
      create(R"("command":"/bin/sh","args":["-c","echo $A; echo err >&2; echo out; cat; exit 3"],)"
             R"("env":[{"name":"A","value":"a b"}],"cwd":")" +
             root_.string() + "\"");
  const std::string exit = ok("terminal/wait_for_exit", on(terminal));
  EXPECT_EQ(at(exit, "exitCode"), "3");
  EXPECT_EQ(at(exit, "signal"), "null");
  const std::string output = ok("terminal/output", on(terminal));
  EXPECT_EQ(at(output, "output"), "a b\nerr\nout\n");
  EXPECT_EQ(at(output, "truncated"), "false");
  EXPECT_EQ(at(output, "exitStatus.exitCode"), "3");
  ok("terminal/release", on(terminal));
  EXPECT_EQ(error("terminal/output", on(terminal)), acp_not_found);
}

TEST_F(AcpRequests, a_command_alone_is_a_line_for_the_shell) {
  const std::string terminal = create(R"("command":"printf '%s\\n' 'x y' | tr x z && pwd")");
  ok("terminal/wait_for_exit", on(terminal));
  EXPECT_EQ(at(ok("terminal/output", on(terminal)), "output"), "z y\n" + root_.string() + "\n");
}

TEST_F(AcpRequests, output_is_cut_in_front_at_a_character) {
  const std::string terminal =
      create(R"("command":"printf 'aé€😀é'","outputByteLimit":8)");  // the cut is within the €
  ok("terminal/wait_for_exit", on(terminal));
  const std::string output = ok("terminal/output", on(terminal));
  EXPECT_EQ(at(output, "output"), "😀é");
  EXPECT_EQ(at(output, "truncated"), "true");
}

TEST_F(AcpRequests, kill_ends_the_command_and_keeps_its_output) {
  const std::string terminal = create(R"("command":"echo up; sleep 1000")");
  ASSERT_TRUE(
      run_until([&] { return at(ok("terminal/output", on(terminal)), "output") == "up\n"; }));
  std::optional<AcpResult> waited;
  AcpReply reply = [&](AcpResult result) { waited = std::move(result); };
  services_->serve("terminal/wait_for_exit", on(terminal), reply);
  EXPECT_FALSE(waited);
  ok("terminal/kill", on(terminal));
  ASSERT_TRUE(run_until([&] { return waited.has_value(); }));
  EXPECT_EQ(at(**waited, "signal"), "SIGKILL");
  EXPECT_EQ(at(**waited, "exitCode"), "null");
  EXPECT_EQ(at(ok("terminal/output", on(terminal)), "output"), "up\n");
}

TEST_F(AcpRequests, release_answers_who_waits) {
  const std::string terminal = create(R"("command":"sleep 1000")");
  int answered = 0;
  for (int i = 0; i < 3; ++i) {
    AcpReply reply = [&](const AcpResult& result) { answered += result ? 1 : 0; };
    services_->serve("terminal/wait_for_exit", on(terminal), reply);
  }
  services_->release_all();
  EXPECT_EQ(answered, 3);
  EXPECT_EQ(error("terminal/kill", on(terminal)), acp_not_found);
}

TEST_F(AcpRequests, terminals_are_bounded_and_stay_in_the_workspace) {
  EXPECT_EQ(error("terminal/create", R"({"command":"pwd","cwd":"/tmp"})"), acp_invalid_params);
  EXPECT_EQ(error("terminal/create", R"({"command":""})"), acp_invalid_params);
  EXPECT_EQ(error("terminal/create", R"({"command":"x","env":[{"name":"","value":""}]})"),
            acp_invalid_params);
  for (std::size_t i = 0; i < terminals_max; ++i) create(R"("command":"true")");
  EXPECT_EQ(error("terminal/create", R"({"command":"true"})"), acp_internal_error);
}

}  // namespace
}  // namespace perdure::test
