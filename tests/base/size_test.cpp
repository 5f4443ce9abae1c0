#include "base/size.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace gnomon::base {
namespace {

TEST(Size, UnitsWithoutAnIArePowersOf1000) {
  EXPECT_EQ(parse_size("x", "4096"), 4096);
  EXPECT_EQ(parse_size("x", "0"), 0);
  EXPECT_EQ(parse_size("x", "12B"), 12);
  EXPECT_EQ(parse_size("x", "1kB"), 1000);
  EXPECT_EQ(parse_size("x", "8GB"), 8'000'000'000);
  EXPECT_EQ(parse_size("x", "8 gb"), 8'000'000'000);
  EXPECT_EQ(parse_size("x", "1.5M"), 1'500'000);
  EXPECT_EQ(parse_size("x", "2TB"), 2'000'000'000'000);
}

TEST(Size, UnitsWithAnIArePowersOf1024) {
  EXPECT_EQ(parse_size("x", "1KiB"), 1024);
  EXPECT_EQ(parse_size("x", "8GiB"), std::int64_t{8} << 30);
  EXPECT_EQ(parse_size("x", "0.5 MiB"), 1 << 19);
  EXPECT_EQ(parse_size("x", "1Ti"), std::int64_t{1} << 40);
}

TEST(Size, OthersAreRefusedWithTheUnits) {
  for (const char* text :
       {"", "GB", "4XB", "4GBs", "4kiloB", "i", "4i", "1e30", "-1", "-1GB", "nan", "4 G i B x"}) {
    try {
      parse_size("--device-memory", text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.substr(0, 16), "--device-memory:") << message;
      EXPECT_NE(message.find("; use "), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace gnomon::base
