#include "env/posix/process/proc.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace perdure {
namespace {

std::string proc_path(std::int64_t pid, std::string_view file) {
  std::string path = "/proc/" + std::to_string(pid) + "/";
  path += file;
  return path;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// The numeric names in a folder of /proc: processes, or the threads of one.
std::vector<std::int64_t> numbers_in(const std::string& path) {
  std::vector<std::int64_t> numbers;
  const std::unique_ptr<DIR, CloseFolder> folder(opendir(path.c_str()));
  if (!folder) return numbers;
  while (const dirent* entry = readdir(folder.get())) {
    if (const auto number = parse_number<std::int64_t>(entry->d_name)) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// Searches for one whole entry in a stream of NUL-terminated entries. Its memory depends on the
// mark's length, not on the size of the environment.
class MarkSearch {
 public:
  explicit MarkSearch(std::string_view mark) : mark_(mark) {}

  bool feed(std::string_view chunk) {
    for (const char c : chunk) {
      if (c == '\0') {
        if (matched_ == mark_.size() && !failed_) return true;
        matched_ = 0;
        failed_ = false;
      } else if (!failed_) {
        failed_ = matched_ == mark_.size() || mark_[matched_] != c;
        ++matched_;
      }
    }
    return false;
  }
  // The last entry may lack its NUL if the program overwrote its environment.
  bool finish() const { return matched_ == mark_.size() && !failed_; }

 private:
  std::string_view mark_;
  std::size_t matched_ = 0;
  bool failed_ = false;
};

bool environ_file_has(const std::string& path, std::string_view mark) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  MarkSearch search(mark);
  std::array<char, 4096> chunk;
  while (true) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return search.finish();
    if (search.feed({chunk.data(), static_cast<std::size_t>(got)})) return true;
  }
}

}  // namespace

Result<ProcStat> parse_proc_stat(std::string_view text) {
  // "PID (name) STATE PPID PGRP …": the name may contain anything, even parentheses and spaces.
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(") ");
  if (open == text.npos || close == text.npos || close < open) {
    return fail(Code::damaged, "a stat line without a name");
  }
  std::array<std::string_view, 20> fields;  // from the state (field 3) to the start time (22)
  std::string_view rest = text.substr(close + 2);
  for (std::string_view& field : fields) {
    field = rest.substr(0, rest.find_first_of(" \n"));
    rest.remove_prefix(std::min(rest.size(), field.size() + 1));
  }
  const auto pid = parse_number<std::int64_t>(text.substr(0, open));
  const auto parent = parse_number<std::int64_t>(fields[1]);
  const auto group = parse_number<std::int64_t>(fields[2]);
  const auto threads = parse_number<std::int64_t>(fields[17]);
  const auto started = parse_number<std::uint64_t>(fields[19]);
  if (!pid || fields[0].size() != 1 || !parent || !group || !threads || !started) {
    return fail(Code::damaged, "a stat line with unknown fields");
  }
  return ProcStat{*pid, fields[0][0], *parent, *group, *threads, *started};
}

Result<ProcStat> read_proc_stat(std::int64_t pid) {
  return parse_proc_stat(TRY(read_small_file(proc_path(pid, "stat"))));
}

std::vector<std::int64_t> process_numbers() { return numbers_in("/proc"); }

std::vector<ProcStat> all_processes() {
  std::vector<ProcStat> processes;
  for (const std::int64_t pid : process_numbers()) {
    if (auto process = read_proc_stat(pid)) processes.push_back(*process);
  }
  return processes;
}

bool environment_has(const ProcStat& process, std::string_view mark) {
  if (process.state != 'Z') return environ_file_has(proc_path(process.pid, "environ"), mark);
  // The first thread has exited and no longer has the memory; the others still have it.
  const std::string tasks = proc_path(process.pid, "task");
  for (const std::int64_t thread : numbers_in(tasks)) {
    if (environ_file_has(tasks + "/" + std::to_string(thread) + "/environ", mark)) return true;
  }
  return false;
}

bool environment_names(const ProcStat& process, std::string_view name) {
  constexpr std::size_t bytes_max = 4UL << 20;
  const Result<std::string> text = read_small_file(proc_path(process.pid, "environ"), bytes_max);
  if (!text) return false;
  const std::string entry = std::string(1, '\0') + std::string(name) + "=";
  return text->starts_with(std::string_view(entry).substr(1)) || text->contains(entry);
}

Result<Fd> open_pidfd(std::int64_t pid) {
  Fd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // EINVAL: the number belongs to a thread that is not its process's first, so it names no process.
  if (!pidfd && errno == EINVAL) return fail(Code::not_found, "no such process");
  if (!pidfd) return system_failure("open process " + std::to_string(pid));
  return pidfd;
}

Result<Fd> open_pidfd(const ProcStat& process) {
  Fd pidfd = TRY(open_pidfd(process.pid));
  // Read after opening: if the pid was reused before, the start time shows it.
  const ProcStat now = TRY(read_proc_stat(process.pid));
  if (now.started != process.started) {
    return fail(Code::not_found, "the process number has another owner");
  }
  return pidfd;
}

Result<> send_signal(const Fd& pidfd, int number) {
  if (syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0) != 0) {
    return system_failure("send a signal");
  }
  return {};
}

}  // namespace perdure
