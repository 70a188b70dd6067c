#include "sim/world/machine.h"

#include <algorithm>
#include <csignal>

namespace perdure::sim {
namespace {

constexpr std::int64_t pid_first = 100;

bool has_mark(const Proc& proc, const std::string& mark) {
  return std::ranges::find(proc.environment, mark) != proc.environment.end();
}

}  // namespace

ProcPtr Machine::add(std::vector<std::string> environment, std::int64_t group) {
  // Never fewer numbers than processes.
  const std::int64_t pid_last =
      pid_first + std::max<std::int64_t>(universe.faults.process_numbers, std::ssize(procs_) + 1);
  do { last_pid_ = last_pid_ >= pid_last ? pid_first : last_pid_ + 1; } while (find(last_pid_));
  auto proc = std::make_shared<Proc>();
  proc->pid = last_pid_;
  proc->group = group == 0 ? last_pid_ : group;
  proc->started = static_cast<std::uint64_t>(universe.scheduler.now_ms());
  proc->environment = std::move(environment);
  procs_[proc->pid] = proc;
  return proc;
}

ProcPtr Machine::find(std::int64_t pid) const {
  const auto found = procs_.find(pid);
  return found == procs_.end() ? nullptr : found->second;
}

void Machine::exited(const ProcPtr& proc) {
  if (std::exchange(proc->life->dead, true)) return;
  procs_.erase(proc->pid);
  std::erase_if(locks_, [&](const auto& lock) { return lock.second == proc; });
}

void Machine::kill(const ProcPtr& proc, int signal) {
  if (!proc->is_alive()) return;
  exited(proc);
  if (proc->on_killed) std::exchange(proc->on_killed, nullptr)(signal);
}

void Machine::kill_group(std::int64_t group, int signal) {
  std::vector<ProcPtr> members;
  for (const auto& [pid, proc] : procs_) {
    if (proc->group == group) members.push_back(proc);
  }
  for (const ProcPtr& proc : members) kill(proc, signal);
}

std::size_t Machine::kill_marked(const std::string& mark, const ProcPtr& but) {
  std::vector<ProcPtr> marked;
  for (const auto& [pid, proc] : procs_) {
    if (proc != but && has_mark(*proc, mark)) marked.push_back(proc);
  }
  std::size_t left = 0;
  for (const ProcPtr& proc : marked) {
    if (universe.prng.chance(universe.faults.kill_slow)) {  // stuck in the kernel for now
      ++left;
      universe.after(universe.delay(5000), [this, proc] { kill(proc, SIGKILL); });
    } else {
      kill(proc, SIGKILL);
    }
  }
  return left;
}

ProcessSet Machine::offspring(const Family& family) const {
  ProcessSet living;
  for (const auto& [pid, proc] : procs_) {
    if (pid != family.root && has_mark(*proc, family.mark)) living.insert({pid, proc->started});
  }
  return living;
}

ProcessSet Machine::signal_each(const ProcessSet& processes, int number) {
  ProcessSet reached;
  for (const ProcessBirth& birth : processes) {
    const ProcPtr proc = find(birth.pid);
    if (!proc || proc->started != birth.started) continue;
    reached.insert(birth);
    if (number != 0) kill(proc, number);
  }
  return reached;
}

bool Machine::any_lives(const std::string& mark) const {
  return std::ranges::any_of(procs_,
                             [&](const auto& entry) { return has_mark(*entry.second, mark); });
}

bool Machine::take_lock(const std::string& name, const ProcPtr& by) {
  return locks_.emplace(name, by).second || locks_.at(name) == by;
}

bool Machine::has_locks(const ProcPtr& by) const {
  return std::ranges::any_of(locks_, [&](const auto& lock) { return lock.second == by; });
}

void Machine::reboot() {
  const std::map<std::int64_t, ProcPtr> all = procs_;
  for (const auto& [pid, proc] : all) kill(proc, SIGKILL);
}

Result<std::vector<std::string>> SimFolder::list() {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : *files_) names.push_back(name);
  return names;
}

Result<> SimFolder::append(const std::string& name, std::string_view bytes) {
  if (life_->dead) return fail(Code::unavailable, "its process is dead");
  if (universe_.disk_full_until_ms > universe_.scheduler.now_ms()) {
    return fail(Code::disk_full, "no space left");
  }
  const std::size_t made = draw_cut_ ? draw_cut_(bytes.size()) : bytes.size();
  (*files_)[name] += bytes.substr(0, made);
  if (on_append_) on_append_(name, bytes.substr(0, made));
  if (made < bytes.size()) return fail(Code::unavailable, "its process is dead");
  return {};
}

Result<std::string> SimFolder::read(const std::string& name, std::uint64_t offset,
                                    std::size_t bytes_max) {
  const auto file = files_->find(name);
  if (file == files_->end()) return fail(Code::not_found, "no file " + name);
  if (offset >= file->second.size()) return std::string();
  return file->second.substr(offset, bytes_max);
}

Result<std::uint64_t> SimFolder::size(const std::string& name) {
  const auto file = files_->find(name);
  if (file == files_->end()) return fail(Code::not_found, "no file " + name);
  return file->second.size();
}

Result<> SimFolder::truncate(const std::string& name, std::uint64_t bytes) {
  if (life_->dead) return fail(Code::unavailable, "its process is dead");
  const auto file = files_->find(name);
  if (file == files_->end()) return fail(Code::not_found, "no file " + name);
  file->second.resize(std::min<std::size_t>(bytes, file->second.size()));
  return {};
}

Result<> SimFolder::remove(const std::string& name) {
  if (life_->dead) return fail(Code::unavailable, "its process is dead");
  files_->erase(name);
  return {};
}

}  // namespace perdure::sim
