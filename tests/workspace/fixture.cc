// A workspace for tests, see fixture.h.
#include "fixture.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace perdure::test {

namespace fs = std::filesystem;

void put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string get(const fs::path& path) {
  std::stringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::string at(std::string_view json, std::string_view path) {
  while (!path.empty()) {
    const std::string_view step = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(step.size() + 1, path.size()));
    if (json.starts_with('[')) {
      const auto elements = json_elements(json).value();
      const std::size_t index = std::stoul(std::string(step));
      if (index >= elements.size()) return "no element " + std::string(step);
      json = elements[index];
    } else {
      json = JsonObject::parse(json).value().find(step);
    }
  }
  if (json.starts_with('"')) return json_string(json).value();
  return std::string(json);
}

void WorkspaceFixture::SetUp() {
  std::string pattern = (fs::temp_directory_path() / "perdure-workspace-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  base_ = fs::canonical(pattern);
  root_ = base_ / "root";
  fs::create_directories(root_);
  fs::create_directories(base_ / "home");
  fs::create_directories(base_ / "trees");
  const char* const path = std::getenv("PATH");
  environment_ = {std::string("PATH=") + (path == nullptr ? "/usr/bin:/bin" : path),
                  "HOME=" + (base_ / "home").string(),
                  "GIT_CONFIG_GLOBAL=/dev/null",
                  "GIT_CONFIG_NOSYSTEM=1",
                  "GIT_CEILING_DIRECTORIES=" + base_.string(),
                  "GIT_AUTHOR_NAME=A",
                  "GIT_AUTHOR_EMAIL=a@example.org",
                  "GIT_COMMITTER_NAME=C",
                  "GIT_COMMITTER_EMAIL=c@example.org"};
  loop_ = EpollLoop::create().value();
  processes_ = PosixProcesses::create(*loop_);
  worktrees_ = open_file_tree((base_ / "trees").string()).value();
  serve(root_);
}

void WorkspaceFixture::serve(const fs::path& root) {
  workspace_.reset();
  files_ = open_file_tree(root.string()).value();
  workspace_ = std::make_unique<WorkspaceCalls>(WorkspaceSetup{.loop = *loop_,
                                                               .processes = *processes_,
                                                               .files = *files_,
                                                               .worktrees = worktrees_.get(),
                                                               .environment = environment_});
}

bool WorkspaceFixture::run_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    loop_->pump_for_ms(5);
  }
  return true;
}

void WorkspaceFixture::TearDown() {
  workspace_.reset();
  loop_->pump();  // runs the remaining cleanup
  processes_.reset();
  loop_.reset();
  fs::remove_all(base_);
}

Result<std::string> WorkspaceFixture::call(std::string_view method, std::string_view params) {
  auto answer = std::make_shared<std::optional<Result<std::string>>>();
  workspace_->call(method, params, [answer](Result<std::string> result) {
    EXPECT_FALSE(answer->has_value()) << "answered twice";
    *answer = std::move(result);
  });
  if (!run_until([&] { return answer->has_value(); })) { return fail(Code::internal, "no answer"); }
  if (**answer) EXPECT_TRUE(json_validate(***answer)) << ***answer;
  return **answer;
}

std::string WorkspaceFixture::done(std::string_view method, std::string_view params) {
  const auto result = call(method, params);
  EXPECT_TRUE(result) << method << params << ": " << (result ? "" : result.error().message());
  return result.value_or("{}");
}

Error WorkspaceFixture::refused(std::string_view method, std::string_view params) {
  const auto result = call(method, params);
  EXPECT_FALSE(result) << method << params << ": " << result.value_or("");
  return result ? Error(Code::internal, "it succeeded") : result.error();
}

void WorkspaceFixture::sh(std::string_view command, std::string_view folder) {
  std::string line = "cd '" + (root_ / folder).string() + "' && env -i";
  for (const std::string& variable : environment_) line += " '" + variable + "'";
  line += " sh -e -c '" + std::string(command) + "' >/dev/null 2>&1";
  ASSERT_EQ(std::system(line.c_str()), 0) << line;
}

void WorkspaceFixture::make_repository() {
  put(root_ / "a.txt", "one\ntwo\nthree\n");
  sh("git init -q -b main . && git add a.txt && git commit -q -m first");
}

}  // namespace perdure::test
