// The conformance suite on PostgreSQL: a private server, one database per test. A crash is a
// connection that ends without a farewell.
#include <gtest/gtest.h>

#include "base/check.h"
#include "store/postgres/postgres_store.h"
#include "testing/postgres/postgres_server.h"
#include "testing/store/store_conformance.h"

namespace perdure {
namespace {

class PostgresUnderTest : public StoreUnderTest {
 public:
  explicit PostgresUnderTest(PostgresOptions options) : options_(std::move(options)) {
    options_.place = PostgresServer::shared().new_database();
    options_.node = "one";
    options_.new_log_id = "log";
    options_.on_fatal = [](const Error& error) { CHECK(false, error.message()); };
    options_.search_piece = [](std::string_view record) {
      return SearchPiece{.parts = {std::string(record)}};
    };
    open();
  }

  Store& store() override { return *store_; }
  void pump() override {
    while (store_->step()) {}
    while (store_->idle_step()) {}
  }
  void reopen() override {
    pump();
    CHECK(store_->shut_down().has_value());
    store_.reset();
    open();
  }
  void crash_reopen() override {
    store_.reset();
    open();
  }

 private:
  void open() {
    options_.instance = "life " + std::to_string(++lives_);
    auto opened = PostgresStore::open(options_);
    CHECK(opened.has_value(), opened ? "" : opened.error().message());
    store_ = *std::move(opened);
  }

  PostgresOptions options_;
  std::unique_ptr<PostgresStore> store_;
  int lives_ = 0;
};

const bool registered =
    PostgresServer::missing().empty() && register_store_conformance("Postgres", [] {
      return std::make_unique<PostgresUnderTest>(PostgresOptions{});
    });

const bool registered_small =
    PostgresServer::missing().empty() && register_store_conformance("PostgresSmall", [] {
      return std::make_unique<PostgresUnderTest>(
          PostgresOptions{.group_bytes_max = 4096, .readers_max = 1, .search_slice_bytes = 2048});
    });

TEST(PostgresConformance, a_server_can_be_started_here) {
  if (const std::string reason = PostgresServer::missing(); !reason.empty()) GTEST_SKIP() << reason;
  EXPECT_TRUE(registered && registered_small);
}

}  // namespace
}  // namespace perdure
