// One pass over the records; keeps what each invariant needs from earlier ones.
#include "journal_check.h"

#include <algorithm>
#include <utility>

#include "api_client.h"
#include "base/bytes/hash.h"
#include "store/files/files_store.h"
#include "store/files/posix_disk.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "testing/sequence.h"

namespace perdure {
namespace {

bool is_end(const std::string& kind) {
  return kind == "run.completed" || kind == "run.failed" || kind == "run.cancelled" ||
         kind == "run.interrupted";
}

// A record as stored: served records start with `id` and `type`.
std::string stored(const std::string& served) {
  const std::size_t at = served.find("\"v\":");
  return at == std::string::npos ? served : "{" + served.substr(at);
}

class Judge {
 public:
  explicit Judge(const JudgedSession& session) : session_(session) {}

  std::vector<std::string> run(Rest rest) {
    std::string before;
    for (const std::string& record : session_.records) {
      ++seq_;
      take_place(record, before);
      take(record);
      before = stored(record);
    }
    check_prompts();
    check_text();
    if (rest == Rest::quiet) check_ends();
    return std::move(found_);
  }

 private:
  void wrong(const std::string& what) {
    found_.push_back(what + " (" + session_.id + " at " + std::to_string(seq_) + ")");
  }

  void take_place(const std::string& record, const std::string& before) {
    if (json_at(record, "seq") != std::to_string(seq_))
      wrong("J1 gap or repetition in the numbers");
    const std::string due = before.empty() ? std::string(64, '0') : sha256(before).hex();
    if (json_at(record, "prev") != due) wrong("J2 the hash chain is broken");
  }

  void take(const std::string& record) {
    const std::string kind = json_at(record, "kind");
    const std::string run = json_at(record, "run_id");
    if (!run.empty() && ended_.contains(run)) wrong("RUN2 " + kind + " behind the end of its run");
    if (kind == "run.started") take_start(run);
    if (is_end(kind)) {
      if (!started_.contains(run)) wrong("RUN1 the end of a run that never began");
      if (open_ == run) open_.clear();
      ended_.insert(run);
    }
    if (kind == "permission.requested") asked_.insert(json_at(record, "perm_id"));
    if (kind == "permission.resolved") take_answer(json_at(record, "perm_id"));
    if (kind == "queue.added" || kind == "message.user") take_prompt(kind, record);
    take_frame(record);
    if (kind == "message.agent") texts_[json_at(record, "exec_id")] += json_at(record, "text");
  }

  void take_start(const std::string& run) {
    if (!open_.empty()) wrong("RUN3 two open runs");
    if (!started_.insert(run).second) wrong("RUN4 a run began twice");
    open_ = run;
  }

  void take_answer(const std::string& permission) {
    if (!asked_.contains(permission)) wrong("TOK3 an answer to nothing");
    if (!answered_.insert(permission).second) wrong("TOK3 two answers to " + permission);
  }

  void take_prompt(const std::string& kind, const std::string& record) {
    const std::string message = json_at(record, "message_id");
    if (kind == "message.user" && !delivered_.insert(message).second) {
      wrong("RUN4 a prompt was given to the agent twice");
    }
    const std::string key = json_at(record, "key");
    if (!key.empty()) messages_[key.substr(key.find('/') + 1)].insert(message);
  }

  void take_frame(const std::string& record) {
    const std::string number = json_at(record, "frame");
    if (number.empty()) return;
    std::uint64_t& last = frames_[json_at(record, "exec_id")];
    const std::uint64_t frame = std::stoull(number);
    if (frame < last) wrong("PROC5 a frame came back");
    last = frame;
  }

  void check_prompts() {
    for (const auto& [key, prompt] : session_.prompts) {
      const auto found = messages_.find(key);
      const std::size_t times = found == messages_.end() ? 0 : found->second.size();
      if (times > 1) wrong("ACK2 the prompt of key " + key + " is there twice");
      if (prompt.acknowledged && times == 0) wrong("ACK1 the prompt of key " + key + " is lost");
      if (prompt.acknowledged && times == 1 && !found->second.contains(prompt.message_id)) {
        wrong("ACK3 key " + key + " was answered with another message than the journal has");
      }
    }
    for (const auto& [key, messages] : messages_) {
      if (!session_.prompts.contains(key)) wrong("ACK2 a prompt that nobody sent: " + key);
    }
  }

  // The agent itself numbered the text of each execution.
  void check_text() {
    for (const auto& [exec, text] : texts_) {
      const auto turns = testagent::read_sequence(text);
      if (!turns) wrong("PROC5 the agent's text: " + turns.error().message());
    }
  }

  void check_ends() {
    for (const std::string& run : started_) {
      if (!ended_.contains(run)) wrong("RUN1 no end of " + run);
    }
    for (const std::string& permission : asked_) {
      if (!answered_.contains(permission)) wrong("TOK3 no outcome of " + permission);
    }
  }

  const JudgedSession& session_;
  std::uint64_t seq_ = 0;
  std::string open_;
  std::set<std::string> started_, ended_, asked_, answered_, delivered_;
  std::map<std::string, std::set<std::string>> messages_;  // by key
  std::map<std::string, std::uint64_t> frames_;            // by execution
  std::map<std::string, std::string> texts_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> judge(const JudgedSession& session, Rest rest) {
  return Judge(session).run(rest);
}

std::vector<std::string> judge_view(const JudgedSession& session,
                                    const std::vector<std::string>& seen) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::string place = session.id + "/" + std::to_string(i + 1);
    if (i >= session.records.size())
      return {"STREAM2 a client saw " + place + ", which is not there"};
    if (seen[i] != session.records[i]) {
      return {"STREAM1 " + place + " was shown otherwise:\n" + seen[i] + "\n" + session.records[i]};
    }
  }
  return {};
}

static std::vector<std::string> judge_engine(const Result<std::unique_ptr<StoreEngine>>& store) {
  if (!store) return {"DISK3 the store does not open: " + store.error().message()};
  const Result<VerifyReport> report = (*store)->verify();
  if (!report) return {"DISK3 verify: " + report.error().message()};
  std::vector<std::string> found;
  for (const Damage& damage : report->damages) found.push_back("DISK3 " + damage.what);
  return found;
}

std::vector<std::string> judge_store(const std::string& path) {
  return judge_engine(SqliteStore::open({.path = path, .create = false}));
}

std::vector<std::string> judge_files(const std::string& folder) {
  Result<std::unique_ptr<JournalDisk>> disk = open_posix_disk(folder, JournalOpen::existing);
  if (!disk) return {"DISK3 " + disk.error().message()};
  return judge_engine(FilesStore::open({.disk = std::move(*disk), .create = false}));
}

std::vector<std::string> judge_database(const std::string& place) {
  return judge_engine(
      PostgresStore::open({.place = place, .node = "judge", .instance = "judge", .create = false}));
}

}  // namespace perdure
