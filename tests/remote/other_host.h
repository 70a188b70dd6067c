// Another host for tests: namespaces of network, processes and mounts, connected by a cable that
// can be cut. It has this machine's files and its own boot id; a reboot ends every process in it
// and changes the boot id.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "core/wire/outpost.h"
#include "daemon_process.h"

namespace perdure {

class OtherHost {
 public:
  // Moves the calling program permanently into a separate network: this end of the cable.
  // unavailable: this machine does not support such namespaces.
  static Result<> prepare_here();
  // The folder is for its own files.
  OtherHost(std::string folder, std::string home);
  ~OtherHost();
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  Result<> boot();
  // Ends every process on it at once, without a message on the cable.
  Result<> reboot();
  // The cable: drops all packets in both directions, without notification.
  void cut() const;
  void join() const;
  // Runs a program there to its end.
  ProgramRun run(std::vector<std::string> words) const;
  // The outpost there; starts it if it does not run.
  Result<OutpostSight> start_outpost() const;
  // Its sshd, with generated keys; returns the options that ssh needs to connect without prompts.
  Result<std::string> start_sshd();

  std::string address() const { return "10.77.0.2"; }
  std::string outpost_folder() const { return folder_ + "/outpost"; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::string home_;  // of its user
  std::vector<std::string> environment_;
  pid_t keeper_ = 0;  // unshare
  pid_t init_ = 0;    // the first process there, by its pid here
  int boots_ = 0;
  void end();
};

}  // namespace perdure
