// Shared by the benchmarks: a clock, medians, a scratch folder, the thread that runs a store.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include "base/check.h"
#include "store/sqlite/sqlite_store.h"

namespace perdure::bench {

namespace fs = std::filesystem;

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The value below which the fraction `part` of the values lies. Sorts a copy.
inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::size_t>(part * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

struct Arguments {
  bool quick = false;
  fs::path dir = fs::temp_directory_path();

  static Arguments parse(int argc, char** argv) {
    Arguments out;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word(argv[i]);
      if (word == "--quick") {
        out.quick = true;
      } else if (word == "--dir" && i + 1 < argc) {
        out.dir = argv[++i];
      } else {
        std::fprintf(stderr, "usage: %s [--quick] [--dir FOLDER]\n", argv[0]);
        std::exit(2);
      }
    }
    return out;
  }
};

// A folder that is deleted with its owner.
class Scratch {
 public:
  explicit Scratch(const fs::path& base) {
    std::string pattern = (base / "perdure_bench_XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { fs::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// Runs a store like main does.
class WriterThread {
 public:
  explicit WriterThread(SqliteStore& store)
      : store_(store), thread_([this](const std::stop_token& stop) { run(stop); }) {}
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  ~WriterThread() {
    thread_.request_stop();
    store_.wake();
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (store_.wait_for_work(std::chrono::milliseconds(200))) {
        store_.step();
      } else {
        store_.idle_step();
      }
    }
  }

  SqliteStore& store_;
  std::jthread thread_;
};

inline std::unique_ptr<SqliteStore> open_store(SqliteOptions options) {
  options.on_fatal = [](const Error& error) { check_failed("store", 0, error.message().c_str()); };
  auto store = SqliteStore::open(std::move(options));
  if (!store) check_failed("open", 0, store.error().message().c_str());
  return *std::move(store);
}

inline void run_idle(SqliteStore& store) {
  while (store.idle_step()) {}
}

}  // namespace perdure::bench
