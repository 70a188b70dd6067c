// Shared by the tests of this folder: a scratch folder, ids, appends that are executed at once, and
// copies of the files as a crash would leave them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "store/sqlite/sqlite_store.h"

namespace perdure::store_test {

namespace fs = std::filesystem;

inline SessionId session(std::uint64_t number) { return SessionId(Ulid{1, number}); }

inline std::string slurp(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void spill(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    // In memory if possible: these tests are about order and damage, not about the disk.
    const fs::path base = fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    std::string pattern = (base / "perdure_sqlite_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~StoreTest() override {
    store_.reset();
    fs::remove_all(folder_);
  }

  fs::path path(const std::string& name = "journal.db") const { return folder_ / name; }

  SqliteOptions options(const std::string& name = "journal.db") const {
    SqliteOptions out;
    out.path = path(name).string();
    out.reserve_bytes = 0;
    out.on_fatal = [](const Error& error) { ADD_FAILURE() << error.message(); };
    out.search_piece = [](std::string_view record) {
      return SearchPiece{.parts = {std::string(record)}};
    };
    return out;
  }

  void open() { open(options()); }
  void open(SqliteOptions with) {
    store_.reset();
    auto opened = SqliteStore::open(std::move(with));
    ASSERT_TRUE(opened) << opened.error().message();
    store_ = *std::move(opened);
  }
  static Error open_error(SqliteOptions with) {
    auto opened = SqliteStore::open(std::move(with));
    if (opened) return {Code::internal, "it opened"};
    return opened.error();
  }

  // Copies the files as they are, as if the process had been killed here.
  void abandon_to(const std::string& name) const {
    for (const char* suffix : {"", "-wal"}) {
      fs::remove(path(name + suffix));
      if (fs::exists(path("journal.db" + std::string(suffix)))) {
        fs::copy_file(path("journal.db" + std::string(suffix)), path(name + suffix));
      }
    }
  }

  Result<> commit(Append batch) { return commit(*store_, std::move(batch)); }
  static Result<> commit(SqliteStore& store, Append batch) {
    batch.epoch = store.epoch();
    std::optional<Result<>> out;
    store.append(std::move(batch), [&](Result<> result) { out = std::move(result); });
    store.step();
    if (!out) return fail(Code::internal, "the Done did not run");
    return *out;
  }
  Result<> put(std::uint64_t number, Seq head, std::vector<std::string> records) {
    return commit(
        {.session = session(number), .expected_head = head, .records = std::move(records)});
  }

  static void idle(SqliteStore& store) {
    for (int i = 0; i < 100'000 && store.idle_step(); ++i) {}
  }

  static std::vector<std::string> all(SqliteStore& store, std::uint64_t number) {
    auto page =
        store.read(session(number), {.after = 0, .limit = 10'000'000, .bytes_max = 1UL << 40});
    EXPECT_TRUE(page) << page.error().message();
    return page ? page->records : std::vector<std::string>();
  }
  std::vector<std::string> all(std::uint64_t number) { return all(*store_, number); }

  fs::path folder_;
  std::unique_ptr<SqliteStore> store_;
};

}  // namespace perdure::store_test
