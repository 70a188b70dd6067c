#include "env/posix/confine/limit_group.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perdure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = limit_group_prefix;
constexpr std::uint64_t period_us = 100'000;

Result<> put(const std::string& path, const std::string& text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return system_failure("open " + path);
  if (::write(file.get(), text.data(), text.size()) < 0) return system_failure("write " + path);
  return {};
}

bool has_word(const std::string& path, std::string_view word) {
  const Result<std::string> text = read_small_file(path);
  if (!text) return false;
  const std::string padded = " " + *text + " ";
  for (std::size_t at = padded.find(word); at != padded.npos; at = padded.find(word, at + 1)) {
    const std::string_view around = " \n";
    if (around.contains(padded[at - 1]) && around.contains(padded[at + word.size()])) return true;
  }
  return false;
}

std::vector<std::string> controllers_of(const GroupLimits& limits) {
  std::vector<std::string> out;
  if (limits.memory_bytes != 0) out.emplace_back("memory");
  if (limits.processes != 0) out.emplace_back("pids");
  if (limits.cpu_percent != 0) out.emplace_back("cpu");
  return out;
}

std::string quota_us(const GroupLimits& limits) {
  return std::to_string(limits.cpu_percent * period_us / 100);
}

// Allows a group's children these limits; impossible if the group itself has processes.
Result<> enable(const std::string& base, const std::vector<std::string>& controllers) {
  for (const std::string& controller : controllers) {
    if (has_word(base + "/cgroup.subtree_control", controller)) continue;
    TRY_VOID(put(base + "/cgroup.subtree_control", "+" + controller));
  }
  return {};
}

// Removes the groups of killed sessions; one that contains processes stays.
void remove_left(const std::string& base) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(base, error)) {
    if (entry.path().filename().string().starts_with(prefix)) rmdir(entry.path().c_str());
  }
}

Result<> limit_unified(const std::string& path, const GroupLimits& limits) {
  if (limits.memory_bytes != 0) {
    TRY_VOID(put(path + "/memory.max", std::to_string(limits.memory_bytes)));
    (void)put(path + "/memory.swap.max", "0");  // not every machine counts swap
  }
  if (limits.processes != 0) {
    TRY_VOID(put(path + "/pids.max", std::to_string(limits.processes)));
  }
  if (limits.cpu_percent == 0) return {};
  return put(path + "/cpu.max", quota_us(limits) + " " + std::to_string(period_us));
}

Result<> limit_v1(const std::string& path, const std::string& controller,
                  const GroupLimits& limits) {
  if (controller == "memory") {
    const std::string bytes = std::to_string(limits.memory_bytes);
    TRY_VOID(put(path + "/memory.limit_in_bytes", bytes));
    (void)put(path + "/memory.memsw.limit_in_bytes", bytes);
    return {};
  }
  if (controller == "pids") return put(path + "/pids.max", std::to_string(limits.processes));
  TRY_VOID(put(path + "/cpu.cfs_period_us", std::to_string(period_us)));
  return put(path + "/cpu.cfs_quota_us", quota_us(limits));
}

}  // namespace

LimitGroup::~LimitGroup() { remove(); }

LimitGroup& LimitGroup::operator=(LimitGroup&& other) noexcept {
  remove();
  limits_ = other.limits_;
  folders_ = std::exchange(other.folders_, {});
  files_ = std::exchange(other.files_, {});
  members_ = std::exchange(other.members_, {});
  oom_file_ = std::move(other.oom_file_);
  pids_file_ = std::move(other.pids_file_);
  return *this;
}

void LimitGroup::remove() {
  files_.clear();
  for (const Folder& folder : folders_) {
    unlinkat(folder.parent.get(), folder.name.c_str(), AT_REMOVEDIR);
  }
  folders_.clear();
}

Result<> LimitGroup::add(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_failure("make " + path);
  const fs::path whole(path);
  Fd parent(open(whole.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return system_failure("open the folder of " + path);
  folders_.push_back({std::move(parent), whole.filename()});
  Fd members(open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!members) return system_failure("open " + path + "/cgroup.procs");
  members_.push_back(members.get());
  files_.push_back(std::move(members));
  return {};
}

Result<LimitGroup> LimitGroup::create(const std::string& name, const GroupLimits& limits) {
  const std::vector<std::string> controllers = controllers_of(limits);
  std::string reason = "no control groups that can limit " + controllers.front();
  const std::string own = own_cgroups().unified;
  for (const std::string& base : {own, fs::path(own).parent_path().string()}) {
    if (base.empty() || !has_word(base + "/cgroup.controllers", controllers.front())) continue;
    remove_left(base);
    LimitGroup group;
    group.limits_ = limits;
    Result<> made = enable(base, controllers);
    const std::string path = base + "/" + std::string(prefix) + name;
    if (made) made = group.add(path);
    if (made) made = limit_unified(path, limits);
    group.oom_file_ = path + "/memory.events";
    group.pids_file_ = path + "/pids.events";
    if (made) return group;
    reason = made.error().message();
  }
  LimitGroup group;
  group.limits_ = limits;
  for (const std::string& controller : controllers) {
    const std::string base = own_cgroup_v1(controller);
    if (base.empty()) return fail(Code::unavailable, reason);
    remove_left(base);
    const std::string path = base + "/" + std::string(prefix) + name;
    Result<> made = group.add(path);
    if (made) made = limit_v1(path, controller, limits);
    if (!made) return fail(Code::unavailable, made.error().message());
    if (controller == "memory") group.oom_file_ = path + "/memory.oom_control";
    if (controller == "pids") group.pids_file_ = path + "/pids.events";
  }
  return group;
}

Result<> LimitGroup::probe(const GroupLimits& limits) {
  if (!limits.any()) return {};
  TRY(create("probe_" + std::to_string(getpid()), limits));
  return {};
}

std::optional<OomCounter> LimitGroup::oom_counter() const {
  if (limits_.memory_bytes == 0) return std::nullopt;
  return OomCounter(oom_file_);
}

std::string LimitGroup::met() const {
  std::string out;
  if (limits_.memory_bytes != 0 && OomCounter(oom_file_).read().value_or(0) > 0) {
    out = "the limit of " + std::to_string(limits_.memory_bytes >> 20) + " MiB of memory";
  }
  if (limits_.processes != 0 && counter_of(pids_file_, "max").value_or(0) > 0) {
    out += (out.empty() ? "" : ", ") + ("the limit of " + std::to_string(limits_.processes)) +
           " processes";
  }
  return out;
}

}  // namespace perdure
