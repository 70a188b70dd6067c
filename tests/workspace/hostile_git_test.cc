// A repository whose settings name programs at every known place: a read runs none of them. Each
// program leaves a mark with its name; another test shows that plain git does run them.
#include "fixture.h"

namespace perdure::test {
namespace {

namespace fs = std::filesystem;

class HostileRepository : public WorkspaceFixture {
 protected:
  void SetUp() override {
    WorkspaceFixture::SetUp();
    make_repository();
    fs::create_directories(base_ / "marks");
    fs::create_directories(root_ / "sub");
    put(root_ / "f.txt", "filtered\n");
    put(root_ / "t.txt", "text\n");
    put(root_ / "sub/s.txt", "sub\n");
    put(root_ / ".gitattributes", "f.txt filter=evil\nt.txt diff=evil\n");
    sh("git add . && git commit -q -m more");
    // A signed commit, so that there is a signature to check.
    sh("git cat-file commit HEAD > ../raw && sed \"/^committer/a gpgsig -----BEGIN PGP "
       "SIGNATURE-----\\n \\n iQ==\\n -----END PGP SIGNATURE-----\" ../raw > ../signed && "
       "git update-ref HEAD $(git hash-object -t commit -w ../signed)");
    for (const auto* hook : {"post-index-change", "pre-commit", "post-checkout",
                             "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"}) {
      const fs::path path = root_ / ".git/hooks" / hook;
      put(path, "#!/bin/sh\n" + mark("hook-" + std::string(hook)) + "\n");
      fs::permissions(path, fs::perms(0755));
    }
    set("core.fsmonitor", "fsmonitor");
    set("core.pager", "pager");
    set("core.editor", "editor");
    set("core.sshCommand", "ssh");
    set("core.askPass", "askpass");
    set("core.alternateRefsCommand", "alternates");
    set("credential.helper", "credential");
    set("diff.external", "diff-external");
    set("diff.evil.textconv", "textconv");
    set("diff.evil.command", "diff-command");
    set("filter.evil.clean", "clean");
    set("filter.evil.smudge", "smudge");
    set("filter.evil.process", "process");
    put(base_ / "gpg", "#!/bin/sh\n" + mark("gpg") + "\n");  // run without a shell
    fs::permissions(base_ / "gpg", fs::perms(0755));
    sh("git config gpg.program " + (base_ / "gpg").string());
    set("interactive.diffFilter", "diff-filter");
    set("alias.status", "alias");
    set("pager.log", "pager-log");
    sh("git config log.showSignature true && git config filter.evil.required true");
    touch_all();
  }

  std::string mark(const std::string& name) { return "touch " + (base_ / "marks" / name).string(); }
  void set(const std::string& key, const std::string& name) {
    sh("git config " + key + " \"" + mark(name) + ";false\"");
  }
  // The contents stay, the times change: git must read the files.
  void touch_all() {
    put(root_ / "f.txt", "Filtered\n");
    put(root_ / "t.txt", "Text\n");
    put(root_ / "a.txt", "changed\n");
  }
  std::string marks() {
    std::string out;
    for (const auto& entry : fs::directory_iterator(base_ / "marks")) {
      out += entry.path().filename().string() + " ";
    }
    return out;
  }
};

TEST_F(HostileRepository, plain_git_would_run_them) {
  sh("git status || true; git log -1 || true; git diff || true");
  sh("git config --unset filter.evil.process; git diff || true");
  sh("git config --remove-section filter.evil; git diff || true; git diff --no-ext-diff || true");
  sh("git config --unset diff.external; git diff || true; git add a.txt");
  const std::string ran = marks();
  for (const auto* name : {"fsmonitor", "gpg", "diff-external", "diff-command", "process", "clean",
                           "textconv", "hook-post-index-change"}) {
    EXPECT_NE(ran.find(name), std::string::npos) << name << " of: " << ran;
  }
}

TEST_F(HostileRepository, no_read_runs_any) {
  const std::pair<const char*, const char*> calls[] = {
      {"git.status", "{}"},
      {"git.status", R"({"untracked":"all"})"},
      {"git.diff", "{}"},
      {"git.diff", R"({"of":"staged"})"},
      {"git.diff", R"({"of":"since","commit":"HEAD~1"})"},
      {"git.log", "{}"},
      {"git.log", R"({"path":"f.txt"})"},
      {"git.show", R"({"commit":"HEAD"})"},
      {"git.worktree_list", "{}"},
      {"fs.search", R"({"content":"e"})"},
      {"fs.search", R"({"name":"*.txt"})"},
      {"fs.search", R"({"content":"e","path":"sub"})"},
  };
  for (const auto& [method, params] : calls) {
    touch_all();
    const auto result = call(method, params);
    EXPECT_TRUE(result) << method << ": " << (result ? "" : result.error().message());
    EXPECT_EQ(marks(), "") << method << params;
  }
}

TEST_F(HostileRepository, stage_and_unstage_run_no_hooks) {
  sh("git config --remove-section filter.evil");
  done("git.stage", R"({"paths":["a.txt"]})");
  done("git.unstage", R"({"paths":["a.txt"]})");
  EXPECT_EQ(marks(), "");
}

TEST_F(HostileRepository, a_filter_whose_name_cannot_be_overruled_is_refused) {
  put(root_ / ".gitattributes", "f.txt filter=a=b\n");
  sh("git config filter.a=b.clean \"" + mark("tricky") + "\"");
  for (const auto* method : {"git.status", "git.diff", "git.log"}) {
    EXPECT_EQ(refused(method).code(), Code::denied) << method;
  }
  EXPECT_EQ(refused("fs.search", R"({"content":"e"})").code(), Code::denied);
  EXPECT_EQ(marks(), "");
}

TEST_F(HostileRepository, settings_that_are_included_count_as_its_own) {
  sh("git config --remove-section filter.evil");
  put(root_ / "more", "[filter \"evil\"]\n\tclean = \"" + mark("included") + "\"\n");
  sh("git config include.path ../more");
  done("git.status");
  done("git.diff");
  EXPECT_EQ(marks(), "");
}

TEST_F(HostileRepository, a_missing_object_is_not_fetched_by_a_program) {
  sh("git config core.repositoryFormatVersion 1 && git config extensions.partialClone evil && "
     "git config remote.evil.promisor true && "
     "git config remote.evil.url \"ext::sh -c " +
     (base_ / "fetch").string() +
     "\" && "
     "git config protocol.ext.allow always && "
     "rm -f .git/objects/$(git rev-parse HEAD:t.txt | sed s,^..,\\&/,)");
  put(base_ / "fetch", "#!/bin/sh\n" + mark("fetched") + "\n");
  fs::permissions(base_ / "fetch", fs::perms(0755));
  EXPECT_FALSE(call("git.diff"));
  EXPECT_FALSE(call("git.show", R"({"commit":"HEAD"})"));
  (void)call("git.status");
  EXPECT_EQ(marks(), "");
  sh("git show HEAD:t.txt || true");
  EXPECT_EQ(marks(), "fetched ") << "plain git would have run it";
}

TEST_F(HostileRepository, files_that_look_like_a_repository_are_none) {
  // A bare repository as checked-out files: git in that folder would use it as its own.
  sh("git init -q --bare sub/trap && git -C sub/trap config core.fsmonitor \"" + mark("trap") +
     "\" && git -C sub/trap config core.bare false && "
     "git -C sub/trap config core.worktree ..");
  serve(root_ / "sub/trap");
  EXPECT_EQ(refused("git.status").code(), Code::conflict);
  (void)call("fs.search", R"({"content":"e"})");
  EXPECT_EQ(marks(), "");
}

}  // namespace
}  // namespace perdure::test
