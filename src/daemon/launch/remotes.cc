#include "daemon/launch/remotes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/fields_json.h"
#include "base/limits.h"
#include "env/posix/files/folder.h"
#include "net/tls/secure_link.h"

namespace perdure {

class OpenLinks {
 public:
  // Closed with the others, or by its holder.
  class Held final : public Link {
   public:
    Held(std::shared_ptr<OpenLinks> all, std::unique_ptr<SecureLink> link)
        : all_(std::move(all)), link_(std::move(link)) {
      all_->links_.insert(this);
    }
    ~Held() override { all_->links_.erase(this); }
    void set_events(LinkEvents& events) override {
      if (link_) link_->set_events(events);
    }
    void send(std::string bytes) override {
      if (link_) link_->send(std::move(bytes));
    }
    std::size_t unsent_bytes() const override { return link_ ? link_->unsent_bytes() : 0; }
    void pause() override {
      if (link_) link_->pause();
    }
    void resume() override {
      if (link_) link_->resume();
    }
    std::string trouble() const { return link_ ? link_->trouble() : "closed"; }

   private:
    friend class OpenLinks;
    std::shared_ptr<OpenLinks> all_;
    std::unique_ptr<SecureLink> link_;
  };

  void close_all() {
    for (Held* const held : links_) held->link_.reset();
  }

 private:
  std::set<Held*> links_;
};

std::shared_ptr<OpenLinks> RemoteReach::make_open_links() { return std::make_shared<OpenLinks>(); }

namespace {

constexpr std::size_t file_bytes_max = 64UL << 10;
constexpr std::size_t name_bytes_max = 64;
constexpr std::int64_t connect_most_ms = 10'000;

std::string file_name(const std::string& name) { return name + ".json"; }

Result<Remote> parse_remote(const std::string& text) {
  return std::move(TRY(decode_fields<Remote>(text)).value);
}

}  // namespace

Result<> check_remote_name(const std::string& name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  const bool is_name = !name.empty() && name.size() <= name_bytes_max && name.front() != '.' &&
                       name.front() != '-' && std::ranges::all_of(name, is_good);
  if (is_name) return {};
  return fail(Code::invalid_argument,
              "'" + name + "' is not a valid remote name: use letters, digits and -._");
}

Result<Remote> read_remote(const RemoteFile& file) {
  TRY_VOID(check_remote_name(file.name));
  const auto folder = PosixFolder::open(file.folder);
  const Result<std::string> text = folder ? (*folder)->read(file_name(file.name), 0, file_bytes_max)
                                          : Result<std::string>(std::unexpected(folder.error()));
  if (text) return parse_remote(*text);
  if (text.error().code() != Code::not_found) return std::unexpected(text.error());
  return fail(Code::not_found, "unknown remote " + file.name + "; see perdure remote ls");
}

Result<> write_remote(const std::string& path, const Remote& remote) {
  TRY_VOID(check_remote_name(remote.name));
  const auto folder = TRY(PosixFolder::create(path));
  return folder->replace(file_name(remote.name), encode_fields(remote) + "\n");
}

Result<> remove_remote(const RemoteFile& file) {
  TRY(read_remote(file));
  return TRY(PosixFolder::open(file.folder))->remove(file_name(file.name));
}

Result<std::vector<Remote>> list_remotes(const std::string& path) {
  std::vector<Remote> out;
  const auto folder = PosixFolder::open(path);
  if (!folder && folder.error().code() == Code::not_found) return out;
  if (!folder) return std::unexpected(folder.error());
  for (const std::string& name : TRY((*folder)->list())) {
    if (!name.ends_with(".json")) continue;
    out.push_back(TRY(parse_remote(TRY((*folder)->read(name, 0, file_bytes_max)))));
    if (out.size() > remotes_max) return fail(Code::limit_reached, "too many remotes are known");
  }
  return out;
}

std::shared_ptr<OutpostClient> reach(const RemoteReach& reach, const Remote& remote,
                                     const RemoteTimes& times) {
  OutpostAccess access{.name = "remote " + remote.name,
                       .secret = remote.secret,
                       .dial = {},
                       .backoff_min_ms = times.backoff_min_ms,
                       .backoff_max_ms = times.backoff_max_ms};
  const Result<Hash> fingerprint = Hash::parse_hex(remote.fingerprint);
  if (fingerprint) {
    const SecurePeer peer{.host = remote.host,
                          .port = static_cast<std::uint16_t>(remote.port),
                          .fingerprint = *fingerprint,
                          .connect_ms = std::min(connect_most_ms, times.heartbeat_ms),
                          .silence_ms = times.heartbeat_ms};
    access.dial = [&io = reach.io, links = reach.links, peer]() -> DialledLink {
      auto link = std::make_unique<OpenLinks::Held>(links, dial(io, peer));
      const OpenLinks::Held* const seen = link.get();
      return {std::move(link), [seen] { return seen->trouble(); }};
    };
  }
  return std::make_shared<OutpostClient>(reach.loop, reach.clock, std::move(access));
}

Remotes::Remotes(RemoteReach ports, Host& host, Setting setting)
    : ports_(ports), host_(host), setting_(std::move(setting)) {}

Remotes::~Remotes() { ports_.links->close_all(); }

RemoteTimes Remotes::times_of(const std::string& name) const {
  const auto at = setting_.times.find(name);
  return at == setting_.times.end() ? RemoteTimes{} : at->second;
}

// A rewritten file is a new file, which the inode shows.
const Remotes::Known& Remotes::known(const std::string& name) {
  struct stat status{};
  const std::string path = setting_.folder + "/" + file_name(name);
  std::pair<std::int64_t, std::uint64_t> version;
  if (check_remote_name(name) && stat(path.c_str(), &status) == 0) {
    version = {status.st_mtim.tv_sec * 1'000'000'000L + status.st_mtim.tv_nsec, status.st_ino};
  }
  Known& known = known_[name];
  if (known.client && known.version == version) return known;
  Remote remote = read_remote({setting_.folder, name}).value_or(Remote{.name = name});
  known = Known{reach(ports_, remote, times_of(name)), std::move(remote), version};
  return known;
}

std::unique_ptr<Place> Remotes::make_place(const LaunchSpec& spec, Bootstrap bootstrap) {
  const Remote& remote = known(spec.remote).remote;
  bootstrap.url = "tls://" + remote.host + ":" + std::to_string(remote.port);
  return std::make_unique<RemotePlace>(
      RemotePorts{ports_.clock, ports_.loop, host_,
                  [this, name = spec.remote] { return known(name).client; }},
      times_of(spec.remote), std::move(bootstrap));
}

void Remotes::make_workspace(const RemoteOrder& order, ApiWorld::OnWorktree done) {
  if (const Result<Remote> found = read_remote({setting_.folder, order.remote}); !found) {
    return ports_.loop.post(
        [done = std::move(done), error = found.error()] mutable { done(std::unexpected(error)); });
  }
  OutpostCall call{.verb = OutpostVerb::workspace,
                   .session = order.session,
                   .owner = setting_.owner,
                   .cwd = order.cwd,
                   .branch = order.branch};
  known(order.remote)
      .client->call(
          std::move(call), [done = std::move(done)](const Result<std::string>& answer) mutable {
            if (answer) return done(decode_workspace(*answer));
            const Error& error = answer.error();
            const bool is_silent = error.code() == Code::unavailable;
            done(fail(is_silent ? Code::remote_unavailable : error.code(), error.message()));
          });
}

void Remotes::forget(SessionId session) {
  const Result<std::vector<Remote>> all = list_remotes(setting_.folder);
  if (!all) return;
  for (const Remote& remote : *all) {
    known(remote.name)
        .client->call({.verb = OutpostVerb::forget, .session = session, .owner = setting_.owner},
                      [](const Result<std::string>&) {});
  }
}

}  // namespace perdure
