#include "store/postgres/link/pg_link.h"

#include <algorithm>
#include <vector>

#include <libpq-fe.h>
#include <poll.h>

namespace perdure {
namespace {

using Clock = std::chrono::steady_clock;

// Waits for the socket; false if the time expires.
struct Wait {
  short events = POLLIN;
  Clock::time_point deadline;
};
bool wait_socket(int fd, const Wait& wait) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(wait.deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd poll_one{.fd = fd, .events = wait.events, .revents = 0};
    const int ready = ::poll(&poll_one, 1, static_cast<int>(std::min<long>(left.count(), 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

std::string first_line(const char* text) {
  std::string out(text == nullptr ? "" : text);
  while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
  std::ranges::replace(out, '\n', ' ');
  return out;
}

}  // namespace

Error PgFailure::error() const {
  const std::string said = message + (state.empty() ? "" : " (SQLSTATE " + state + ")");
  if (state == "53100") return {Code::disk_full, "the database server's disk is full: " + said};
  if (state == "XX001" || state == "XX002") return {Code::damaged, said};
  if (state.starts_with("28") || state == "42501") return {Code::denied, said};
  if (state == "PD001" || state == "PD002") return {Code::stale_owner, said};
  if (trouble == PgTrouble::lost || is_passing() || state.starts_with("53") ||
      state.starts_with("57") || state.starts_with("08") || state.starts_with("25")) {
    return {Code::unavailable, "the database server cannot be used: " + said};
  }
  return {Code::internal, said};
}

bool PgFailure::is_passing() const {
  // A cancelled or timed-out statement, a deadlock, or a lock that was not available.
  return state == "57014" || state == "55P03" || state.starts_with("40");
}

void PgLink::Close::operator()(pg_conn* connection) const { PQfinish(connection); }

PgLink::~PgLink() = default;

Result<> check_postgres_place(const std::string& place) {
  char* complaint = nullptr;
  PQconninfoOption* const options = PQconninfoParse(place.c_str(), &complaint);
  if (complaint != nullptr) PQfreemem(complaint);  // not used: it may repeat a password
  if (options == nullptr) {
    return fail(Code::invalid_argument, "the place of the database cannot be read");
  }
  bool has_password = false;
  for (const PQconninfoOption* at = options; at->keyword != nullptr; ++at) {
    const std::string_view keyword(at->keyword);
    if (at->val == nullptr || *at->val == '\0') continue;
    if (keyword == "password" || keyword == "sslpassword") has_password = true;
  }
  PQconninfoFree(options);
  if (!has_password) return {};
  return fail(Code::invalid_argument,
              "the place of the database has a password in it, which others could see; put it into "
              "the file that PGPASSFILE names (or ~/.pgpass) instead");
}

Result<std::unique_ptr<PgLink>> PgLink::open(const std::string& place, PgTimes times) {
  TRY_VOID(check_postgres_place(place));
  std::unique_ptr<PgLink> link(new PgLink(times));
  TRY_VOID(link->connect(place));
  return link;
}

Result<> PgLink::connect(const std::string& place) {
  const std::string statement_ms = std::to_string(times_.statement.count());
  const std::string settings = "-c statement_timeout=" + statement_ms +
                               " -c lock_timeout=" + statement_ms +
                               " -c idle_in_transaction_session_timeout=" + statement_ms +
                               " -c client_min_messages=error -c synchronous_commit=on";
  const char* const keys[] = {"dbname",          "application_name", "options", "client_encoding",
                              "keepalives_idle", "tcp_user_timeout", nullptr};
  const char* const values[] = {place.c_str(),        "perdure", settings.c_str(), "UTF8", "10",
                                statement_ms.c_str(), nullptr};
  connection_.reset(PQconnectStartParams(keys, values, 1));
  const Clock::time_point deadline = Clock::now() + times_.connect;
  if (connection_ == nullptr) return fail(Code::unavailable, "no memory for a connection");
  PostgresPollingStatusType status = PGRES_POLLING_WRITING;
  while (PQstatus(connection_.get()) != CONNECTION_BAD && status != PGRES_POLLING_OK) {
    const short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    // The socket may change after each step.
    if (!wait_socket(PQsocket(connection_.get()), {.events = events, .deadline = deadline})) {
      return fail(Code::unavailable, "the database server does not answer");
    }
    status = PQconnectPoll(connection_.get());
    if (status == PGRES_POLLING_FAILED) break;
  }
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    const std::string said = first_line(PQerrorMessage(connection_.get()));
    const bool is_refused = said.contains("authentication") || said.contains("password") ||
                            said.contains("does not exist") || said.contains("pg_hba");
    return fail(is_refused ? Code::denied : Code::unavailable, "no connection: " + said);
  }
  PQsetnonblocking(connection_.get(), 1);
  PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
  return {};
}

bool PgLink::looks_alive() {
  if (is_lost_) return false;
  pollfd now{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
  if (::poll(&now, 1, 0) > 0 && PQconsumeInput(connection_.get()) == 0) is_lost_ = true;
  if (PQstatus(connection_.get()) != CONNECTION_OK) is_lost_ = true;
  return !is_lost_;
}

bool PgLink::wait_notices(const Wait& wait) {
  if (is_lost_) return false;
  pollfd both[] = {{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0},
                   {.fd = wait.wake_fd, .events = POLLIN, .revents = 0}};
  const int ready = ::poll(both, 2, static_cast<int>(wait.time.count()));
  if (ready < 0 && errno != EINTR) is_lost_ = true;
  return looks_alive();
}

std::vector<std::string> PgLink::take_notices() {
  std::vector<std::string> out;
  while (PGnotify* const notice = PQnotifies(connection_.get())) {
    out.emplace_back(notice->extra);
    PQfreemem(notice);
  }
  return out;
}

bool PgLink::wait_readable(Deadline deadline) {
  return wait_socket(PQsocket(connection_.get()), {.events = POLLIN, .deadline = deadline});
}

// Sends the queue and reads meanwhile, or a server with much output would stop reading.
bool PgLink::flush(Deadline deadline) {
  while (true) {
    const int left = PQflush(connection_.get());
    if (left <= 0) return left == 0;
    const short both = POLLIN | POLLOUT;
    if (!wait_socket(PQsocket(connection_.get()), {.events = both, .deadline = deadline})) {
      return false;
    }
    if (PQconsumeInput(connection_.get()) == 0) return false;
  }
}

PgFailure PgLink::lose(const std::string& why) {
  is_lost_ = true;
  const std::string said = first_line(PQerrorMessage(connection_.get()));
  return {.trouble = PgTrouble::lost, .message = said.empty() ? why : why + ": " + said};
}

PgResult<PgRows> PgLink::finish() {
  const Deadline deadline = Clock::now() + times_.statement + times_.connect;
  if (!flush(deadline)) return std::unexpected(lose("the connection broke while sending"));
  std::unique_ptr<PGresult, void (*)(PGresult*)> last(nullptr, PQclear);
  PgFailure failure;
  while (true) {
    while (PQisBusy(connection_.get()) != 0) {
      if (!wait_readable(deadline)) {
        PgFailure late = lose("no answer in time");
        late.is_late = true;
        return std::unexpected(std::move(late));
      }
      if (PQconsumeInput(connection_.get()) == 0) {
        return std::unexpected(lose("the connection broke"));
      }
    }
    PGresult* const next = PQgetResult(connection_.get());
    if (next == nullptr) break;
    last.reset(next);
    const ExecStatusType status = PQresultStatus(next);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
      continue;
    }
    const auto field = [&](int code) {
      const char* const text = PQresultErrorField(next, code);
      return std::string(text == nullptr ? "" : text);
    };
    failure = {.trouble = PgTrouble::refused,
               .state = field(PG_DIAG_SQLSTATE),
               .constraint = field(PG_DIAG_CONSTRAINT_NAME),
               .message = field(PG_DIAG_MESSAGE_PRIMARY)};
    const std::string severity = field(PG_DIAG_SEVERITY_NONLOCALIZED);
    // Only ERROR means that the transaction was rolled back; FATAL ends the connection.
    if (severity != "ERROR") failure.trouble = PgTrouble::lost;
  }
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    const std::string state = failure.state;
    PgFailure lost = lose("the connection broke");
    lost.state = state;
    return std::unexpected(std::move(lost));
  }
  if (failure.trouble == PgTrouble::lost) is_lost_ = true;
  if (failure.trouble != PgTrouble::none) return std::unexpected(std::move(failure));
  if (last == nullptr) return std::unexpected(lose("a statement without an answer"));
  return PgRows(last.release());
}

PgResult<PgRows> PgLink::prepare(const PgStatement& statement, const PgParams& params) {
  if (PQsendPrepare(connection_.get(), statement.name, statement.sql,
                    static_cast<int>(params.size()), params.types().data()) == 0) {
    return std::unexpected(lose("a statement could not be sent"));
  }
  PgResult<PgRows> prepared = finish();
  if (prepared) prepared_.insert(statement.name);
  return prepared;
}

PgResult<PgRows> PgLink::run(const PgStatement& statement, const PgParams& params) {
  if (is_lost_) return std::unexpected(lose("the connection is gone"));
  if (!prepared_.contains(statement.name)) {
    PgResult<PgRows> prepared = prepare(statement, params);
    if (!prepared) return prepared;
  }
  std::vector<const char*> values;
  std::vector<int> lengths;
  const std::vector<int> formats(params.size(), 1);
  for (const std::string& value : params.values()) {
    values.push_back(value.data());
    lengths.push_back(static_cast<int>(value.size()));
  }
  if (PQsendQueryPrepared(connection_.get(), statement.name, static_cast<int>(params.size()),
                          values.data(), lengths.data(), formats.data(), 1) == 0) {
    return std::unexpected(lose("a statement could not be sent"));
  }
  return finish();
}

PgResult<PgRows> PgLink::script(const std::string& sql) {
  if (is_lost_) return std::unexpected(lose("the connection is gone"));
  if (PQsendQuery(connection_.get(), sql.c_str()) == 0) {
    return std::unexpected(lose("a statement could not be sent"));
  }
  return finish();
}

}  // namespace perdure
