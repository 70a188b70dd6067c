// One connection to a PostgreSQL server. Every call has its own deadline, however server and
// network behave. A lost connection closes the link and is reported. Used by one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/postgres/pg_values.h"

struct pg_conn;

namespace perdure {

struct PgTimes {
  std::chrono::milliseconds connect{3'000};     // to connect
  std::chrono::milliseconds statement{20'000};  // for one statement's answer
};

// What went wrong, independent of what it means for the caller.
enum class PgTrouble {
  none,
  refused,  // the server returned an error; nothing of the statement was stored
  lost,     // no answer: it is unknown what the server did
};

struct PgFailure {
  PgTrouble trouble = PgTrouble::none;
  std::string state;       // five characters; empty if the error is not from the server
  std::string constraint;  // the violated constraint
  std::string message;
  bool is_late = false;  // lost because of the deadline

  // The error for the caller: disk_full, damaged, denied, unavailable, …
  Error error() const;
  // Whether the same statement may succeed if retried, as after a deadlock or a timeout.
  bool is_passing() const;
};

template <class T>
using PgResult = std::expected<T, PgFailure>;

// A named statement is prepared on first use.
struct PgStatement {
  const char* name = "";
  const char* sql = "";
};

class PgLink {
 public:
  // The place is a URL or `key=value …`, as for libpq, without a password.
  static Result<std::unique_ptr<PgLink>> open(const std::string& place, PgTimes times);
  ~PgLink();
  PgLink(const PgLink&) = delete;
  PgLink& operator=(const PgLink&) = delete;

  PgResult<PgRows> run(const PgStatement& statement, const PgParams& params);
  // Runs statements without parameters or rows in one transaction.
  PgResult<PgRows> script(const std::string& sql);
  bool is_lost() const { return is_lost_; }
  // Whether the other side still seems alive, without sending anything.
  bool looks_alive();

  // For a listening connection: waits until a notification came, `wake_fd` is readable, or the time
  // expires; false if the connection is lost.
  struct Wait {
    int wake_fd = -1;
    std::chrono::milliseconds time{0};
  };
  bool wait_notices(const Wait& wait);
  // The payloads received since the last call.
  std::vector<std::string> take_notices();

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  explicit PgLink(PgTimes times) : times_(times) {}

  Result<> connect(const std::string& place);
  PgResult<PgRows> prepare(const PgStatement& statement, const PgParams& params);
  PgResult<PgRows> finish();
  bool wait_readable(Deadline deadline);
  bool flush(Deadline deadline);
  PgFailure lose(const std::string& why);

  struct Close {
    void operator()(pg_conn* connection) const;
  };
  PgTimes times_;
  std::unique_ptr<pg_conn, Close> connection_;
  std::set<std::string_view> prepared_;
  bool is_lost_ = false;
};

// invalid_argument if libpq cannot parse the place, or if it contains a password, which would be
// visible in process lists and configuration. The message never repeats the place.
Result<> check_postgres_place(const std::string& place);

}  // namespace perdure
