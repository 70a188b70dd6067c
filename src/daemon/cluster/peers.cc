#include "daemon/cluster/peers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "client/api.h"
#include "client/endpoint.h"
#include "core/wire/agentctl/command.h"
#include "core/wire/agentctl/reply.h"

namespace perdure {
namespace {

constexpr std::string_view unix_prefix = "unix:";

// The other daemon's refusal. If it does not admit us, the client must not see that as a failed
// login of its own.
Error refusal_of(const std::string& node, const HttpResponse& response) {
  Error error = client::read_refusal(response.status, response.body).error();
  if (error.code() == Code::unauthenticated || error.code() == Code::misdirected) {
    return Error(Code::unavailable,
                 "node " + node + " does not take our calls: " + error.message());
  }
  return error;
}

bool is_answer_of_route(const HttpResponse& response) {
  return std::ranges::any_of(response.headers, [](const HttpHeader& header) {
    return std::ranges::equal(
        header.name, std::string_view(peer_answer_header), {},
        [](char c) { return std::tolower(c); }, [](char c) { return std::tolower(c); });
  });
}

// Keeps only what a client should see: the route's own answer.
HttpResponse only_answer(HttpResponse response) {
  std::erase_if(response.headers, [](const HttpHeader& header) {
    return header.name != "Content-Type" && header.name != "content-type";
  });
  return response;
}

}  // namespace

Result<HttpEndpoint> parse_node_address(std::string_view address) {
  if (!address.starts_with(unix_prefix)) return client::parse_endpoint(address);
  const std::string_view path = address.substr(unix_prefix.size());
  const std::size_t slash = path.rfind('/');
  if (!path.starts_with('/') || slash == 0 || slash + 1 == path.size()) {
    return fail(Code::invalid_argument,
                "'" + std::string(address) + "' is not an address; expected unix:/path/of/a.sock");
  }
  return HttpEndpoint{.unix_folder = std::string(path.substr(0, slash)),
                      .unix_name = std::string(path.substr(slash + 1))};
}

HttpPeers::HttpPeers(World world, Setting setting)
    : world_(std::move(world)), setting_(std::move(setting)), calls_(world_.io) {}

Result<std::vector<StoreNode>> HttpPeers::nodes() {
  const std::int64_t now_ms = world_.clock.now().since_boot.ms;
  if (now_ms < known_until_ms_) return known_;
  Result<std::vector<StoreNode>> nodes = world_.nodes();
  if (!nodes) return nodes;
  std::ranges::sort(*nodes, {}, &StoreNode::name);
  known_ = *nodes;
  known_until_ms_ = now_ms + nodes_known_ms;
  return nodes;
}

Result<HttpEndpoint> HttpPeers::endpoint_of(const std::string& node) {
  const std::vector<StoreNode> nodes = TRY(this->nodes());
  const auto at = std::ranges::find(nodes, node, &StoreNode::name);
  if (at == nodes.end()) return fail(Code::unavailable, "node " + node + " is not known");
  if (at->address.empty()) {
    return fail(Code::unavailable, "node " + node + " has not said where it can be reached");
  }
  Result<HttpEndpoint> endpoint = parse_node_address(at->address);
  if (!endpoint) {
    return fail(Code::unavailable, "node " + node + ": " + endpoint.error().message());
  }
  return endpoint;
}

std::string HttpPeers::random_text() {
  const std::uint64_t first = world_.random.next();
  return fmt::format("{:016x}{:016x}", first, world_.random.next());
}

HttpRequest HttpPeers::make_request(const std::string& node, const HttpEndpoint& to,
                                    Letter letter) {
  const PeerLetter signed_letter{.path = std::string(letter.path),
                                 .receiver = node,
                                 .at = world_.clock.now().wall,
                                 .nonce = random_text(),
                                 .body_hash = sha256(letter.body)};
  HttpRequest request{
      .method = "POST",
      .target = std::string(letter.path),
      .path = std::string(letter.path),
      .query = {},
      .headers = {{"Host", client::host_header(to)},
                  {"Content-Type", "application/json"},
                  {peer_signature_header, sign_peer_letter(setting_.key, signed_letter)}},
      .body = std::move(letter.body),
      .peer = {}};
  return request;
}

void HttpPeers::fail_later(Error error, ApiWorld::OnPeerAnswer done) {
  world_.loop.post([error = std::move(error), done = std::move(done)]() mutable {
    done(std::unexpected(std::move(error)));
  });
}

void HttpPeers::send(const std::string& node, Letter letter, ApiWorld::OnPeerAnswer done) {
  const auto is_to_it = [&](const auto& each) { return each.second.node == node; };
  if (std::ranges::count_if(sent_, is_to_it) >= static_cast<std::ptrdiff_t>(peer_calls_max)) {
    return fail_later(
        Error(Code::unavailable, "node " + node + " has enough to do: " +
                                     std::to_string(peer_calls_max) + " calls to it are under way"),
        std::move(done));
  }
  const Result<HttpEndpoint> to = endpoint_of(node);
  if (!to) return fail_later(to.error(), std::move(done));
  if (letter.body.size() > peer_body_bytes_max) {
    return fail_later(Error(Code::too_large, "too long for another daemon"), std::move(done));
  }
  const std::uint64_t number = ++last_sent_;
  const HttpCallLimits limits{.connect_ms = peer_connect_ms,
                              .answer_ms = peer_answer_ms,
                              .body_bytes_max = peer_body_bytes_max};
  const std::uint64_t call = calls_.fetch(
      *to, make_request(node, *to, std::move(letter)), limits,
      [this, number](Result<HttpResponse> answer) { finish(number, std::move(answer)); });
  sent_[number] = {.node = node, .call = call, .done = std::move(done)};
  if (timer_ == 0) timer_ = world_.loop.after_ms(nodes_known_ms, [this] { watch_silence(); });
}

// On the loop's next turn, because watch_silence() iterates over sent_.
void HttpPeers::finish(std::uint64_t number, Result<HttpResponse> answer) {
  world_.loop.post(
      [this, number, alive = std::weak_ptr(alive_), answer = std::move(answer)]() mutable {
        if (alive.expired()) return;
        const auto at = sent_.find(number);
        if (at == sent_.end()) return;
        Sent sent = std::move(at->second);
        sent_.erase(at);
        calls_.give_up(sent.call);
        if (answer) return sent.done(std::move(answer));
        sent.done(fail(Code::unavailable,
                       "node " + sent.node + " cannot be reached: " + answer.error().message()));
      });
}

void HttpPeers::watch_silence() {
  timer_ = 0;
  if (sent_.empty()) return;
  timer_ = world_.loop.after_ms(nodes_known_ms, [this] { watch_silence(); });
  const Result<std::vector<StoreNode>> known = nodes();
  if (!known) return;  // the store is unavailable, which says nothing about the daemons
  for (const auto& [number, sent] : sent_) {
    const auto at = std::ranges::find(*known, sent.node, &StoreNode::name);
    if (at != known->end() && !at->is_silent) continue;
    finish(number, fail(Code::unavailable, "nothing was heard of it for longer than its lease"));
  }
}

void HttpPeers::submit(const std::string& node, SessionId session, Request request, ReplyFn reply) {
  Result<std::string> input = encode_command(request.body);
  auto answered = [node, reply = std::move(reply)](Result<HttpResponse> answer) mutable {
    if (!answer) return reply(std::unexpected(std::move(answer).error()));
    if (answer->status == 200) return reply(decode_reply(answer->body));
    reply(std::unexpected(refusal_of(node, *answer)));
  };
  if (!input) return fail_later(std::move(input).error(), std::move(answered));
  // A repeat must act only once, so the call always has a key.
  const PeerSubmit what{.node = setting_.node,
                        .session = session,
                        .by = std::move(request.by),
                        .key = request.key.empty() ? "peer/" + random_text() : request.key,
                        .body_hash = request.body_hash,
                        .input = {std::move(*input)}};
  send(node, {peer_submit_path, encode_peer_submit(what)}, std::move(answered));
}

void HttpPeers::call(const std::string& node, PeerCall call, ApiWorld::OnPeerAnswer done) {
  send(node, {peer_call_path, encode_peer_call(call)},
       [node, done = std::move(done)](Result<HttpResponse> answer) mutable {
         if (!answer) return done(std::move(answer));
         if (is_answer_of_route(*answer)) return done(only_answer(std::move(*answer)));
         done(std::unexpected(refusal_of(node, *answer)));
       });
}

}  // namespace perdure
