// The suite that every Store engine must pass: one test for each sentence of store/store.h. An
// engine's test file only passes a factory to register_store_conformance().
#pragma once

#include <functional>
#include <memory>

#include "store/store.h"

namespace perdure {

// An engine, open on its own disk that starts empty. Only the tests use it, on one thread.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;

  // The currently open store; every reopening gives another.
  virtual Store& store() = 0;
  // Runs the writer until it is idle: all Dones have run, and search is up to date.
  virtual void pump() = 0;
  // Closes in order and opens again.
  virtual void reopen() = 0;
  // Abandons the store without closing it, as by kill -9 or a power cut, and opens again.
  virtual void crash_reopen() = 0;
};

using StoreFactory = std::function<std::unique_ptr<StoreUnderTest>()>;

// Registers the suite with GoogleTest as "<engine>StoreConformance". Each test gets a new store.
// Called from a static initialiser: `const bool registered = register_store_conformance(…);`
bool register_store_conformance(const char* engine, StoreFactory factory);

}  // namespace perdure
