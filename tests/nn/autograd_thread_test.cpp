#include "nn/autograd_thread.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace gnomon::nn {
namespace {

TEST(AutogradThread, IsRunOnOnceWhateverTheModeIs) {
  int calls = 0;
  run_on_autograd_thread(at::kCPU, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
  const at::NoGradGuard no_gradients;
  run_on_autograd_thread(at::kCPU, [&] { ++calls; });
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(at::GradMode::is_enabled()) << "the caller's mode is restored";
}

TEST(AutogradThread, RethrowsWhatIsThrown) {
  EXPECT_THROW(run_on_autograd_thread(at::kCPU, [] { throw std::runtime_error("no context"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace gnomon::nn
