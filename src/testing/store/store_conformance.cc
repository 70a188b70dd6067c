#include "testing/store/store_conformance.h"

#include "base/check.h"
#include "testing/store/store_conformance_tests.h"

namespace perdure {

namespace {

class RegisteredTest : public ::testing::Test {
 public:
  RegisteredTest(ConformanceTest test, const StoreFactory& factory)
      : test_(test), factory_(factory) {}

  void TestBody() override {
    std::unique_ptr<StoreUnderTest> under_test = factory_();
    ConformanceBench bench(*under_test);
    test_.body(bench);
  }

 private:
  ConformanceTest test_;
  StoreFactory factory_;
};

}  // namespace

std::size_t ConformanceBench::queue(Append batch) {
  batch.epoch = store().epoch();
  return queue_as_is(std::move(batch));
}

std::size_t ConformanceBench::queue_as_is(Append batch) {
  const std::size_t number = outcomes_->size();
  outcomes_->emplace_back();
  store().append(std::move(batch), [outcomes = outcomes_, order = order_, number](Result<> result) {
    Outcome& outcome = outcomes->at(number);
    ++outcome.runs;
    if (!result) outcome.refusal = result.error().code();
    order->push_back(number);
  });
  return number;
}

std::optional<Code> ConformanceBench::append(Append batch) {
  batch.epoch = store().epoch();
  return append_as_is(std::move(batch));
}

std::optional<Code> ConformanceBench::append_as_is(Append batch) {
  const std::size_t number = queue_as_is(std::move(batch));
  pump();
  EXPECT_EQ(runs(number), 1) << "the Done must have run once after pump()";
  return refusal(number);
}

Seq ConformanceBench::head(SessionId session) {
  auto head = store().head(session);
  return head ? head->seq : 0;
}

SessionId conformance_session(std::uint64_t number) {
  return SessionId(Ulid{.high = 0x0192'0000'0000'0000, .low = number});
}

ExecId conformance_exec(std::uint64_t number) {
  return ExecId(Ulid{.high = 0x0192'0000'0000'0000, .low = number});
}

Blob blob_of(std::string bytes) {
  const Hash hash = sha256(bytes);
  return {hash, std::move(bytes)};
}

std::vector<std::string> records_of(const std::string& name, std::size_t count) {
  std::vector<std::string> records;
  for (std::size_t i = 1; i <= count; ++i) records.push_back(name + "-" + std::to_string(i));
  return records;
}

bool register_store_conformance(const char* engine, StoreFactory factory) {
  const std::string suite = std::string(engine) + "StoreConformance";
  for (auto tests : {conformance_append_tests(), conformance_read_tests(), conformance_row_tests(),
                     conformance_crash_tests()}) {
    for (const ConformanceTest& test : tests) {
      ::testing::RegisterTest(
          suite.c_str(), test.name, nullptr, nullptr, __FILE__, __LINE__,
          [test, factory]() -> RegisteredTest* { return new RegisteredTest(test, factory); });
    }
  }
  return true;
}

}  // namespace perdure
