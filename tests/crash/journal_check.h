// Judges a whole journal from outside, by what the API serves: numbering, the hash chain, prompts,
// runs, permissions and frames. Every finding is a sentence that begins with the invariant's id.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace perdure {

// What clients know of the prompts of one session, by their key.
struct SentPrompt {
  std::string text;
  bool acknowledged = false;  // a 2xx came; else it may be there or not
  std::string message_id;     // as the first answer said
};

struct JudgedSession {
  std::string id;
  std::vector<std::string> records;  // as served, from the first on
  std::map<std::string, SentPrompt> prompts;
};

enum class Rest { quiet, busy };  // quiet: all work has ended, nothing may be open

std::vector<std::string> judge(const JudgedSession& session, Rest rest);

// STREAM1, STREAM2: what a client saw is the beginning of the journal, byte for byte.
std::vector<std::string> judge_view(const JudgedSession& session,
                                    const std::vector<std::string>& seen);

// perdure.db read in place, with no daemon on it: DISK3, J2.
std::vector<std::string> judge_store(const std::string& path);
// The same of the folder of a files store.
std::vector<std::string> judge_files(const std::string& folder);

// The same of a database.
std::vector<std::string> judge_database(const std::string& place);

}  // namespace perdure
