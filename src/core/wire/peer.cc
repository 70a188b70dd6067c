// Encoded by the field codec; as with commands, anything not fully understood is rejected.
#include "core/wire/peer.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/json/fields_json.h"
#include "base/limits.h"

namespace perdure {
namespace {

constexpr std::string_view signature_version = "2";

template <class Message>
Result<Message> decode(std::string_view text) {
  WithUnknown<Message> decoded = TRY(decode_fields<Message>(text));
  if (decoded.value.version < 1) {
    return fail(Code::invalid_argument, "v: expected a format version");
  }
  if (decoded.value.version > peer_version || !decoded.unknown.text.empty()) {
    return fail(Code::format_too_new, "the other daemon says what is not known here");
  }
  return std::move(decoded.value);
}

Hash signature(std::string_view key, const PeerLetter& letter) {
  std::string text = "perdure peer " + std::string(signature_version) + "\n";
  text.append(letter.path).append("\n").append(letter.receiver).append("\n");
  text.append(std::to_string(letter.at.ms)).append("\n").append(letter.nonce).append("\n");
  letter.body_hash.append_hex(text);
  return hmac_sha256(key, text);
}

// Removes the text up to the next dot and returns it.
std::string_view next_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('.'));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

std::unexpected<Error> not_signed(std::string why) {
  return fail(Code::unauthenticated, std::move(why));
}

}  // namespace

std::string encode_peer_submit(const PeerSubmit& submit) { return encode_fields(submit); }
std::string encode_peer_call(const PeerCall& call) { return encode_fields(call); }

Result<PeerSubmit> decode_peer_submit(std::string_view text) { return decode<PeerSubmit>(text); }
Result<PeerCall> decode_peer_call(std::string_view text) { return decode<PeerCall>(text); }

std::string sign_peer_letter(std::string_view key, const PeerLetter& letter) {
  std::string out(signature_version);
  out.append(".").append(std::to_string(letter.at.ms)).append(".").append(letter.nonce).append(".");
  letter.body_hash.append_hex(out);
  out += '.';
  signature(key, letter).append_hex(out);
  return out;
}

Result<PeerLetter> check_peer_header(std::string_view key, const PeerHeader& header,
                                     Timestamp now) {
  if (key.empty()) return not_signed("this daemon has no others beside it");
  std::string_view rest = header.value;
  if (next_part(rest) != signature_version) {
    return not_signed("the other daemon signs as another version of Perdure does; run the same");
  }
  const std::string_view at = next_part(rest);
  const std::string_view nonce = next_part(rest);
  const Result<Hash> body = Hash::parse_hex(next_part(rest));
  const Result<Hash> given = Hash::parse_hex(rest);
  PeerLetter letter{.path = std::string(header.path),
                    .receiver = std::string(header.receiver),
                    .at = {},
                    .nonce = std::string(nonce),
                    .body_hash = {}};
  const auto [end, error] = std::from_chars(at.data(), at.data() + at.size(), letter.at.ms);
  if (!body || !given || nonce.empty() || error != std::errc() || end != at.data() + at.size()) {
    return not_signed("no signature of another daemon");
  }
  letter.body_hash = *body;
  if (!equal_constant_time(signature(key, letter), *given)) {
    return not_signed("not signed by a daemon of this store");
  }
  if (letter.at.ms < now.ms - peer_clock_ms || letter.at.ms > now.ms + peer_clock_ms) {
    return not_signed("the clocks of the two daemons are more than a minute apart");
  }
  return letter;
}

Result<> PeerNonces::take(const PeerLetter& letter, BootTime now) {
  while (!seen_.empty() && seen_.front().until <= now) {
    nonces_.erase(seen_.front().nonce);
    seen_.pop_front();
  }
  if (letter.at < began_) return not_signed("signed before this daemon started");
  if (nonces_.contains(letter.nonce)) return not_signed("this call was made before");
  if (seen_.size() >= peer_nonces_max) {
    return fail(Code::unavailable, "too many calls of other daemons in a minute");
  }
  nonces_.insert(letter.nonce);
  // As long as its time could count as current, anywhere in the minute before and after it.
  seen_.push_back({{now.ms + 2 * peer_clock_ms}, letter.nonce});
  return {};
}

}  // namespace perdure
