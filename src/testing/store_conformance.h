// The suite that every Store engine must pass: one test for each sentence of store/store.h. An
// engine's test file gives a factory to register_store_conformance() and that is all.
#pragma once

#include <functional>
#include <memory>

#include "store/store.h"

namespace perdure {

// An engine, open on a disk of its own that starts empty. The tests are its only user, on one
// thread.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;

  // The store that is open now; every reopening gives another.
  virtual Store& store() = 0;
  // Runs the writer until it has nothing to do; all Dones have run, and search has caught up.
  virtual void pump() = 0;
  // Closes in good order and opens again.
  virtual void reopen() = 0;
  // Abandons the store without closing it, as kill -9 or a power cut does, and opens again.
  virtual void crash_reopen() = 0;
};

using StoreFactory = std::function<std::unique_ptr<StoreUnderTest>()>;

// Registers the suite with GoogleTest as "<engine>StoreConformance". Each test gets a new store.
// Called from a static initialiser: `const bool registered = register_store_conformance(…);`
bool register_store_conformance(const char* engine, StoreFactory factory);

}  // namespace perdure
