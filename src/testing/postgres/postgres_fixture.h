// Shared by the tests of store/postgres: a store in its own database, and appends that are
// executed at once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "store/postgres/postgres_store.h"
#include "testing/postgres/postgres_server.h"

namespace perdure::postgres_test {

inline SessionId session(std::uint64_t number) { return SessionId(Ulid{1, number}); }

class PostgresTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = PostgresServer::missing(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
    options_.place = PostgresServer::shared().new_database();
    options_.node = "one";
    options_.instance = "test";
    options_.new_log_id = "log";
    options_.write_times = {.connect = std::chrono::milliseconds(1'000),
                            .statement = std::chrono::milliseconds(2'000)};
    options_.read_pause = std::chrono::milliseconds(50);
    options_.patience = std::chrono::milliseconds(3'000);
    options_.on_fatal = [this](const Error&) { ++fatal_; };
  }
  void open() {
    store_.reset();
    auto opened = PostgresStore::open(options_);
    ASSERT_TRUE(opened) << opened.error().message();
    store_ = *std::move(opened);
  }
  void queue(Append batch, std::optional<Result<>>& out) {
    batch.epoch = store_->epoch();
    store_->append(std::move(batch), [&out](Result<> result) { out = std::move(result); });
  }
  Result<> commit(Append batch) {
    std::optional<Result<>> out;
    queue(std::move(batch), out);
    store_->step();
    if (!out) return fail(Code::internal, "the Done did not run");
    return *out;
  }
  Result<> put(std::uint64_t number, Seq head, std::vector<std::string> records) {
    return commit(
        {.session = session(number), .expected_head = head, .records = std::move(records)});
  }
  std::vector<std::string> all(std::uint64_t number) {
    auto page = store_->read(session(number), {.after = 0, .limit = 10'000});
    return page ? page->records : std::vector<std::string>{page.error().message()};
  }
  void idle() {
    while (store_->idle_step()) {}
  }
  // Like a person with psql.
  void sql(const std::string& text) {
    const auto link = PgLink::open(options_.place, {});
    ASSERT_TRUE(link) << link.error().message();
    const auto done = (*link)->script(text);
    ASSERT_TRUE(done) << done.error().message;
  }
  static bool until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  PostgresOptions options_;
  std::unique_ptr<PostgresStore> store_;
  int fatal_ = 0;
};

}  // namespace perdure::postgres_test
