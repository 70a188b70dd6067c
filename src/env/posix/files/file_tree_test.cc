// The confined file access against hostile real folders: symlinks that lead out, components swapped
// during a read, FIFOs that would block, names of any bytes.
#include "env/posix/files/file_tree.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

namespace perdure {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
std::string get(const fs::path& path) {
  std::stringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

class FileTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "perdure-tree-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    base_ = fs::canonical(pattern);
    root_ = base_ / "root";
    fs::create_directories(root_ / "sub");
    fs::create_directories(base_ / "outside");
    put(base_ / "outside/secret", "secret");
    tree_ = open_file_tree(root_.string()).value();
  }
  void TearDown() override { fs::remove_all(base_); }

  static TreePath at(std::string_view bytes) { return TreePath::from_bytes(bytes).value(); }
  Result<FilePart> read(std::string_view path) { return tree_->read(at(path), {0, 1 << 20}); }
  Result<FileStat> write(std::string_view path, std::string_view bytes) {
    return tree_->write(at(path), bytes, {});
  }
  std::size_t entries_of(const fs::path& folder) {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path base_;
  fs::path root_;
  std::unique_ptr<FileTree> tree_;
};

Code code(const auto& result) { return result ? Code::internal : result.error().code(); }

TEST_F(FileTreeTest, reads_ranges) {
  put(root_ / "a", "0123456789");
  EXPECT_EQ(read("a")->bytes, "0123456789");
  EXPECT_EQ(tree_->read(at("a"), {3, 4})->bytes, "3456");
  EXPECT_EQ(tree_->read(at("a"), {8, 40})->bytes, "89");
  EXPECT_EQ(tree_->read(at("a"), {10, 40})->bytes, "");
  EXPECT_EQ(tree_->read(at("a"), {99, 40})->bytes, "");
  EXPECT_EQ(code(tree_->read(at("a"), {UINT64_MAX, 4})), Code::invalid_argument);
  EXPECT_EQ(code(read("none")), Code::not_found);
  EXPECT_EQ(code(read("sub")), Code::conflict);
  EXPECT_EQ(code(read("a/b")), Code::conflict);
}

TEST_F(FileTreeTest, no_symlink_leads_out) {
  fs::create_symlink("../outside/secret", root_ / "up");
  fs::create_symlink(base_ / "outside/secret", root_ / "absolute");
  fs::create_directory_symlink("../outside", root_ / "folder");
  fs::create_directory_symlink("..", root_ / "sub/parent");
  fs::create_symlink("sub/parent/../outside/secret", root_ / "twisted");
  fs::create_symlink("/proc/self/root/etc/passwd", root_ / "magic");
  for (const std::string path :
       {"up", "absolute", "folder/secret", "sub/parent/../outside", "twisted", "magic"}) {
    const auto raw = TreePath::from_bytes(path);
    if (!raw) continue;  // `..` was refused before
    EXPECT_EQ(code(tree_->read(*raw, {0, 10})), Code::denied) << path;
    EXPECT_EQ(code(tree_->write(*raw, "x", {})), Code::denied) << path;
  }
  EXPECT_EQ(code(tree_->list(at("folder"), {})), Code::denied);
  EXPECT_EQ(code(tree_->make_folder(at("folder/new"))), Code::denied);
  EXPECT_EQ(code(tree_->remove(at("folder/secret"))), Code::denied);
  EXPECT_EQ(code(tree_->remove_tree(at("folder/x"), 10)), Code::denied);
  EXPECT_EQ(code(tree_->rename({at("folder/secret"), at("got")})), Code::denied);
  put(root_ / "mine", "mine");
  EXPECT_EQ(code(tree_->rename({at("mine"), at("folder/mine")})), Code::denied);
  EXPECT_EQ(get(base_ / "outside/secret"), "secret");
  EXPECT_EQ(entries_of(base_ / "outside"), 1U);
}

TEST_F(FileTreeTest, symlinks_that_stay_inside_are_followed) {
  put(root_ / "sub/real", "one");
  fs::create_symlink("sub/real", root_ / "link");
  fs::create_symlink("../link", root_ / "sub/chain");
  fs::create_directory_symlink("sub", root_ / "alias");
  fs::create_symlink("sub/../sub/new", root_ / "dangling");
  EXPECT_EQ(read("link")->bytes, "one");
  EXPECT_EQ(read("alias/chain")->bytes, "one");
  ASSERT_TRUE(write("alias/chain", "two"));
  EXPECT_EQ(get(root_ / "sub/real"), "two");
  EXPECT_TRUE(fs::is_symlink(root_ / "link"));
  EXPECT_TRUE(fs::is_symlink(root_ / "sub/chain"));
  ASSERT_TRUE(write("dangling", "made"));
  EXPECT_EQ(get(root_ / "sub/new"), "made");
  fs::create_symlink("loop", root_ / "loop");
  EXPECT_EQ(code(read("loop")), Code::denied);
  EXPECT_EQ(code(write("loop", "x")), Code::denied);
  fs::create_directory_symlink("sub/", root_ / "slash");
  EXPECT_EQ(code(write("slash", "x")), Code::conflict);
}

TEST_F(FileTreeTest, entries_tell_where_symlinks_lead) {
  put(root_ / "a", "abc");
  fs::create_symlink("a", root_ / "in");
  fs::create_symlink("../outside", root_ / "out");
  const FolderListing listing = tree_->list({}, {}).value();
  ASSERT_EQ(listing.entries.size(), 4U);
  EXPECT_EQ(listing.entries[0].name, "a");
  EXPECT_EQ(listing.entries[0].stat.version.bytes, 3U);
  EXPECT_EQ(listing.entries[1].leads_to, FileKind::file);
  EXPECT_EQ(listing.entries[1].link, "a");
  EXPECT_EQ(listing.entries[2].stat.kind, FileKind::symlink);
  EXPECT_EQ(listing.entries[2].leads_to, std::nullopt);
  EXPECT_EQ(listing.entries[3].stat.kind, FileKind::folder);
  EXPECT_EQ(tree_->stat(at("in"))->leads_to, FileKind::file);
  EXPECT_EQ(tree_->stat({})->stat.kind, FileKind::folder);
}

TEST_F(FileTreeTest, lists_by_pages_without_gap_or_repetition) {
  for (int i = 0; i < 257; ++i) put(root_ / ("sub/f" + std::to_string(i)), "");
  std::vector<std::string> seen;
  ListPage page{.entries_max = 10};
  while (true) {
    const FolderListing part = tree_->list(at("sub"), page).value();
    for (const auto& entry : part.entries) seen.push_back(entry.name);
    if (!part.more) break;
    ASSERT_EQ(part.entries.size(), 10U);
    page.after = part.entries.back().name;
  }
  EXPECT_EQ(seen.size(), 257U);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST_F(FileTreeTest, fifos_sockets_and_devices_are_refused_and_never_block) {
  ASSERT_EQ(::mkfifo((root_ / "fifo").c_str(), 0600), 0);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX};
  (root_ / "sock").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  for (const std::string name : {"fifo", "sock"}) {
    EXPECT_EQ(code(read(name)), Code::conflict) << name;
    EXPECT_EQ(code(write(name, "x")), Code::conflict) << name;
    EXPECT_EQ(tree_->stat(at(name))->stat.kind, FileKind::other) << name;
  }
  ::close(fd);
  if (::mknod((root_ / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
    EXPECT_EQ(code(read("null")), Code::conflict);
  }
  // A device that exists everywhere, through a tree that contains it.
  const auto devices = open_file_tree("/dev").value();
  EXPECT_EQ(code(devices->read(at("zero"), {0, 10})), Code::conflict);
  EXPECT_EQ(entries_of(root_) >= 3, true);
}

// With our own rights it would reveal data that others may not read, for example our memory.
TEST_F(FileTreeTest, SEC3_what_lies_on_a_file_system_of_the_kernel_is_not_served) {
  for (const char* const root : {"/proc", "/proc/self", "/dev/fd", "/sys"}) {
    EXPECT_EQ(code(open_file_tree(root)), Code::invalid_argument) << root;
  }
  const auto all = open_file_tree("/").value();
  const std::string self = "proc/" + std::to_string(::getpid());
  for (const std::string& name : {self + "/environ", self + "/mem", self + "/maps"}) {
    EXPECT_EQ(code(all->read(at(name), {0, 10})), Code::denied) << name;
  }
  EXPECT_EQ(code(all->write(at(self + "/comm"), "x", {})), Code::denied);
  EXPECT_EQ(code(all->list(at(self), {})), Code::denied);
  EXPECT_EQ(code(all->list(at("proc"), {})), Code::denied);
  EXPECT_TRUE(all->list({}, {})) << "what has it below itself is served";
}

TEST_F(FileTreeTest, a_write_is_whole_and_keeps_the_mode) {
  put(root_ / "tool", "#!old");
  fs::permissions(root_ / "tool", fs::perms(0750));
  ASSERT_TRUE(write("tool", "#!new"));
  EXPECT_EQ(get(root_ / "tool"), "#!new");
  EXPECT_EQ(fs::status(root_ / "tool").permissions(), fs::perms(0750));
  ASSERT_TRUE(write("fresh", ""));
  EXPECT_EQ(fs::status(root_ / "fresh").permissions(), fs::perms(0644));
  EXPECT_EQ(code(write("sub", "x")), Code::conflict);
  EXPECT_EQ(code(write("none/file", "x")), Code::not_found);
  EXPECT_EQ(code(write("", "x")), Code::conflict);
  EXPECT_EQ(entries_of(root_), 3U);  // no temporary file is left
}

TEST_F(FileTreeTest, new_things_have_the_users_mode_whatever_our_own_umask) {
  const mode_t before = ::umask(077);
  const auto shared = open_file_tree(root_.string(), {.umask = 002}).value();
  EXPECT_TRUE(shared->write(at("file"), "x", {}));
  EXPECT_TRUE(shared->make_folder(at("folder")));
  ::umask(before);
  EXPECT_EQ(fs::status(root_ / "file").permissions(), fs::perms(0664));
  EXPECT_EQ(fs::status(root_ / "folder").permissions(), fs::perms(0775));
}

TEST_F(FileTreeTest, an_expected_version_guards_unseen_changes) {
  const FileStat first = write("a", "one").value();
  EXPECT_EQ(read("a")->stat.version, first.version);
  const FileStat second = tree_->write(at("a"), "two", {Expect::version, first.version}).value();
  EXPECT_NE(first.version, second.version);
  EXPECT_EQ(code(tree_->write(at("a"), "three", {Expect::version, first.version})), Code::conflict);
  EXPECT_EQ(get(root_ / "a"), "two");
  put(root_ / "a", "by another");
  EXPECT_EQ(code(tree_->write(at("a"), "three", {Expect::version, second.version})),
            Code::conflict);
  EXPECT_EQ(get(root_ / "a"), "by another");
  EXPECT_EQ(code(tree_->write(at("a"), "three", {Expect::absent, {}})), Code::conflict);
  EXPECT_EQ(code(tree_->write(at("b"), "b", {Expect::version, first.version})), Code::conflict);
  EXPECT_TRUE(tree_->write(at("b"), "b", {Expect::absent, {}}));
  EXPECT_EQ(entries_of(root_), 3U);
}

TEST_F(FileTreeTest, of_two_guarded_writers_one_wins) {
  // Both have seen the same version; in any interleaving, one of them gets a conflict.
  for (int round = 0; round < 40; ++round) {
    const FileVersion seen = write("a", "base" + std::to_string(round))->version;
    std::atomic<int> won = 0;
    const auto edit = [&](const std::string& mine) {
      if (tree_->write(at("a"), mine, {Expect::version, seen})) ++won;
    };
    std::thread other([&] { edit("other writer"); });
    edit("this one");
    other.join();
    ASSERT_LE(won, 1) << "both believed that they had replaced the version they saw";
  }
}

TEST_F(FileTreeTest, a_component_swapped_for_a_symlink_never_leads_out) {
  put(root_ / "sub/secret", "harmless");
  fs::create_directory_symlink("../outside", root_ / "evil");
  std::jthread swapper([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      ::renameat2(AT_FDCWD, (root_ / "sub").c_str(), AT_FDCWD, (root_ / "evil").c_str(),
                  RENAME_EXCHANGE);
    }
  });
  int harmless = 0;
  int denied = 0;
  for (int i = 0; i < 200'000 && (harmless < 500 || denied < 500); ++i) {
    const auto part = read("sub/secret");
    if (part) {
      ASSERT_EQ(part->bytes, "harmless");
      ++harmless;
    } else {
      ++denied;
    }
    if (i % 16 == 0) (void)write("sub/secret", "harmless");
    if (i % 16 == 8) (void)tree_->remove_tree(at("sub/none"), 10);
  }
  swapper.request_stop();
  swapper.join();
  EXPECT_GT(harmless, 0);
  EXPECT_GT(denied, 0);
  EXPECT_EQ(get(base_ / "outside/secret"), "secret");
  EXPECT_EQ(entries_of(base_ / "outside"), 1U);
}

TEST_F(FileTreeTest, removes_trees_in_parts_and_never_through_symlinks) {
  fs::create_directories(root_ / "sub/a/b/c");
  for (int i = 0; i < 50; ++i) put(root_ / ("sub/a/b/f" + std::to_string(i)), "x");
  fs::create_directory_symlink("../../outside", root_ / "sub/a/out");
  EXPECT_EQ(code(tree_->remove(at("sub"))), Code::conflict);
  int calls = 0;
  std::size_t removed = 0;
  while (true) {
    const TreeRemoval part = tree_->remove_tree(at("sub"), 10).value();
    removed += part.removed;
    ++calls;
    if (part.done) break;
  }
  EXPECT_EQ(removed, 55U);
  EXPECT_GT(calls, 4);
  EXPECT_FALSE(fs::exists(root_ / "sub"));
  EXPECT_EQ(get(base_ / "outside/secret"), "secret");
  EXPECT_EQ(code(tree_->remove_tree({}, 10)), Code::conflict);
  fs::create_directory_symlink("../outside", root_ / "out");
  EXPECT_TRUE(tree_->remove_tree(at("out"), 10)->done);
  EXPECT_EQ(get(base_ / "outside/secret"), "secret");
}

TEST_F(FileTreeTest, renames_and_does_not_overwrite_unasked) {
  put(root_ / "a", "a");
  put(root_ / "b", "b");
  EXPECT_EQ(code(tree_->rename({at("a"), at("b")})), Code::conflict);
  EXPECT_EQ(get(root_ / "b"), "b");
  EXPECT_TRUE(tree_->rename({at("a"), at("b"), AtTarget::replace}));
  EXPECT_EQ(get(root_ / "b"), "a");
  EXPECT_TRUE(tree_->rename({at("b"), at("sub/c")}));
  EXPECT_EQ(code(tree_->rename({at("b"), at("d")})), Code::not_found);
  EXPECT_EQ(code(tree_->rename({at("sub"), at("sub/c/d")})), Code::conflict);
}

TEST_F(FileTreeTest, names_of_any_bytes_go_out_and_come_back) {
  const std::string odd = "na\xefve\\\xff\n";
  put(root_ / "sub" / odd, "odd");
  const FolderListing listing = tree_->list(at("sub"), {}).value();
  ASSERT_EQ(listing.entries.size(), 1U);
  const std::string text = at("sub").child(listing.entries[0].name).text();
  EXPECT_EQ(text, "sub/na\\xefve\\\\\\xff\n");
  EXPECT_EQ(tree_->read(TreePath::parse(text).value(), {0, 10})->bytes, "odd");
}

TEST_F(FileTreeTest, huge_files_are_read_by_range_only) {
  ASSERT_EQ(::truncate((put(root_ / "huge", ""), root_ / "huge").c_str(), off_t{1} << 40), 0);
  const FilePart part = tree_->read(at("huge"), {(1ULL << 40) - 5, 100}).value();
  EXPECT_EQ(part.bytes, std::string(5, '\0'));
  EXPECT_EQ(part.stat.version.bytes, 1ULL << 40);
}

TEST_F(FileTreeTest, a_root_that_is_gone_or_replaced_is_workspace_missing) {
  EXPECT_EQ(code(open_file_tree((base_ / "none").string())), Code::workspace_missing);
  fs::rename(root_, base_ / "moved");
  EXPECT_EQ(code(read("a")), Code::workspace_missing);
  fs::create_directory_symlink("outside", root_);
  EXPECT_EQ(code(read("secret")), Code::workspace_missing);
  fs::remove(root_);
  fs::create_directory(root_);
  EXPECT_TRUE(write("a", "back"));
}

}  // namespace
}  // namespace perdure
