// Encoding and decoding base64, with published examples, and invalid base64.
#include "base/bytes/base64.h"

#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace perdure {
namespace {

TEST(Base64, examples_of_the_standard) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
}

TEST(Base64, refuses_what_is_not_base64) {
  for (const auto* text :
       {"Z", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Z g=", "Zm9v\n"}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

RC_GTEST_PROP(Base64, any_bytes_come_back, (const std::string& bytes)) {
  RC_ASSERT(base64_decode(base64_encode(bytes)).value() == bytes);
}

}  // namespace
}  // namespace perdure
