// Shared by the tests of store/files: a store on a disk in memory, appends that are executed at
// once, and access to the files to inspect and damage them.
#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/files/files_store.h"
#include "testing/store/fault_files.h"

namespace perdure::files_test {

inline SessionId session(std::uint64_t number) { return SessionId(Ulid{1, number}); }

inline std::string file_of(std::uint64_t number, const std::string& tail) {
  return "sessions/" + session(number).text() + tail;
}

inline std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_FALSE(lines.empty()) << path;
  return lines;
}

class FilesTest : public testing::Test {
 protected:
  FilesOptions options() {
    FilesOptions out;
    out.disk = make_fault_files(disk_);
    out.new_log_id = "log";
    out.reserve_bytes = 0;
    out.on_fatal = [](const Error& error) { ADD_FAILURE() << error.message(); };
    return out;
  }
  void open() { open(options()); }
  void open(FilesOptions with) {
    store_.reset();
    auto opened = FilesStore::open(std::move(with));
    ASSERT_TRUE(opened) << opened.error().message();
    store_ = *std::move(opened);
  }
  Error open_error() {
    store_.reset();
    auto opened = FilesStore::open(options());
    if (opened) return {Code::internal, "it opened"};
    return opened.error();
  }
  // Like kill -9: everything written survives.
  void kill() {
    disk_.crash(CrashOutcome::process_only);
    open();
  }
  // Moves everything to its place and empties the log.
  void settle() { ASSERT_TRUE(store_->shut_down()); }

  Result<> commit(Append batch) {
    batch.epoch = store_->epoch();
    std::optional<Result<>> out;
    store_->append(std::move(batch), [&](Result<> result) { out = std::move(result); });
    store_->step();
    if (!out) return fail(Code::internal, "the Done did not run");
    return *out;
  }
  Result<> put(std::uint64_t number, Seq head, std::vector<std::string> records) {
    return commit(
        {.session = session(number), .expected_head = head, .records = std::move(records)});
  }
  std::vector<std::string> all(std::uint64_t number) {
    auto page = store_->read(session(number), {.after = 0, .limit = 10'000'000});
    return page ? page->records : std::vector<std::string>{page.error().message()};
  }
  std::string contents(const std::string& name) { return disk_.contents(name).value_or(""); }
  void flip(const std::string& name, std::size_t at) {
    const std::string bytes = contents(name);
    ASSERT_LT(at, bytes.size()) << name;
    disk_.overwrite(name, at, std::string(1, static_cast<char>(bytes[at] ^ 1)));
  }

  FaultDisk disk_{1};
  std::unique_ptr<FilesStore> store_;
};

}  // namespace perdure::files_test
