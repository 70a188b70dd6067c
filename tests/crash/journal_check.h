// Checks a whole journal from outside, through the API: numbering, the hash chain, prompts, runs,
// permissions and frames. Every finding is a sentence that begins with the invariant's id.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace perdure {

// A client's knowledge of one session's prompts, by key.
struct SentPrompt {
  std::string text;
  bool acknowledged = false;  // a 2xx arrived; otherwise it may exist or not
  std::string message_id;     // from the first response
};

struct JudgedSession {
  std::string id;
  std::vector<std::string> records;  // as served, starting with the first
  std::map<std::string, SentPrompt> prompts;
};

enum class Rest { quiet, busy };  // quiet: all work has ended, nothing may be open

std::vector<std::string> judge(const JudgedSession& session, Rest rest);

// STREAM1, STREAM2: a client's view is a prefix of the journal, byte for byte.
std::vector<std::string> judge_view(const JudgedSession& session,
                                    const std::vector<std::string>& seen);

// Reads perdure.db in place, without a running daemon: DISK3, J2.
std::vector<std::string> judge_store(const std::string& path);
// The same for the folder of a files store.
std::vector<std::string> judge_files(const std::string& folder);

// The same for a database.
std::vector<std::string> judge_database(const std::string& place);

}  // namespace perdure
