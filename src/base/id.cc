// Crockford base 32 and the generation of ids; every id is a function of the given time and seed.
#include "base/id.h"

namespace perdure {
namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

constexpr auto digit_values = [] {
  std::array<signed char, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<signed char>(i);
  }
  return values;
}();

int digit_value(char c) { return digit_values[static_cast<unsigned char>(c)]; }

// SplitMix64: spreads a counter over 64 bits. Enough for ids: uniqueness comes from the seed.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

Ulid Ulid::make(Timestamp at, std::uint64_t random_high, std::uint64_t random_low) {
  const auto ms = static_cast<std::uint64_t>(at.ms) & 0xffffffffffffULL;
  return Ulid{(ms << 16) | (random_high & 0xffffULL), random_low};
}

std::string Ulid::text() const {
  std::string out;
  append_to(out);
  return out;
}

void Ulid::append_to(std::string& out) const {
  std::array<char, 26> digits{};
  std::uint64_t hi = high;
  std::uint64_t lo = low;
  for (std::size_t i = digits.size(); i-- > 0;) {
    digits[i] = alphabet[lo & 31U];
    lo = (lo >> 5) | (hi << 59);
    hi >>= 5;
  }
  out.append(digits.data(), digits.size());
}

Result<Ulid> parse_id(IdText id) {
  if (!id.text.starts_with(id.prefix)) {
    const std::string start(id.text.substr(0, 64));
    return fail(Code::invalid_argument,
                "id '" + start + "' does not start with '" + std::string(id.prefix) + "'");
  }
  return Ulid::parse(id.text.substr(id.prefix.size()));
}

Result<Ulid> Ulid::parse(std::string_view text) {
  if (text.size() != 26) {
    return fail(Code::invalid_argument,
                "a ULID has 26 characters, not " + std::to_string(text.size()));
  }
  if (text[0] > '7') return fail(Code::invalid_argument, "a ULID starts with 0 to 7");
  Ulid out;
  for (const char c : text) {
    const int value = digit_value(c);
    if (value < 0) {
      return fail(Code::invalid_argument, "a ULID is lower-case Crockford base 32");
    }
    out.high = (out.high << 5) | (out.low >> 59);
    out.low = (out.low << 5) | static_cast<std::uint64_t>(value);
  }
  return out;
}

Ulid IdSource::next_ulid() {
  count_ += 1;
  const std::uint64_t random_low = mix(seed_ ^ mix(count_));
  return Ulid::make(at_, mix(random_low), random_low);
}

}  // namespace perdure
