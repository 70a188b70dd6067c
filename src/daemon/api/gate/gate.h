// The gate turns a request, and what the kernel reports about its sender, into a principal or a
// refusal. Rights come only from the transport and the node's rows. Every request is checked again,
// so revoked rights end with the commit that revoked them (TOK2).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes/hash.h"
#include "base/result.h"
#include "core/auth/failures.h"
#include "core/auth/one_time.h"
#include "core/auth/origin.h"
#include "core/auth/pipeline.h"
#include "core/auth/principal.h"
#include "core/auth/secret.h"
#include "daemon/registry/node.h"
#include "env/env.h"
#include "net/message.h"

namespace perdure {

struct GateConfig {
  OwnNames names;         // a listener's port may be known late: Gate::names()
  Hash admin_token;       // SHA-256 of the text in <data>/token
  std::uint32_t uid = 0;  // the daemon's own
  // Where a caller on the unix socket comes from; called at accept.
  std::function<CallerOrigin(int descriptor)> local_origin = {};
  // The same of one that came over TCP, on another thread. It calls back on the loop, and not from
  // inside this call. Looks are taken in turns by their source; unavailable when too many wait.
  std::function<void(std::shared_ptr<const HttpPeer>, std::string source,
                     std::move_only_function<void(Result<CallerOrigin>)>)>
      find_tcp_origin = {};
  // The sessions that a caller inside a session sees in addition to its own; null: none.
  std::shared_ptr<const SessionReach> reach = nullptr;
};

// A placeholder that no session has, for a caller inside a session that cannot be identified.
SessionId unknown_session();

class Gate {
 public:
  struct World {
    Node& node;
    Clock& clock;
    Random& random;
  };
  Gate(World world, GateConfig config);
  ~Gate() { *exists_ = false; }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  OwnNames& names() { return config_.names; }
  const NodeState& node() const { return world_.node.state(); }

  // Checks the Host header, then the site; for every request, with or without credentials.
  Result<> check_place(const HttpRequest& request) const;

  // Whether the check consumes a ticket: a request's head is examined before the request itself.
  enum class Ticket { look, take };
  // Whether to determine the origin of a TCP caller (that of a unix socket caller is known).
  // `if_known`: an unfinished search counts as outside, for what is decided again later.
  enum class Origins { required, if_known, skip_tcp };
  // unauthenticated, or limit_reached after too many failures from the same source.
  Result<Principal> identify(const HttpRequest& request, Ticket ticket,
                             Origins origins = Origins::required);
  // False: find_origin() has to come first.
  bool knows_origin(const HttpRequest& request) const;
  // `source` is the credential that the caller showed. Fails with unavailable when too many wait.
  void find_origin(const HttpRequest& request, std::string source,
                   std::move_only_function<void(Result<>)> done);

  // How long to delay a refusal of identify() or take_launch_token(): longer with each failure from
  // the same source, and 0 for the first few.
  std::int64_t refusal_delay_ms(const HttpRequest& request) const;

  // Checks the form of a change. `caller` is null if it is not known yet, as at a login.
  Result<> check_change(const HttpRequest& request, BodyType body, const Principal* caller) const;

  // False after the principal's token or browser was revoked or has expired. Owners of a stream
  // check this every few seconds and end the stream if it is false.
  bool still_valid(const Principal& principal) const;

  // Where the caller comes from. Inside, when find_origin() has not been asked and was needed.
  CallerOrigin origin(const HttpRequest& request) const;
  // For the handler's on_accept().
  void note_origin(int descriptor, HttpPeer& peer) const;

  // One-time secrets; only their hash is kept.
  std::string make_launch_token(const Principal& by);
  std::string make_ticket(const Principal& by);
  // Whether it would be taken. A person's own failures are counted by take_launch_token().
  bool is_launch_token(std::string_view text) const;
  // Who had it made; unauthenticated for one that is unknown, used or too old.
  Result<Principal> take_launch_token(const HttpRequest& request, std::string_view text);
  // Makes the token usable again after the login could not be stored.
  void give_back_launch_token(std::string_view text, const Principal& by);
  std::string make_secret_text(SecretKind kind);

  // When a token was last used during this life of the daemon.
  std::optional<Timestamp> last_used(const std::string& credential) const;

  // The port makes this daemon's cookie different from those of others on the same host.
  static std::string cookie_name(const HttpRequest& request);
  // Whether the page was loaded over TLS, according to its Origin.
  static bool is_secure(const HttpRequest& request);

 private:
  Result<Principal> by_token(std::string_view text);
  Result<Principal> by_page(const Credentials& credentials);
  Result<Principal> by_ticket(const HttpRequest& request, Ticket ticket);
  Result<Principal> by_credentials(const HttpRequest& request, const RequestFacts& facts,
                                   Ticket ticket);
  bool is_own_user(const RequestFacts& facts, const HttpPeer& peer) const;
  Error refused(const HttpRequest& request, Error error);
  BootTime now() const { return world_.clock.now().since_boot; }
  // Used for expiry. A clock that is set back does not revive anything, and one that was wrong for
  // a while and is then corrected does not expire anything.
  Timestamp wall_now() const;

  World world_;
  GateConfig config_;
  Moment began_;
  OneTimeSecrets launches_;
  OneTimeSecrets tickets_;
  AuthFailures failures_;
  void note_use(const std::string& credential);
  std::map<std::string, Timestamp> last_used_;
  std::optional<CallerOrigin> known_origin(const HttpRequest& request) const;
  void remember(std::shared_ptr<const HttpPeer> peer, CallerOrigin origin);
  // A connection's origin does not change.
  std::map<const HttpPeer*, std::pair<std::weak_ptr<const HttpPeer>, CallerOrigin>> origins_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

RequestFacts facts_of(const HttpRequest& request);

// Whether the principal's token or browser still exists; see Gate::still_valid.
bool credential_stands(const Principal& principal, const NodeState& node, Timestamp now);

}  // namespace perdure
