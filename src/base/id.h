// Strong ids: a prefix and a ULID, 128 bits in memory, text at the edges. Different kinds of id are
// different types, ids sort by creation time, and are made only from given time and randomness.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace perdure {

// 128 bits: 48 of milliseconds since 1970, 80 random. Text is 26 lower-case Crockford characters.
struct Ulid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const Ulid&) const = default;
  bool is_null() const { return high == 0 && low == 0; }

  static Ulid make(Timestamp at, std::uint64_t random_high, std::uint64_t random_low);
  static Result<Ulid> parse(std::string_view text);
  std::string text() const;
  void append_to(std::string& out) const;  // appends its text
};

// The ULID of an id with this prefix. Anything but exactly the text of such an id is
// invalid_argument.
struct IdText {
  std::string_view prefix;
  std::string_view text;
};
Result<Ulid> parse_id(IdText id);

template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(Ulid ulid) : ulid_(ulid) {}

  static constexpr std::string_view prefix = Tag::prefix;

  // Accepts the whole text, including the prefix; anything else is invalid_argument.
  static Result<Id> parse(std::string_view text) {
    return Id(TRY(parse_id({.prefix = prefix, .text = text})));
  }
  std::string text() const {
    std::string out;
    append_to(out);
    return out;
  }
  void append_to(std::string& out) const {
    out += prefix;
    ulid_.append_to(out);
  }
  Ulid ulid() const { return ulid_; }
  bool is_null() const { return ulid_.is_null(); }
  explicit operator bool() const { return !is_null(); }

  auto operator<=>(const Id&) const = default;

 private:
  Ulid ulid_;
};

struct TaskTag { static constexpr std::string_view prefix = "task_"; };
struct SessionTag { static constexpr std::string_view prefix = "sess_"; };
struct RunTag { static constexpr std::string_view prefix = "run_"; };
struct ExecTag { static constexpr std::string_view prefix = "exec_"; };
struct BootTag { static constexpr std::string_view prefix = "boot_"; };
struct MessageTag { static constexpr std::string_view prefix = "msg_"; };
struct PermissionTag { static constexpr std::string_view prefix = "perm_"; };
struct WaitTokenTag { static constexpr std::string_view prefix = "wt_"; };

using TaskId = Id<TaskTag>;
using SessionId = Id<SessionTag>;
using RunId = Id<RunTag>;
using ExecId = Id<ExecTag>;
using BootId = Id<BootTag>;
using MessageId = Id<MessageTag>;
using PermissionId = Id<PermissionTag>;
using WaitTokenId = Id<WaitTokenTag>;

// Makes ids from one seed and one time: the same source gives the same ids, in order. Inputs carry
// one, so that decide() needs no randomness of its own.
class IdSource {
 public:
  IdSource() = default;
  IdSource(Timestamp at, std::uint64_t seed) : at_(at), seed_(seed) {}

  template <class SomeId>
  SomeId next() {
    const Ulid ulid = next_ulid();
    return SomeId(ulid);
  }

 private:
  Ulid next_ulid();

  Timestamp at_;
  std::uint64_t seed_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace perdure
