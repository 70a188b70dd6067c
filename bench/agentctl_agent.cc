// An agent for measurements: answers the required requests and, when prompted, writes chunks that
// carry their writing time. `N US`: N chunks, one every US microseconds (0: at once).
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include <unistd.h>

namespace {

long long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void put(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t got = write(1, line.data() + at, line.size() - at);
    if (got <= 0) std::exit(1);
    at += static_cast<std::size_t>(got);
  }
}

std::string id_of(const std::string& line) {
  const std::size_t at = line.find("\"id\":") + 5;
  return line.substr(at, line.find_first_of(",}", at) - at);
}

std::string chunk() {
  return R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":)"
         R"({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":")" +
         std::to_string(now_ns()) + " and some words like a model's\"}}}}\n";
}

void answer_prompt(const std::string& line) {
  const std::size_t at = line.find("\"text\":\"") + 8;
  char* rest = nullptr;
  const long count = std::strtol(line.c_str() + at, &rest, 10);
  const long pause_us = std::strtol(rest, nullptr, 10);
  std::string batch;
  for (long i = 0; i < count; ++i) {
    if (pause_us > 0) {
      put(chunk());
      usleep(static_cast<useconds_t>(pause_us));
      continue;
    }
    batch += chunk();
    if (batch.size() > 32'768) {
      put(batch);
      batch.clear();
    }
  }
  put(batch);
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.find("\"id\":") == std::string::npos) continue;
    std::string result = "{}";
    if (line.find("\"initialize\"") != std::string::npos) {
      result = R"({"protocolVersion":1,"agentCapabilities":{}})";
    } else if (line.find("\"session/new\"") != std::string::npos) {
      result = R"({"sessionId":"s"})";
    } else if (line.find("\"session/prompt\"") != std::string::npos) {
      answer_prompt(line);
      result = R"({"stopReason":"end_turn"})";
    }
    put(R"({"jsonrpc":"2.0","id":)" + id_of(line) + R"(,"result":)" + result + "}\n");
  }
}
