// The calls fs.*, with real files.
#include "fixture.h"

namespace perdure::test {
namespace {

namespace fs = std::filesystem;

class WorkspaceFiles : public WorkspaceFixture {};

TEST_F(WorkspaceFiles, L24_files_work_without_an_agent) {
  done("fs.mkdir", R"({"path":"src/deep","parents":true})");
  const std::string written = done("fs.write", R"({"path":"src/a.txt","text":"héllo\n"})");
  EXPECT_EQ(at(written, "bytes"), "7");
  const std::string read = done("fs.read", R"({"path":"src/a.txt"})");
  EXPECT_EQ(at(read, "text"), "héllo\n");
  EXPECT_EQ(at(read, "version"), at(written, "version"));
  EXPECT_EQ(at(read, "at_end"), "true");
  const std::string list = done("fs.list", R"({"path":"src"})");
  EXPECT_EQ(at(list, "entries.0.name"), "a.txt");
  EXPECT_EQ(at(list, "entries.1.kind"), "folder");
  done("fs.rename", R"({"from":"src/a.txt","to":"src/b.txt"})");
  EXPECT_EQ(at(done("fs.stat", R"({"path":"src/b.txt"})"), "kind"), "file");
  EXPECT_EQ(refused("fs.remove", R"({"path":"src"})").code(), Code::conflict);
  EXPECT_EQ(at(done("fs.remove", R"({"path":"src","recursive":true})"), "removed"), "3");
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(WorkspaceFiles, ranges_of_text_never_split_a_character) {
  put(root_ / "t", "aé€😀z");  // 1 + 2 + 3 + 4 + 1 bytes
  std::string all;
  std::string offset = "0";
  for (int i = 0; i < 20; ++i) {
    const std::string part = done("fs.read", R"({"path":"t","bytes":5,"offset":)" + offset + "}");
    all += at(part, "text");
    offset = std::to_string(std::stoul(at(part, "offset")) + std::stoul(at(part, "bytes")));
    if (at(part, "at_end") == "true") break;
  }
  EXPECT_EQ(all, "aé€😀z");
}

TEST_F(WorkspaceFiles, bytes_that_are_no_text_come_as_base64) {
  put(root_ / "b", std::string("\x00\xff\x10", 3));
  EXPECT_EQ(at(done("fs.read", R"({"path":"b"})"), "base64"), "AP8Q");
  EXPECT_EQ(refused("fs.read", R"({"path":"b","as":"text"})").code(), Code::invalid_argument);
  done("fs.write", R"({"path":"c","base64":"AP8Q"})");
  EXPECT_EQ(get(root_ / "c"), std::string("\x00\xff\x10", 3));
  EXPECT_EQ(refused("fs.write", R"({"path":"c","base64":"AP8"})").code(), Code::invalid_argument);
}

TEST_F(WorkspaceFiles, an_editor_does_not_overwrite_what_it_has_not_seen) {
  const std::string version = at(done("fs.write", R"({"path":"a","text":"1"})"), "version");
  put(root_ / "a", "by the agent");
  const std::string terms = R"("expected":")" + version + "\"}";
  EXPECT_EQ(refused("fs.write", R"({"path":"a","text":"2",)" + terms).code(), Code::conflict);
  EXPECT_EQ(get(root_ / "a"), "by the agent");
  EXPECT_EQ(refused("fs.write", R"({"path":"a","text":"2","expected":"absent"})").code(),
            Code::conflict);
  EXPECT_EQ(refused("fs.write", R"({"path":"a","text":"2","expected":"x"})").code(),
            Code::invalid_argument);
}

TEST_F(WorkspaceFiles, malformed_calls_change_nothing) {
  put(root_ / "a", "a");
  for (const auto* params :
       {R"({"path":"a","text":"x","expcted":"absent"})", R"({"path":"a"})",
        R"({"path":"a","text":"x","base64":""})", R"({"path":7,"text":"x"})", "[]", "nonsense",
        R"({"path":"../a","text":"x"})", R"({"path":"/a","text":"x"})"}) {
    EXPECT_EQ(refused("fs.write", params).code(), Code::invalid_argument) << params;
  }
  EXPECT_EQ(refused("fs.chmod").code(), Code::invalid_argument);
  EXPECT_EQ(refused("").code(), Code::invalid_argument);
  EXPECT_EQ(get(root_ / "a"), "a");
}

TEST_F(WorkspaceFiles, symlinks_out_are_denied) {
  fs::create_symlink("/etc/passwd", root_ / "p");
  EXPECT_EQ(refused("fs.read", R"({"path":"p"})").code(), Code::denied);
  EXPECT_EQ(refused("fs.search", R"({"path":"p","name":"*"})").code(), Code::conflict);
  EXPECT_EQ(at(done("fs.stat", R"({"path":"p"})"), "leads_to"), "null");
}

class WorkspaceSearch : public WorkspaceFixture {
 protected:
  void fill() {
    fs::create_directories(root_ / "src/inner");
    fs::create_directories(root_ / "build");
    put(root_ / ".gitignore", "build/\n");
    put(root_ / "src/one.cc", "int needle = 1;\nint other;\n");
    put(root_ / "src/inner/two.h", "// no\n// a Needle here\n");
    put(root_ / "build/out.cc", "needle\n");
    put(root_ / "binary", std::string("needle\0needle", 13));
    fs::create_symlink("/etc", root_ / "etc");
  }
};

TEST_F(WorkspaceSearch, in_a_repository_ignored_files_stay_unseen) {
  make_repository();
  fill();
  const std::string names = done("fs.search", R"({"name":"*.cc"})");
  EXPECT_EQ(at(names, "matches.0.path"), "src/one.cc");
  EXPECT_EQ(at(names, "matches.1"), "no element 1");
  EXPECT_EQ(at(names, "cut"), "false");
  const std::string content = done("fs.search", R"({"content":"needle"})");
  EXPECT_EQ(at(content, "matches.0.path"), "src/one.cc");
  EXPECT_EQ(at(content, "matches.0.line"), "1");
  EXPECT_EQ(at(content, "matches.0.column"), "5");
  EXPECT_EQ(at(content, "matches.0.text"), "int needle = 1;");
  EXPECT_EQ(at(content, "matches.1"), "no element 1");
  const std::string both = done(
      "fs.search",
      R"({"content":"^// a n.+le","regex":true,"ignore_case":true,"name":"*.h","path":"src"})");
  EXPECT_EQ(at(both, "matches.0.path"), "src/inner/two.h");
  EXPECT_EQ(refused("fs.search", R"({"content":"(","regex":true})").code(), Code::invalid_argument);
  EXPECT_EQ(at(done("fs.search", R"({"content":"--help"})"), "matches"), "[]");
}

TEST_F(WorkspaceSearch, outside_of_a_repository_it_walks) {
  fill();
  fs::create_directories(root_ / ".git");  // not a repository, and not searched
  put(root_ / ".git/x.cc", "needle");
  const std::string names = done("fs.search", R"({"name":"*.cc"})");
  EXPECT_EQ(at(names, "matches.0.path"), "src/one.cc");
  EXPECT_EQ(at(names, "matches.1.path"), "build/out.cc");
  EXPECT_EQ(at(names, "matches.2"), "no element 2");
  const std::string content = done("fs.search", R"({"content":"NEEDLE","ignore_case":true})");
  EXPECT_EQ(at(content, "matches.3"), "no element 3");  // not the binary file, not /etc
  EXPECT_EQ(at(done("fs.search", R"({"content":"e+dle =","regex":true})"), "matches.0.path"),
            "src/one.cc");
}

TEST_F(WorkspaceSearch, ends_at_its_limit_and_says_so) {
  make_repository();
  for (int i = 0; i < 30; ++i) put(root_ / ("f" + std::to_string(i)), "needle\n");
  for (const auto* what : {R"("content":"needle")", R"("name":"f*")"}) {
    const std::string some = done("fs.search", "{" + std::string(what) + R"(,"max":7})");
    EXPECT_EQ(at(some, "cut"), "true") << what;
    EXPECT_NE(at(some, "matches.6"), "no element 6");
    EXPECT_EQ(at(some, "matches.7"), "no element 7");
    EXPECT_EQ(at(done("fs.search", "{" + std::string(what) + R"(,"max":30})"), "cut"), "false");
  }
}

TEST_F(WorkspaceSearch, can_be_cancelled_and_answers_with_what_it_has) {
  for (int i = 0; i < 2000; ++i) put(root_ / ("f" + std::to_string(i)), "x");
  std::optional<Result<std::string>> answer;
  workspace_->call("fs.search", R"({"content":"nowhere","search_id":"s1"})",
                   [&](Result<std::string> result) { answer = std::move(result); });
  EXPECT_FALSE(answer);
  EXPECT_EQ(at(done("fs.search_cancel", R"({"search_id":"s1"})"), "cancelled"), "1");
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ(at(**answer, "cancelled"), "true");
  EXPECT_EQ(at(done("fs.search_cancel", R"({"search_id":"s2"})"), "cancelled"), "0");
  // The slot is free again.
  done("fs.search", R"({"name":"f1"})");
  done("fs.search", R"({"name":"f2"})");
}

TEST_F(WorkspaceSearch, too_many_at_once_are_refused) {
  put(root_ / "f", "x");
  int answered = 0;
  int refused_count = 0;
  for (int i = 0; i < 5; ++i) {
    workspace_->call("fs.search", R"({"name":"f"})", [&](Result<std::string> result) {
      ++answered;
      if (!result && result.error().code() == Code::limit_reached) ++refused_count;
    });
  }
  ASSERT_TRUE(run_until([&] { return answered == 5; }));
  EXPECT_EQ(refused_count, 3);
}

}  // namespace
}  // namespace perdure::test
