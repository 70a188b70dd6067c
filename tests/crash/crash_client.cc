// A client's next action is drawn from its seed; it stores what it received, and guesses nothing.
#include "crash_client.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/check.h"
#include "daemon_process.h"

namespace perdure {
namespace {

// Limit of prompts under way in one session, so that turns end while the harness runs.
constexpr std::uint64_t open_prompts_max = 3;

std::uint64_t open_prompts(const EventReader& reader, std::size_t sent) {
  return sent > reader.runs_ended() ? sent - reader.runs_ended() : 0;
}

}  // namespace

CrashClient::CrashClient(CrashClientSetup setup)
    : setup_(std::move(setup)), client_(setup_.daemon), dice_(setup_.seed) {
  log_ = open(setup_.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  CHECK(log_ >= 0);
  client_.answer_ms = setup_.answer_ms;
}

CrashClient::~CrashClient() {
  abandoned_ = true;  // after a failed test no daemon will respond
  stop();
  sessions_.clear();
  close(log_);
}

void CrashClient::start() {
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void CrashClient::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

CrashClient::Counts& CrashClient::Counts::operator+=(const Counts& other) {
  requests += other.requests;
  unanswered += other.unanswered;
  prompts += other.prompts;
  answers += other.answers;
  connections += other.connections;
  moves += other.moves;
  stale += other.stale;
  return *this;
}

CrashClient::Counts CrashClient::counts() const {
  Counts counts = counts_;
  for (const auto& [session, owned] : sessions_) counts.connections += owned.reader->connections();
  return counts;
}

void CrashClient::note(const std::string& line) {
  const std::string text = line + "\n";
  CHECK(write(log_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  fdatasync(log_);
}

std::string CrashClient::new_key() {
  return "c" + std::to_string(setup_.number) + "-" + std::to_string(++keys_);
}

void CrashClient::run() {
  while (!stopping_) {
    act();
    pump(static_cast<int>(draw(20)));
  }
}

void CrashClient::pump(int wait_ms) {
  client_.io().run_for_ms(wait_ms);
  for (auto& [session, owned] : sessions_) {
    if (!owned.reader->is_open()) reconnect(owned);
    if (!owned.reader->wrong().empty()) wrong_.push_back("STREAM1 " + owned.reader->wrong());
  }
}

void CrashClient::act() {
  const std::uint64_t what = draw(100);
  if (sessions_.empty() || (what < 5 && sessions_.size() < setup_.sessions_max)) return create();
  auto at = std::next(sessions_.begin(), static_cast<std::ptrdiff_t>(draw(sessions_.size())));
  if (what < 55) return prompt(at->first, at->second);
  if (what < 80) return answer_one();
  if (what < 85) return cancel(at->first);
  if (what < 90) return reconnect(at->second);
  if (what < 95) return move_on();
}

void CrashClient::move_on() {
  if (setup_.others.empty()) return;
  const std::uint64_t next = draw(setup_.others.size() + 1);
  client_.turn_to(next == 0 ? setup_.daemon : setup_.others[next - 1]);
  ++counts_.moves;
}

ApiReply CrashClient::call_until_answered(const ApiCall& call) {
  note("send " + call.key + " " + call.path + " " + call.body);
  while (true) {
    ++counts_.requests;
    ApiReply reply = client_.call(call);
    const bool is_stale = !setup_.others.empty() && reply.at("error.code") == "stale_owner";
    counts_.stale += is_stale;
    if (reply.status != 0 && reply.status != 503 && !is_stale) {
      note("answer " + call.key + " " + std::to_string(reply.status) + " " + reply.at("seq") + " " +
           reply.at("message_id"));
      return reply;
    }
    ++counts_.unanswered;
    note("nothing " + call.key);
    if (abandoned_) return reply;
    move_on();
    poll(nullptr, 0, 10);
  }
}

void CrashClient::create() {
  const ApiReply reply = call_until_answered(
      {.method = "POST", .path = "/api/sessions", .body = R"({"agent":"test"})", .key = new_key()});
  const std::string session = reply.at("session_id");
  if (!reply.ok() || session.empty()) {
    wrong_.push_back("a session was refused: " + reply.body);
    return;
  }
  Owned& owned = sessions_[session];
  owned.reader = std::make_unique<EventReader>(client_, session);
  owned.reader->open();
}

void CrashClient::prompt(const std::string& session, Owned& owned) {
  if (open_prompts(*owned.reader, owned.prompts.size()) >= open_prompts_max) return;
  const std::string key = new_key();
  SentPrompt& sent = owned.prompts[key];
  sent.text = setup_.scripts[draw(setup_.scripts.size())];
  JsonWriter body;
  body.begin_object().key("text").string(sent.text).end_object();
  const ApiCall call{.method = "POST",
                     .path = "/api/sessions/" + session + "/prompt",
                     .body = std::move(body).take(),
                     .key = key};
  const ApiReply reply = call_until_answered(call);
  if (!reply.ok()) {
    wrong_.push_back("a prompt was refused: " + reply.body);
    return;
  }
  ++counts_.prompts;
  sent.acknowledged = true;
  sent.message_id = reply.at("message_id");
  if (draw(4) != 0) return;
  const ApiReply again = call_until_answered(call);
  if (again.at("message_id") != sent.message_id || again.at("seq") != reply.at("seq")) {
    wrong_.push_back("ACK3 a repeat was answered otherwise: " + reply.body + "\n" + again.body);
  }
}

void CrashClient::answer_one() {
  const ApiReply inbox = client_.get("/api/inbox");
  ++counts_.requests;
  std::vector<std::string> items = json_list(inbox.body, "items");
  std::erase_if(items, [](const std::string& item) { return json_at(item, "perm_id").empty(); });
  if (items.empty()) return;
  const std::string item = items[draw(items.size())];
  const char* const body =
      draw(3) == 0 ? R"({"option_id":"reject_once"})" : R"({"option_id":"allow_once"})";
  const ApiReply reply =
      call_until_answered({.method = "POST",
                           .path = "/api/permissions/" + json_at(item, "perm_id"),
                           .body = body,
                           .key = new_key()});
  if (reply.ok()) ++counts_.answers;
}

void CrashClient::cancel(const std::string& session) {
  call_until_answered({.method = "POST",
                       .path = "/api/sessions/" + session + "/cancel",
                       .body = "{}",
                       .key = new_key()});
}

void CrashClient::reconnect(Owned& owned) {
  const std::uint64_t last = owned.reader->last();
  // Usually after the last one, sometimes earlier: repeated records must be identical.
  owned.reader->open_behind(draw(5) == 0 ? draw(last + 1) : last);
}

std::vector<std::string> CrashClient::read_to_the_heads() {
  std::vector<std::string> found;
  for (const auto& [id, owned] : sessions_) {
    const std::size_t head = client_.records(id).size();
    const bool is_there = until(
        [&] {
          if (!owned.reader->is_open()) owned.reader->open();
          client_.io().run_for_ms(20);
          return owned.reader->last() >= head;
        },
        30'000);
    if (!is_there) found.push_back("STREAM5 a client does not see the head of " + id);
  }
  return found;
}

CrashClient::Judged CrashClient::judge_sessions() {
  Judged judged{.wrong = wrong_};
  for (const auto& [id, owned] : sessions_) {
    const JudgedSession session{id, client_.records(id), owned.prompts};
    judged.records += session.records.size();
    for (const std::string& wrong : judge(session, Rest::quiet)) judged.wrong.push_back(wrong);
    for (const std::string& wrong : judge_view(session, owned.reader->records())) {
      judged.wrong.push_back(wrong);
    }
  }
  return judged;
}

}  // namespace perdure
