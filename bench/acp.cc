// The cost of an agent's line in Client::feed: a small chunk of text as models stream it, a tool's
// update, and a 500 KB list of commands, whole and in pieces of a pipe's size.
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>

#include "core/acp/client/client.h"

namespace perdure::acp {
namespace {

std::string update_line(std::string_view update) {
  return R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":)"
         R"("f7685681-53bb-4dee-843c-3a841c41d8c1","update":)" +
         std::string(update) + "}}\n";
}

std::string chunk_line() {
  return update_line(R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text",)"
                     R"("text":"a few words of text, "},"messageId":"msg_01AbCdEf_2"})");
}

std::string tool_line() {
  return update_line(
      R"({"toolCallId":"toolu_call_5bcd_3_0","rawInput":{"command":"make -j2 && ./run_tests",)"
      R"("description":"build and test"},"status":"completed","title":"make -j2 && ./run_tests",)"
      R"("kind":"execute","content":[{"type":"content","content":{"type":"text","text":)"
      R"("[1/9] compile\n[2/9] compile\n[3/9] link\nall 12 tests passed\n"}}],)"
      R"("locations":[{"path":"/w/project/a.cc","line":7}],"sessionUpdate":"tool_call_update"})");
}

std::string commands_line() {
  std::string commands;
  for (int i = 0; i < 2000; ++i) {
    commands += R"({"name":"command)" + std::to_string(i) + R"(","description":")" +
                std::string(220, 'd') + R"(","input":{"hint":"words"}},)";
  }
  commands.pop_back();
  return update_line(R"({"sessionUpdate":"available_commands_update","availableCommands":[)" +
                     commands + "]}");
}

// Feeds the stream in pieces and takes the events like a reader of a pipe.
void feed(benchmark::State& state, const std::string& line, std::size_t lines) {
  const auto piece_bytes = static_cast<std::size_t>(state.range(0));
  std::string stream;
  for (std::size_t i = 0; i < lines; ++i) stream += line;
  Client client({});
  std::vector<Event> events;
  for (auto _ : state) {
    for (std::size_t at = 0; at < stream.size(); at += piece_bytes) {
      client.feed(std::string_view(stream).substr(at, piece_bytes), events);
      benchmark::DoNotOptimize(events.data());
      events.clear();
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(lines));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(stream.size()));
  state.counters["line_bytes"] = static_cast<double>(line.size());
}

void chunks(benchmark::State& state) { feed(state, chunk_line(), 1000); }
void tools(benchmark::State& state) { feed(state, tool_line(), 1000); }
void commands(benchmark::State& state) { feed(state, commands_line(), 1); }
BENCHMARK(chunks)->Arg(300)->Arg(4096)->Arg(65536);
BENCHMARK(tools)->Arg(65536);
BENCHMARK(commands)->Arg(4096)->Arg(65536)->Arg(1 << 20);

}  // namespace
}  // namespace perdure::acp

BENCHMARK_MAIN();
