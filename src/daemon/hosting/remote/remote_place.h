// Another host as the place of one execution, reached through the outpost there. Without the
// outpost's answer the state is unknown, never dead. A dead execution's spool is copied to this
// machine before it is read, so that no reader waits for the network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/wire/agentctl/bootstrap.h"
#include "core/wire/outpost.h"
#include "daemon/hosting/place.h"
#include "daemon/hosting/remote/outpost_client.h"
#include "env/env.h"
#include "env/host.h"

namespace perdure {

struct RemotePorts {
  Clock& clock;
  Loop& loop;
  Host& host;  // this machine: for the copy of the spool
  // The outpost as currently known; never null.
  std::function<std::shared_ptr<OutpostClient>()> outpost;
};

struct RemoteTimes {
  std::int64_t backoff_min_ms = 200;
  std::int64_t backoff_max_ms = 10'000;
  std::int64_t heartbeat_ms = 15'000;  // silence after which the link is closed
  bool operator==(const RemoteTimes&) const = default;
};

class RemoteLaunch;

class RemotePlace final : public Place {
 public:
  // The ports must outlive it. The bootstrap's spool folder is on this machine: it exists whenever
  // a start may have been requested from the other host, and holds the copy at the end.
  RemotePlace(RemotePorts ports, RemoteTimes times, Bootstrap bootstrap);
  ~RemotePlace() override;

  void adjust(LocalSetting& setting) const override;

  // Starts the agentctl there. The outpost knows the command; the input is the bootstrap.
  Result<std::unique_ptr<Process>> spawn(const SpawnSpec& spec, ProcessEvents& events) override;
  // Continues between calls; returns 0 after the outpost has confirmed that none is left and, for
  // this execution's mark, its spool has been copied.
  std::size_t kill_marked(const std::string& mark) override;

  ProcessLife life(const ProcessIdentity& process) override;
  // not_found: the outpost reports that it is dead.
  Result<std::unique_ptr<Link>> connect(const std::string& folder,
                                        const std::string& name) override;
  Result<std::unique_ptr<Folder>> open_folder(const std::string& path) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& path) override;
  // Removes it here and there.
  Result<> remove_folder(const std::string& path) override;
  Result<> remove_file(const std::string&, const std::string&) override { return {}; }

 private:
  friend class RemoteLaunch;

  // A request that is sent one at a time, with a pause before the next.
  struct Asking {
    bool under_way = false;
    bool done = false;
    std::int64_t not_before_ms = 0;
  };

  std::int64_t now_ms() const { return ports_.clock.now().since_boot.ms; }
  OutpostCall about(OutpostVerb verb) const;
  // Calls the outpost and passes the answer to a member, unless this is destroyed by then.
  void ask(OutpostCall call, void (RemotePlace::*then)(Result<std::string>));
  bool may_exist();
  void look();
  void seen(Result<std::string> answer);
  void killed(Asking& asking, const Result<std::string>& answer);
  void begin_copy();
  void listed(Result<std::string> answer);
  void copy_on();
  void got_piece(Result<std::string> answer);
  void stop_asking(Asking& asking, const std::string& doubt);

  RemotePorts ports_;
  RemoteTimes times_;
  Bootstrap bootstrap_;
  ProcessLife life_ = ProcessLife::unknown;
  bool looking_ = false;
  std::int64_t look_not_before_ms_ = 0;
  std::int64_t seen_ms_ = 0;
  Asking exec_end_;
  Asking session_end_;
  std::vector<OutpostFile> to_copy_;  // the last one first
  std::uint64_t copied_bytes_ = 0;    // bytes of the last file
  std::unique_ptr<Folder> copy_;
  std::shared_ptr<bool> exists_ = std::make_shared<bool>(true);
};

}  // namespace perdure
