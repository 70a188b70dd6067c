#include "env/posix/confine/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perdure {
namespace {

// After a kill: how long to wait for the group's next change, and for how many.
constexpr int group_change_ms = 500;
constexpr int group_changes_max = 4;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return parts;
}

struct CgroupMount {
  std::string_view root;   // the group that is mounted
  std::string_view point;  // where
  std::string_view type;
  std::string_view options;
};

// "ID PARENT DEVICE ROOT POINT OPTIONS [TAGS…] - TYPE SOURCE SUPER_OPTIONS"
std::optional<CgroupMount> parse_mount(std::string_view line) {
  const auto fields = split(line, ' ');
  const auto dash = std::ranges::find(fields, "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return std::nullopt;
  return CgroupMount{fields[3], fields[4], dash[1], dash[3]};
}

// A membership is relative to the root of the hierarchy; a container sees only a part of that.
std::string place_below(const CgroupMount& mount, std::string_view membership) {
  std::string place(mount.point);
  if (mount.root != "/") {
    if (!membership.starts_with(mount.root)) return place;
    membership.remove_prefix(mount.root.size());
  }
  if (membership != "/") place += membership;
  return place;
}

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::ranges::find(words, word) != words.end();
}

Result<> write_text(const std::string& path, std::string_view text) {
  const Fd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return system_failure("open " + path);
  if (::write(file.get(), text.data(), text.size()) < 0) return system_failure("write " + path);
  return {};
}

// The number after a word that begins one of the lines.
std::optional<std::uint64_t> counter_in(std::string_view text, std::string_view word) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.size() <= word.size() || !line.starts_with(word) || line[word.size()] != ' ') continue;
    std::uint64_t number = 0;
    const char* begin = line.data() + word.size() + 1;
    if (std::from_chars(begin, line.data() + line.size(), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

// The paths of an execution's groups, if it has any.
std::vector<std::string> groups_of(std::string_view exec) {
  if (exec.empty() || exec.contains('/') || exec.front() == '.') return {};
  const std::string own = own_cgroups().unified;
  if (own.empty()) return {};
  std::vector<std::string> groups;
  for (const std::string& base : {own, own.substr(0, own.rfind('/'))}) {
    for (const std::string_view prefix : {limit_group_prefix, session_group_prefix}) {
      groups.push_back(base + "/" + std::string(prefix) + std::string(exec));
    }
  }
  return groups;
}

// Waits until the killed processes have ended: the kernel reports each change.
bool becomes_empty(const std::string& group) {
  const Fd events(open((group + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
  pollfd changed{.fd = events.get(), .events = POLLPRI};
  char text[256];
  for (int changes = 0; changes < group_changes_max; ++changes) {
    const ssize_t got = pread(events.get(), text, sizeof text, 0);
    if (got <= 0) return false;
    if (counter_in({text, static_cast<std::size_t>(got)}, "populated") == 0) return true;
    if (poll(&changed, 1, group_change_ms) <= 0) return false;
  }
  return false;
}

}  // namespace

CgroupPlaces find_cgroups(const CgroupTexts& texts) {
  std::string_view unified_member;
  std::string_view memory_member;
  for (const std::string_view line : split(texts.membership, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) unified_member = line.substr(second + 1);
    if (has_word(controllers, "memory")) memory_member = line.substr(second + 1);
  }
  CgroupPlaces places;
  for (const std::string_view line : split(texts.mounts, '\n')) {
    const auto mount = parse_mount(line);
    if (!mount) continue;
    if (mount->type == "cgroup2" && places.unified.empty() && !unified_member.empty()) {
      places.unified = place_below(*mount, unified_member);
    }
    if (mount->type == "cgroup" && has_word(mount->options, "memory") && places.memory_v1.empty() &&
        !memory_member.empty()) {
      places.memory_v1 = place_below(*mount, memory_member);
    }
  }
  return places;
}

CgroupPlaces own_cgroups() {
  const auto mounts = read_small_file("/proc/self/mountinfo", 1UL << 20);
  const auto membership = read_small_file("/proc/self/cgroup");
  if (!mounts || !membership) return {};
  return find_cgroups({.mounts = *mounts, .membership = *membership});
}

std::string own_cgroup_v1(std::string_view controller) {
  const auto mounts = read_small_file("/proc/self/mountinfo", 1UL << 20);
  const auto membership = read_small_file("/proc/self/cgroup");
  if (!mounts || !membership) return {};
  std::string_view member;
  for (const std::string_view line : split(*membership, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    if (has_word(line.substr(first + 1, second - first - 1), controller)) {
      member = line.substr(second + 1);
    }
  }
  for (const std::string_view line : split(*mounts, '\n')) {
    const auto mount = parse_mount(line);
    if (!mount || mount->type != "cgroup" || !has_word(mount->options, controller)) continue;
    return member.empty() ? "" : place_below(*mount, member);
  }
  return {};
}

std::optional<std::uint64_t> counter_of(const std::string& path, std::string_view word) {
  const auto text = read_small_file(path);
  if (!text) return std::nullopt;
  return counter_in(*text, word);
}

OomCounter OomCounter::find() {
  const CgroupPlaces places = own_cgroups();
  const OomCounter unified(places.unified + "/memory.events");
  if (!places.unified.empty() && unified.read()) return unified;
  const OomCounter memory_v1(places.memory_v1 + "/memory.oom_control");
  if (!places.memory_v1.empty() && memory_v1.read()) return memory_v1;
  return OomCounter("/proc/vmstat", Scope::machine);
}

std::optional<std::uint64_t> OomCounter::read() const { return counter_of(path_, "oom_kill"); }

void kill_session_groups(std::string_view exec) {
  for (const std::string& group : groups_of(exec)) {
    // If this fails, the scan that follows finds what is left.
    (void)write_text(group + "/cgroup.kill", "1");
  }
}

void remove_session_groups(std::string_view exec) {
  for (const std::string& group : groups_of(exec)) {
    if (rmdir(group.c_str()) != 0 && errno == EBUSY && becomes_empty(group)) rmdir(group.c_str());
  }
}

bool names_session_group(std::string_view membership) {
  for (const std::string_view line : split(membership, '\n')) {
    for (const std::string_view part : split(line, '/')) {
      if (part.starts_with(limit_group_prefix) || part.starts_with(session_group_prefix)) {
        return true;
      }
    }
  }
  return false;
}

Result<Cgroup> Cgroup::create(const std::string& name) {
  if (name.empty() || name.front() == '.' || name.find('/') != name.npos) {
    return fail(Code::invalid_argument, "not a group's name: '" + name + "'");
  }
  const std::string own = own_cgroups().unified;
  if (own.empty()) return fail(Code::unavailable, "no unified control groups on this machine");
  const std::string path = own + "/" + name;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(Code::unavailable, system_error(errno, "make group " + path).message());
  }
  Fd parent(open(own.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  Fd members(open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  Fd kill(open((path + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  if (!parent || !members || !kill) {
    const std::string reason = system_error(errno, "use group " + path).message();
    rmdir(path.c_str());
    return fail(Code::unavailable, reason);
  }
  return Cgroup(path, std::move(parent), std::move(members), std::move(kill));
}

Result<> Cgroup::kill() {
  if (::write(kill_.get(), "1", 1) < 0) return system_failure("end the group " + path_);
  return {};
}

Result<bool> Cgroup::is_empty() const {
  const std::string events = TRY(read_small_file(path_ + "/cgroup.events"));
  const auto populated = counter_in(events, "populated");
  if (!populated) return fail(Code::damaged, path_ + " does not tell whether it is empty");
  return *populated == 0;
}

Result<> Cgroup::remove() {
  const std::string name = path_.substr(path_.rfind('/') + 1);
  if (unlinkat(parent_.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) {
    return system_failure("remove group " + path_);
  }
  return {};
}

}  // namespace perdure
