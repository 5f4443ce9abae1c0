#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <source_location>
#include <string>

namespace gnomon::test {

/// The seed of a test's random cases. While it lives, every failure in its thread names it. To repeat a run,
/// set the environment variable GNOMON_TEST_SEED, which replaces every seed:
///
///     GNOMON_TEST_SEED=4711 build/release/tests/test_sim --gtest_filter=Quick.ArithmeticAgreesWithSimGrid
class RandomSeed {
 public:
  /// The same cases in every run.
  explicit RandomSeed(std::uint64_t usual, std::source_location where = std::source_location::current())
      : value_(from_environment_or(usual)),
        trace_(where.file_name(), static_cast<int>(where.line()), text()) {}

  /// Other cases in every run. The seed is printed at once, so that it is known after a crash, too.
  explicit RandomSeed(std::source_location where = std::source_location::current())
      : RandomSeed(std::random_device()(), where) {
    std::cout << text() << std::endl;
  }

  RandomSeed(const RandomSeed&) = delete;
  RandomSeed& operator=(const RandomSeed&) = delete;

  operator std::uint64_t() const { return value_; }  // NOLINT(google-explicit-constructor): it is a number

 private:
  static std::uint64_t from_environment_or(std::uint64_t usual) {
    const char* given = std::getenv("GNOMON_TEST_SEED");
    return given == nullptr ? usual : std::stoull(given);
  }
  std::string text() const {
    const auto seed = std::to_string(value_);
    return "random cases of seed " + seed + "; to repeat them, set GNOMON_TEST_SEED=" + seed;
  }

  std::uint64_t value_;
  testing::ScopedTrace trace_;
};

}  // namespace gnomon::test
