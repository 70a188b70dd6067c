// Measurements for the load program: quantiles of times, a process's memory and CPU, and raw
// baselines measured during the load, since bare figures from a shared machine mean little.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace perdure::load {

double wall_ms();
double steady_ms();

// Times in milliseconds.
class Times {
 public:
  void add(double ms) { all_.push_back(ms); }
  void add(const Times& other) { all_.insert(all_.end(), other.all_.begin(), other.all_.end()); }
  std::size_t count() const { return all_.size(); }
  // The quantile for this share; 0 if there are no times.
  double at(double share) const;
  // "p50 1.2  p99 3.4  p99.9 5.6 ms (1200)"
  std::string text() const;

 private:
  std::vector<double> all_;
};

struct Usage {
  double cpu_s = 0;  // of all threads, user and system
  double resident_mib = 0;
  double anonymous_mib = 0;  // the part not backed by a file
};
Usage usage_of(pid_t process);

// Ten times per second, on separate threads: an append of 4 KiB with fdatasync, and an echo of 300
// bytes over loopback TCP. `folder` selects the disk.
class Baselines {
 public:
  explicit Baselines(std::string folder);
  ~Baselines();
  Baselines(const Baselines&) = delete;
  Baselines& operator=(const Baselines&) = delete;

  struct Taken {
    Times sync;
    Times echo;
  };
  // Ends the threads. Call once.
  Taken take();

 private:
  void run();

  std::string folder_;
  Taken taken_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure::load
