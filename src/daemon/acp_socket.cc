#include "daemon/acp_socket.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/limits.h"
#include "editor/face.h"

namespace perdure {
namespace {

constexpr std::uint16_t close_policy = 1008;
constexpr std::uint16_t close_not_text = 1003;
// One update may be as long as the longest record; answers add far less.
constexpr std::size_t unsent_bytes_max = 64UL << 20;

}  // namespace

class AcpConnection final : public WebSocketEvents,
                            public std::enable_shared_from_this<AcpConnection> {
 public:
  struct Place {
    AcpServer& server;
    std::uint64_t number = 0;
  };
  AcpConnection(Place place, Principal principal, face::FaceSetup setup)
      : place_(place), principal_(std::move(principal)), face_(std::move(setup)) {}

  void open(std::shared_ptr<WebSocket> socket) { socket_ = std::move(socket); }
  void take_seat(std::uint64_t seat) { seat_ = seat; }
  const Principal& principal() const { return principal_; }
  void close(std::uint16_t code, std::string_view reason) {
    if (!closed_ && socket_) socket_->close(code, reason);
  }

  void on_open() override {}
  void on_text(std::string_view text) override {
    // The core reads one message per line; a newline between JSON tokens has no meaning.
    std::string line(text);
    std::ranges::replace(line, '\n', ' ');
    face_.on_bytes(line + '\n');
    settle();
  }
  void on_binary(std::string_view) override { close(close_not_text, "text only"); }
  void on_drained() override {
    for (const auto& [session, followed] : followed_) followed->drained();
  }
  void on_closed(std::uint16_t, const std::string&) override;

  void settle();

 private:
  // Passes on the events of one followed session.
  class Followed final : public client::FollowEvents {
   public:
    Followed(AcpConnection& owner, std::string session)
        : owner_(owner), session_(std::move(session)) {
      const auto unread = [&owner] { return owner.unsent_bytes(); };
      following_ = std::make_unique<LocalFollowing>(
          owner.api(),
          LocalFollowing::Order{owner.principal_, {.session = session_, .log_id = {}}, unread},
          *this);
    }
    void drained() { following_->drained(); }
    void on_state(std::string_view json) override { owner_.face_.on_state(session_, json); }
    void on_record(std::uint64_t seq, std::string_view json) override {
      owner_.face_.on_record(session_, seq, json);
      owner_.settle_later();
    }
    void on_reset() override {
      owner_.face_.on_reset(session_);
      owner_.settle_later();
    }
    void on_connection(client::Connection) override {}
    void on_refused(const client::Refusal& refusal) override {
      owner_.face_.on_refused(session_, refusal);
      owner_.settle_later();
    }

   private:
    AcpConnection& owner_;
    std::string session_;
    std::unique_ptr<LocalFollowing> following_;
  };

  const LocalApi& api() const { return place_.server.api_; }
  std::size_t unsent_bytes() const { return closed_ || !socket_ ? 0 : socket_->unsent_bytes(); }
  void settle_later();
  void fulfil(face::Wish& wish);

  Place place_;
  Principal principal_;
  face::Face face_;
  std::shared_ptr<WebSocket> socket_;
  std::map<std::string, std::unique_ptr<Followed>> followed_;
  std::uint64_t seat_ = 0;  // its number among the open streams
  bool settling_ = false;
  bool closed_ = false;
};

// Not within a followed session's event, because this may destroy that session.
void AcpConnection::settle_later() {
  if (std::exchange(settling_, true)) return;
  api().loop.post([self = weak_from_this()] {
    const auto alive = self.lock();
    if (!alive) return;
    alive->settling_ = false;
    alive->settle();
  });
}

void AcpConnection::settle() {
  if (closed_ || !socket_) return;
  const std::string output = face_.take_output();
  for (std::size_t from = 0; from < output.size();) {
    const std::size_t end = output.find('\n', from);
    socket_->send_text(std::make_shared<const std::string>(output.substr(from, end - from)));
    from = end + 1;
  }
  for (face::Wish& wish : face_.take_wishes()) fulfil(wish);
  face_.take_remarks();
  if (socket_->unsent_bytes() > unsent_bytes_max) close(close_policy, "reads too slowly");
}

void AcpConnection::fulfil(face::Wish& wish) {
  if (auto* const call = std::get_if<face::CallWish>(&wish)) {
    call_locally(
        api(), principal_, std::move(call->request),
        [self = weak_from_this(), number = call->number](Result<client::ApiAnswer> answer) {
          const auto alive = self.lock();
          if (!alive || alive->closed_) return;
          alive->face_.on_answer(number, std::move(answer));
          alive->settle();
        });
  } else if (auto* const follow = std::get_if<face::FollowWish>(&wish)) {
    followed_.insert_or_assign(follow->session, std::make_unique<Followed>(*this, follow->session));
  } else {
    followed_.erase(std::get<face::UnfollowWish>(wish).session);
  }
}

void AcpConnection::on_closed(std::uint16_t, const std::string&) {
  closed_ = true;
  followed_.clear();
  place_.server.streams_.retire(seat_);
  place_.server.forget_later(place_.number);
}

namespace {

// A socket as an open stream: ended with its principal's right.
class AcpSeat final : public OpenStream {
 public:
  explicit AcpSeat(const std::shared_ptr<AcpConnection>& connection)
      : principal_(connection->principal()), connection_(connection) {}
  const Principal& principal() const override { return principal_; }
  void beat() override {}
  void end() override {
    if (const auto alive = connection_.lock()) alive->close(close_policy, "revoked");
  }

 private:
  Principal principal_;
  std::weak_ptr<AcpConnection> connection_;
};

}  // namespace

AcpServer::AcpServer(Streams& streams, LocalApi api, std::string version)
    : streams_(streams), api_(api), version_(std::move(version)) {}
AcpServer::~AcpServer() = default;

void AcpServer::accept(const Call& call) {
  Result<StreamSlots::Slot> slot = streams_.admit(call.principal);
  if (!slot) return call.fail(slot.error());
  const std::uint64_t number = ++last_connection_;
  face::FaceSetup setup{.version = version_,
                        .agent = std::string(call.request.parameter("agent").value_or("")),
                        .session = std::string(call.request.parameter("session").value_or("")),
                        .key_prefix = "acp-" + std::to_string(api_.random.next()) + "-" +
                                      std::to_string(api_.random.next())};
  auto connection = std::make_shared<AcpConnection>(AcpConnection::Place{*this, number},
                                                    call.principal, std::move(setup));
  connections_.emplace(number, connection);
  connection->take_seat(streams_.add(std::make_unique<AcpSeat>(connection), std::move(*slot)));
  connection->open(call.exchange->upgrade({.message_bytes_max = face_line_bytes_max}, *connection));
}

void AcpServer::forget_later(std::uint64_t number) {
  api_.loop.post([this, number, alive = std::weak_ptr<bool>(alive_)] {
    if (!alive.expired()) connections_.erase(number);
  });
}

void AcpServer::add_to(Router& router) {
  router.add({.method = "GET",
              .pattern = "/acp",
              .access = Access::observe,
              .summary = "ACP for editors over a WebSocket",
              .handler = [this](const Call& call) { accept(call); },
              .body_bytes_max = 0,
              .is_socket = true});
}

}  // namespace perdure
