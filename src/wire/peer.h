// What one daemon of a shared store says to another: a command for a session of that one, or a
// whole request of a client. Signed with the secret that their store keeps for them; the signature
// names path, time and the hash of the body, so that it can be checked before the body is read.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/hash.h"
#include "base/id.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace perdure {

inline constexpr std::int64_t peer_version = 1;
inline constexpr std::string_view peer_submit_path = "/api/peer/submit";
inline constexpr std::string_view peer_call_path = "/api/peer/call";
inline constexpr const char* peer_signature_header = "X-Perdure-Peer";
// On an answer that the request itself got, not the way to it.
inline constexpr const char* peer_answer_header = "X-Perdure-Peer-Answer";

struct PeerSubmit {
  std::int64_t version = peer_version;
  std::string node;  // who hands it over
  SessionId session;
  std::string by;
  std::string key;  // never empty: sent again it acts once
  Hash body_hash;
  RawJson input;  // wire/command.h
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

// Whom the gate of the sender found behind the request.
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
  SessionId session;   // that the path means
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
// Take any bytes: invalid_argument, and format_too_new for a later version or an unknown member.
Result<PeerSubmit> decode_peer_submit(std::string_view text);
Result<PeerCall> decode_peer_call(std::string_view text);

// What is signed. A letter is for one receiver, and its nonce is used once.
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
// unauthenticated: not by this key, for another path or receiver, or of another time than now.
// Whether its nonce is new is the business of PeerNonces, and whether the body fits, the caller's.
Result<PeerLetter> check_peer_header(std::string_view key, const PeerHeader& header, Timestamp now);

// The letters that came within the time in which one is good, so that none acts twice.
class PeerNonces {
 public:
  // `began`: letters before it may have come to an earlier life of the receiver.
  explicit PeerNonces(Timestamp began) : began_(began) {}
  // unauthenticated: it came before. unavailable: peer_nonces_max are remembered.
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
