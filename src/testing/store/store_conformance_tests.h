// The internals of the conformance suite, shared by its test files. Engines include
// testing/store/store_conformance.h instead.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/store/store_conformance.h"

namespace perdure {

// A store under test, with the outcomes of its Dones.
class ConformanceBench {
 public:
  explicit ConformanceBench(StoreUnderTest& under_test) : under_test_(under_test) {}

  Store& store() { return under_test_.store(); }
  void pump() { under_test_.pump(); }
  void reopen() { under_test_.reopen(); }
  void crash_reopen() { under_test_.crash_reopen(); }
  StoreUnderTest& under_test() { return under_test_; }

  // Queues the batch with the store's own epoch. The returned number identifies its outcome.
  std::size_t queue(Append batch);
  // The same, with the batch's own epoch.
  std::size_t queue_as_is(Append batch);
  // Queues and pumps; returns the refusal's code, or nothing if the batch was accepted.
  std::optional<Code> append(Append batch);
  std::optional<Code> append_as_is(Append batch);

  // How often a batch's Done has run, its final code, and the order of all Dones.
  int runs(std::size_t number) const { return outcomes_->at(number).runs; }
  std::optional<Code> refusal(std::size_t number) const { return outcomes_->at(number).refusal; }
  const std::vector<std::size_t>& order() const { return *order_; }

  Seq head(SessionId session);  // 0 for an unknown session

 private:
  struct Outcome {
    int runs = 0;
    std::optional<Code> refusal;
  };

  StoreUnderTest& under_test_;
  std::shared_ptr<std::vector<Outcome>> outcomes_ = std::make_shared<std::vector<Outcome>>();
  std::shared_ptr<std::vector<std::size_t>> order_ = std::make_shared<std::vector<std::size_t>>();
};

// Ids that sort by their number.
SessionId conformance_session(std::uint64_t number);
ExecId conformance_exec(std::uint64_t number);
Blob blob_of(std::string bytes);
// `count` records "<name>-1", "<name>-2" …
std::vector<std::string> records_of(const std::string& name, std::size_t count);

struct ConformanceTest {
  const char* name;
  void (*body)(ConformanceBench& bench);
};

std::span<const ConformanceTest> conformance_append_tests();
std::span<const ConformanceTest> conformance_read_tests();
std::span<const ConformanceTest> conformance_row_tests();
std::span<const ConformanceTest> conformance_crash_tests();

}  // namespace perdure
