// One client of the crash harness: a thread that creates sessions, prompts, answers, cancels and
// reads. It logs what it sent and received (synced before each request leaves and after each
// response). A request without a response may have taken effect or not; it is repeated with the
// same key until its result is known.
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
  // With several daemons on one store: it sometimes moves to another, and also if one does not
  // respond.
  std::vector<HttpEndpoint> others = {};
  std::int64_t answer_ms = 20'000;
  std::string log;  // path
  int number = 0;
  std::uint64_t seed = 1;
  std::size_t sessions_max = 2;
  std::vector<std::string> scripts;  // of the test agent; one is drawn per prompt
};

class CrashClient {
 public:
  explicit CrashClient(CrashClientSetup setup);
  ~CrashClient();

  void start();
  // Ends the thread; unanswered requests are repeated until the daemon responds.
  void stop();

  // Call the rest only after stop(). For each session of this client: what it sent there, and what
  // its stream showed.
  struct Owned {
    std::map<std::string, SentPrompt> prompts;
    std::unique_ptr<EventReader> reader;
  };
  const std::map<std::string, Owned>& sessions() const { return sessions_; }
  ApiClient& api() { return client_; }
  // Reads each session to its head; returns the sessions whose head never came.
  std::vector<std::string> read_to_the_heads();
  struct Judged {
    std::vector<std::string> wrong;
    std::uint64_t records = 0;
  };
  // Compares its responses and streams with the journals.
  Judged judge_sessions();

  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t unanswered = 0;  // and then repeated
    std::uint64_t prompts = 0;
    std::uint64_t answers = 0;  // of permissions
    std::uint64_t connections = 0;
    std::uint64_t moves = 0;  // to another daemon
    std::uint64_t stale = 0;  // responses of a former owner
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
  // Retries without a response and on 503.
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
