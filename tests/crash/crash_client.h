// One of the clients of the crash harness: a thread that makes sessions, prompts, answers, cancels
// and reads, and keeps in a log of its own (synced before each request leaves and after each
// answer) what it sent and what it was told. A request without an answer may have happened or not;
// it is sent again, with the same key, until something is known.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "api_client.h"
#include "event_reader.h"
#include "journal_check.h"

namespace perdure {

struct CrashClientSetup {
  HttpEndpoint daemon;
  // Of several daemons on one store: now and then, and when one does not answer, it goes to
  // another.
  std::vector<HttpEndpoint> others = {};
  std::int64_t answer_ms = 20'000;
  std::string log;  // a file
  int number = 0;
  std::uint64_t seed = 1;
  std::size_t sessions_max = 2;
  std::vector<std::string> scripts;  // of the test agent, one is drawn for each prompt
};

class CrashClient {
 public:
  explicit CrashClient(CrashClientSetup setup);
  ~CrashClient();

  void start();
  // Ends the thread; requests that have no answer yet are tried until the daemon gives one.
  void stop();

  // The rest after stop() only.
  // For each session of this client: what it sent there, and what its stream showed.
  struct Owned {
    std::map<std::string, SentPrompt> prompts;
    std::unique_ptr<EventReader> reader;
  };
  const std::map<std::string, Owned>& sessions() const { return sessions_; }
  ApiClient& api() { return client_; }
  // Reads each session to its head; says where that did not come.
  std::vector<std::string> read_to_the_heads();
  struct Judged {
    std::vector<std::string> wrong;
    std::uint64_t records = 0;
  };
  // What it was told and shown against what the journals say.
  Judged judge_sessions();

  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t unanswered = 0;  // and sent again
    std::uint64_t prompts = 0;
    std::uint64_t answers = 0;  // of permissions
    std::uint64_t connections = 0;
    std::uint64_t moves = 0;  // to another daemon
    std::uint64_t stale = 0;  // answers of one that was not the owner any more
    Counts& operator+=(const Counts& other);
  };
  Counts counts() const;

 private:
  void run();
  void act();
  void create();
  void prompt(const std::string& session, Owned& owned);
  void answer_one();
  void cancel(const std::string& session);
  void reconnect(Owned& owned);
  void move_on();
  void pump(int wait_ms);
  // Until there is an answer that is not 503.
  ApiReply call_until_answered(const ApiCall& call);
  void note(const std::string& line);
  std::uint64_t draw(std::uint64_t below) { return dice_() % below; }
  std::string new_key();

  CrashClientSetup setup_;
  ApiClient client_;
  std::mt19937_64 dice_;
  std::map<std::string, Owned> sessions_;
  std::vector<std::string> wrong_;
  Counts counts_;
  std::uint64_t keys_ = 0;
  int log_ = -1;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> abandoned_ = false;
  std::thread thread_;
};

}  // namespace perdure
