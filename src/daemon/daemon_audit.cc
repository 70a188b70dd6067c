// The daemon's own entries in the audit trail: its starts and ends, and changes to the known hosts.
// The command line writes those as files, so the daemon checks the files.
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/launch/remotes.h"

namespace perdure {
namespace {

constexpr std::int64_t remotes_look_ms = 30'000;

std::string seconds_of(const struct stat& file) {
  return std::to_string(file.st_mtim.tv_sec) + "." + std::to_string(file.st_mtim.tv_nsec) + "/" +
         std::to_string(file.st_ino);
}

AuditEntry of_daemon(std::string what) {
  return {.what = std::move(what), .by = "system", .how = "daemon"};
}

}  // namespace

Result<> Daemon::open_audit() {
  audit_ = TRY(Audit::open({*clock_, *shared_loop_, *store_},
                           {.keep_days = setting_.config.audit_keep_days,
                            .node = node_name_,
                            .on_refusal = [this](const AuditEntry& refusal) {
                              std::string line = "refused: " + refusal.what;
                              if (!refusal.by.empty()) line += " by " + refusal.by;
                              if (!refusal.from.empty()) line += " from " + refusal.from;
                              line += ", " + refusal.outcome;
                              if (refusal.count > 1) {
                                line += ", " + std::to_string(refusal.count) + " times";
                              }
                              if (!refusal.text.empty()) line += ": " + refusal.text;
                              log_->warn(line);
                            }}));
  return {};
}

// A changed remote has a new file, which its time and inode show.
std::map<std::string, std::string> Daemon::remotes_now() const {
  std::map<std::string, std::string> out;
  const Result<std::vector<Remote>> remotes = list_remotes(data_->remotes());
  if (!remotes) return remotes_known_;
  for (const Remote& remote : *remotes) {
    struct stat file{};
    const std::string path = data_->remotes() + "/" + remote.name + ".json";
    out[remote.name] = stat(path.c_str(), &file) == 0 ? seconds_of(file) : "";
  }
  return out;
}

void Daemon::note_start() {
  remotes_known_ = remotes_now();
  AuditEntry entry = of_daemon("daemon.start");
  entry.text = "perdure " + world_->version + ", pid " + std::to_string(getpid()) + ", " + url_ +
               ", confine " + (setting_.config.confine ? "on" : "off");
  if (!remotes_known_.empty()) entry.text += ", remotes:";
  for (const auto& [name, version] : remotes_known_) entry.text += " " + name;
  audit_->note(std::move(entry));
  watch_remotes();
}

void Daemon::note_stop(std::string_view why) {
  AuditEntry entry = of_daemon("daemon.stop");
  entry.text = why;
  entry.essential = true;
  audit_->note(std::move(entry));
}

void Daemon::watch_remotes() {
  loop_->after_ms(remotes_look_ms, [this] {
    look_at_remotes();
    watch_remotes();
  });
}

void Daemon::look_at_remotes() {
  std::map<std::string, std::string> now = remotes_now();
  const auto note = [this](std::string what, const std::string& name) {
    AuditEntry entry = of_daemon(std::move(what));
    entry.how = "file in the data folder";
    entry.on = {"remote:" + name};
    audit_->note(std::move(entry));
  };
  for (const auto& [name, version] : now) {
    const auto known = remotes_known_.find(name);
    if (known == remotes_known_.end()) {
      note("remote.add", name);
    } else if (known->second != version) {
      note("remote.change", name);
    }
  }
  for (const auto& [name, version] : remotes_known_) {
    if (!now.contains(name)) note("remote.remove", name);
  }
  remotes_known_ = std::move(now);
}

}  // namespace perdure
