// Another host for tests: namespaces of network, processes and mounts, behind a cable that can be
// pulled. It has the files of this machine and a boot id of its own; a reboot ends every process in
// it and gives it another.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "daemon_process.h"
#include "wire/outpost.h"

namespace perdure {

class OtherHost {
 public:
  // Moves the calling program into a network of its own, for good: this end of the cable.
  // unavailable: this machine makes no such namespaces.
  static Result<> prepare_here();
  // The folder is for its own files.
  OtherHost(std::string folder, std::string home);
  ~OtherHost();
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  Result<> boot();
  // Everything that runs on it ends at once, without a word on the cable.
  Result<> reboot();
  // The cable: nothing goes either way, and nobody is told.
  void cut() const;
  void join() const;
  // A program there, to its end.
  ProgramRun run(std::vector<std::string> words) const;
  // The outpost there; started when it does not run.
  Result<OutpostSight> start_outpost() const;
  // Its sshd, with keys made for it; what ssh needs to get there without a question.
  Result<std::string> start_sshd();

  std::string address() const { return "10.77.0.2"; }
  std::string outpost_folder() const { return folder_ + "/outpost"; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::string home_;  // of its user
  std::vector<std::string> environment_;
  pid_t keeper_ = 0;  // unshare
  pid_t init_ = 0;    // the first process there, by its number here
  int boots_ = 0;
  void end();
};

}  // namespace perdure
