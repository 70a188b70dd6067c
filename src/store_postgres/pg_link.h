// One connection to a PostgreSQL server. Every call has a deadline of its own, whatever the server
// or the network do; after a connection was lost the link is closed and says so. Used by one thread
// at a time.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store_postgres/pg_values.h"

struct pg_conn;

namespace perdure {

struct PgTimes {
  std::chrono::milliseconds connect{3'000};     // for a connection to be made
  std::chrono::milliseconds statement{20'000};  // for the answer to one statement
};

// What went wrong, apart from what it means for a caller.
enum class PgTrouble {
  none,
  refused,  // the server said no, and nothing of the statement is there
  lost,     // no answer came: what the server did is not known
};

struct PgFailure {
  PgTrouble trouble = PgTrouble::none;
  std::string state;       // five characters; empty when no server said it
  std::string constraint;  // that was violated
  std::string message;
  bool is_late = false;  // lost, because its time was over

  // disk_full, damaged, denied, unavailable … for the answer to a caller.
  Error error() const;
  // Whether the same statement may do on a next try: a deadlock, a timeout.
  bool is_passing() const;
};

template <class T>
using PgResult = std::expected<T, PgFailure>;

// A statement with a name is prepared on first use.
struct PgStatement {
  const char* name = "";
  const char* sql = "";
};

class PgLink {
 public:
  // The place is a URL or `key=value …`, as libpq reads them, without a password.
  static Result<std::unique_ptr<PgLink>> open(const std::string& place, PgTimes times);
  ~PgLink();
  PgLink(const PgLink&) = delete;
  PgLink& operator=(const PgLink&) = delete;

  PgResult<PgRows> run(const PgStatement& statement, const PgParams& params);
  // Statements without parameters or rows, in one transaction of their own.
  PgResult<PgRows> script(const std::string& sql);
  bool is_lost() const { return is_lost_; }
  // Whether the other side is still there, as far as can be known without asking it.
  bool looks_alive();

  // For one that listens: waits until something came, `wake_fd` can be read, or the time is over;
  // false when the connection is gone.
  struct Wait {
    int wake_fd = -1;
    std::chrono::milliseconds time{0};
  };
  bool wait_notices(const Wait& wait);
  // The payloads that came since the last call.
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

// invalid_argument for what libpq cannot read, and for a place with a password in it: it would be
// seen in process lists and configuration. The message never repeats the place.
Result<> check_postgres_place(const std::string& place);

}  // namespace perdure
