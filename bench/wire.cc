// The cost of writing and reading a journal record of about 300 bytes, and a snapshot.
#include <string>

#include <benchmark/benchmark.h>

#include "core/wire/journal/record.h"
#include "core/wire/journal/snapshot.h"
#include "testing/random_fields.h"

namespace perdure {
namespace {

Event sample_event() {
  Event event;
  RandomFields random(1);
  event.at = random.make<Timestamp>();
  event.origin = {random.make<RunId>(), random.make<ExecId>(), 1, 42, {}};
  event.body =
      MessageAgent{"", "Twelve tests passed.", {R"({"sessionUpdate":"agent_message_chunk"})"}};
  return event;
}

void encode(benchmark::State& state) {
  const Event event = sample_event();
  const Hash prev = sha256("before");
  for (auto _ : state) benchmark::DoNotOptimize(encode_record(1234, prev, event));
  state.counters["bytes"] = static_cast<double>(encode_record(1234, prev, event).size());
}
BENCHMARK(encode);

void encode_and_hash(benchmark::State& state) {
  const Event event = sample_event();
  Hash prev;
  for (auto _ : state) prev = record_hash(encode_record(1234, prev, event));
}
BENCHMARK(encode_and_hash);

void validate(benchmark::State& state) {
  const std::string bytes = encode_record(1234, sha256("before"), sample_event());
  for (auto _ : state) benchmark::DoNotOptimize(json_validate(bytes));
}
BENCHMARK(validate);

void decode(benchmark::State& state) {
  const std::string bytes = encode_record(1234, sha256("before"), sample_event());
  for (auto _ : state) benchmark::DoNotOptimize(decode_record(bytes));
}
BENCHMARK(decode);

void serve(benchmark::State& state) {
  const std::string bytes = encode_record(1234, sha256("before"), sample_event());
  for (auto _ : state) benchmark::DoNotOptimize(encode_served(SessionId(Ulid{1, 2}), bytes));
}
BENCHMARK(serve);

void snapshot(benchmark::State& state) {
  const State sample = RandomFields(1).make<State>();
  for (auto _ : state) benchmark::DoNotOptimize(decode_snapshot(encode_snapshot(sample)));
  state.counters["bytes"] = static_cast<double>(encode_snapshot(sample).size());
}
BENCHMARK(snapshot);

}  // namespace
}  // namespace perdure

BENCHMARK_MAIN();
