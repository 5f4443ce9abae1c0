#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <mutex>

#include "hwy/targets.h"

namespace gnomon::kernels {

/// Which of Highway's targets (HWY_AVX2, …) the kernels of this process are restricted to.
class InstructionSet {
 public:
  static InstructionSet& of_process() {
    static InstructionSet set;
    return set;
  }

  /// Restricts the kernels to a target, or leaves them the machine's best if the machine lacks it; returns
  /// whether the machine has it.
  bool choose(std::int64_t target) {
    const std::lock_guard lock(mutex_);
    if (chosen_ != target) {
      restrict_to(0);
      has_ = (hwy::SupportedTargets() & target) != 0;
      if (has_) {
        restrict_to(target);
      }
      chosen_ = target;
    }
    return has_;
  }

  void reset() {
    const std::lock_guard lock(mutex_);
    restrict_to(0);
    chosen_ = 0;
  }

 private:
  /// Lifts the restriction after the suite, so that the suites after it compute as they do alone.
  struct Reset : testing::EmptyTestEventListener {
    void OnTestSuiteEnd(const testing::TestSuite& /*suite*/) override { of_process().reset(); }
  };

  InstructionSet() { testing::UnitTest::GetInstance()->listeners().Append(new Reset); }  // gtest owns it

  static void restrict_to(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }

  std::mutex mutex_;
  std::int64_t chosen_ = 0;
  bool has_ = false;
};

/// Makes the kernels of this process use one of Highway's targets, or the machine's best if the machine lacks
/// it, until the end of the test suite; returns whether the machine has it. Not while others compute.
inline bool choose_instruction_set(std::int64_t target) {
  return InstructionSet::of_process().choose(target);
}

}  // namespace gnomon::kernels
