// The other hosts known to this data folder: one file per host, with the address and the
// fingerprint of its outpost. The command line writes the files; the daemon reads them on demand.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json/fields.h"
#include "base/result.h"
#include "daemon/api/world.h"
#include "daemon/hosting/place.h"
#include "daemon/hosting/remote/outpost_client.h"
#include "daemon/hosting/remote/remote_place.h"
#include "daemon/runtime/ports.h"
#include "env/env.h"
#include "net/io.h"

namespace perdure {

struct Remote {
  std::string name;
  std::string target;                    // ssh's target: user@host, or a name of its config
  std::vector<std::string> ssh_options;  // precede the target
  std::string folder;                    // the outpost's folder, on that host
  std::string host;                      // where the daemon connects
  std::uint64_t port = 0;
  std::string fingerprint;  // SHA-256 of its certificate, in hex
  std::string secret;
  FIELDS {
    visit("name", self.name);
    visit("target", self.target);
    visit("ssh_options", self.ssh_options);
    visit("folder", self.folder);
    visit("host", self.host);
    visit("port", self.port);
    visit("fingerprint", self.fingerprint);
    visit("secret", self.secret);
  }
};

// Letters, digits and -._, without a leading dot, because it becomes a file name.
Result<> check_remote_name(const std::string& name);
// Below, `folder` is <data>/remotes, and not_found names the remote.
struct RemoteFile {
  std::string folder;
  std::string name;
};
Result<Remote> read_remote(const RemoteFile& file);
// 0600, atomic; replaces an existing one.
Result<> write_remote(const std::string& folder, const Remote& remote);
Result<> remove_remote(const RemoteFile& file);
// By name.
Result<std::vector<Remote>> list_remotes(const std::string& folder);

// Open links. They are closed before the io that they were made on, even if others hold them.
class OpenLinks;

// The outpost of a remote over TCP and TLS, authenticated by its fingerprint.
struct RemoteReach {
  HttpIo& io;
  Loop& loop;
  Clock& clock;
  std::shared_ptr<OpenLinks> links = make_open_links();
  static std::shared_ptr<OpenLinks> make_open_links();
};
std::shared_ptr<OutpostClient> reach(const RemoteReach& reach, const Remote& remote,
                                     const RemoteTimes& times);

// The daemon's remotes: one client each, replaced after its file has changed.
class Remotes {
 public:
  struct Setting {
    std::string folder;
    std::map<std::string, RemoteTimes> times;  // by name; the others use the defaults
    std::string owner;                         // the owner of this data folder's executions
  };
  Remotes(RemoteReach ports, Host& host, Setting setting);
  // Closes every link to an outpost.
  ~Remotes();

  std::unique_ptr<Place> make_place(const LaunchSpec& spec, Bootstrap bootstrap);
  void make_workspace(const RemoteOrder& order, ApiWorld::OnWorktree done);
  // Removes what was created there for a deleted session.
  void forget(SessionId session);

 private:
  struct Known {
    std::shared_ptr<OutpostClient> client;
    Remote remote;
    std::pair<std::int64_t, std::uint64_t> version;  // the file's modification time and inode
  };
  const Known& known(const std::string& name);
  RemoteTimes times_of(const std::string& name) const;

  RemoteReach ports_;
  Host& host_;
  Setting setting_;
  std::map<std::string, Known> known_;
};

}  // namespace perdure
