// Messages between daemons of a shared store: a command for a session of the other daemon, or a
// whole request of a client. Each is signed with the secret in their store; the signature covers
// path, time and the hash of the body, so that it can be verified before the body is read.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/hash.h"
#include "base/id.h"
#include "base/json/fields.h"
#include "base/json/json.h"
#include "base/result.h"
#include "base/time.h"

namespace perdure {

inline constexpr std::int64_t peer_version = 1;
inline constexpr std::string_view peer_submit_path = "/api/peer/submit";
inline constexpr std::string_view peer_call_path = "/api/peer/call";
inline constexpr const char* peer_signature_header = "X-Perdure-Peer";
// On an answer of the request itself, as opposed to its transport.
inline constexpr const char* peer_answer_header = "X-Perdure-Peer-Answer";

struct PeerSubmit {
  std::int64_t version = peer_version;
  std::string node;  // the sender
  SessionId session;
  std::string by;
  std::string key;  // never empty: a repeat takes effect once
  Hash body_hash;
  RawJson input;  // core/wire/agentctl/command.h
  bool operator==(const PeerSubmit&) const = default;
  FIELDS {
    visit("v", self.version);
    visit("node", self.node);
    visit("session_id", self.session);
    visit("by", self.by);
    visit("key", self.key);
    visit("body_hash", self.body_hash);
    visit("input", self.input);
  }
};

// The principal that the sender's gate found for the request.
struct PeerPrincipal {
  std::string id;
  std::string scope;
  std::vector<SessionId> sessions;
  SessionId hosted;
  bool from_browser = false;
  std::string credential;
  bool operator==(const PeerPrincipal&) const = default;
  FIELDS {
    visit("id", self.id);
    visit("scope", self.scope);
    visit("sessions", self.sessions);
    visit("hosted", self.hosted);
    visit("from_browser", self.from_browser);
    visit("credential", self.credential);
  }
};

struct PeerCall {
  std::int64_t version = peer_version;
  std::string node;
  std::string method;
  std::string target;  // path and query as the client sent them
  SessionId session;   // named by the path
  std::string idempotency_key;
  std::string content_type;
  std::string body;
  PeerPrincipal principal;
  bool operator==(const PeerCall&) const = default;
  FIELDS {
    visit("v", self.version);
    visit("node", self.node);
    visit("method", self.method);
    visit("target", self.target);
    visit("session_id", self.session);
    visit("idempotency_key", self.idempotency_key);
    visit("content_type", self.content_type);
    visit("body", self.body);
    visit("principal", self.principal);
  }
};

std::string encode_peer_submit(const PeerSubmit& submit);
std::string encode_peer_call(const PeerCall& call);
// Accept any bytes: invalid_argument, and format_too_new for a later version or an unknown member.
Result<PeerSubmit> decode_peer_submit(std::string_view text);
Result<PeerCall> decode_peer_call(std::string_view text);

// The signed content. A letter is for one receiver, and its nonce is used once.
struct PeerLetter {
  std::string path;
  std::string receiver;  // the name of the node
  Timestamp at;
  std::string nonce;  // any text without a dot
  Hash body_hash;
};
// The value of peer_signature_header: version, time, nonce, hash of the body, signature.
std::string sign_peer_letter(std::string_view key, const PeerLetter& letter);
struct PeerHeader {
  std::string_view path;
  std::string_view receiver;
  std::string_view value;
};
// unauthenticated: another key, path or receiver, or not the current time. PeerNonces checks that
// its nonce is new, and the caller checks the body.
Result<PeerLetter> check_peer_header(std::string_view key, const PeerHeader& header, Timestamp now);

// The letters received during the time in which one is valid, so that none takes effect twice.
class PeerNonces {
 public:
  // `began`: earlier letters may have been received in an earlier life of the receiver.
  explicit PeerNonces(Timestamp began) : began_(began) {}
  // unauthenticated: received before. unavailable: peer_nonces_max are remembered.
  Result<> take(const PeerLetter& letter, BootTime now);

 private:
  struct Seen {
    BootTime until;
    std::string nonce;
  };
  Timestamp began_;
  std::set<std::string> nonces_;
  std::deque<Seen> seen_;  // the same, oldest first
};

}  // namespace perdure
