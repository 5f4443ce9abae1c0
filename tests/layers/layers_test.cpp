#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "include_rules.h"

namespace gnomon::layers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IncludeRules, EarlierLayersAndOnesOwnAreAllowed) {
  EXPECT_THAT(broken_rules("sim/costs/model.cpp",
                           "#include \"sim/hardware/hardware.h\"\n#include \"profiles/profile.h\"\n"
                           "#include <vector>\n"),
              IsEmpty());
  EXPECT_THAT(broken_rules("sim/simgrid/hardware.cpp", "#include <simgrid/s4u.hpp>\n"), IsEmpty());
  EXPECT_THAT(
      broken_rules("profiles/measure/bench.cpp", "#include <ATen/ATen.h>\n#include \"runtime/trainer.h\"\n"),
      IsEmpty());
  EXPECT_THAT(
      broken_rules("tests/sim/costs/model_test.cpp", "#include \"apps/table.h\"\n#include <torch/types.h>\n"),
      IsEmpty());
  EXPECT_THAT(broken_rules("kernels/cuda/draws.cu", "#include <cuda_runtime.h>\n#include <cub/cub.cuh>\n"),
              IsEmpty());
}

TEST(IncludeRules, PredictionNeedsNoLibTorch) {
  EXPECT_THAT(broken_rules("tuner/tune.cpp", "#include \"runtime/stretch.h\"\n"),
              ElementsAre("tuner/tune.cpp:1: tuner may not include runtime/stretch.h: it must link without "
                          "LibTorch"));
  EXPECT_THAT(broken_rules("sim/simulator.cpp", "#include \"profiles/measure/epoch.h\"\n").size(), 1U);
  EXPECT_THAT(broken_rules("tuner/explore/patch.cpp", "#include \"tuner/run/training.h\"\n").size(), 1U);
  EXPECT_THAT(broken_rules("reproduce/reproduce.cpp", "#include \"reproduce/measure/trainings.h\"\n").size(),
              1U);
  EXPECT_THAT(broken_rules("tuner/run/training.cpp", "#include \"runtime/trainer.h\"\n"), IsEmpty());
  EXPECT_THAT(broken_rules("reproduce/measure/a.cpp", "#include \"runtime/trainer.h\"\n"), IsEmpty());
  EXPECT_THAT(broken_rules("apps/text/training_text.h", "#include \"tuner/run/training.h\"\n"), IsEmpty());
}

TEST(IncludeRules, LaterLayersAreNot) {
  EXPECT_THAT(broken_rules("plan/plan.cpp", "#include <string>\n#include \"kernels/block.h\"\n"),
              ElementsAre("plan/plan.cpp:2: plan may not include kernels/block.h: kernels is a later layer"));
  EXPECT_THAT(broken_rules("base/a.h", "  #  include  \"graph/graph.h\"  // why\n").size(), 1U);
  EXPECT_THAT(broken_rules("runtime/a.cpp", "#include <sim/prediction.h>\n").size(), 1U);
  EXPECT_THAT(broken_rules("tuner/a.cpp", "#include \"tests/virtual_machine.h\"\n").size(), 1U);
  EXPECT_THAT(broken_rules("plan/a.cpp", "#include \"../sim/prediction.h\"\n").size(), 1U);
}

TEST(IncludeRules, GuestsHaveTheirPlaces) {
  EXPECT_THAT(broken_rules("kernels/cpu/sample/sampler.cpp", "#include <torch/types.h>\n"),
              ElementsAre("kernels/cpu/sample/sampler.cpp:1: LibTorch (torch/types.h) has no place here"));
  EXPECT_THAT(broken_rules("tests/nn/a_test.cpp", "#include <torch/torch.h>\n").size(), 1U);
  EXPECT_THAT(broken_rules("profiles/profile.h", "#include <ATen/ATen.h>\n").size(), 1U);
  EXPECT_THAT(broken_rules("apps/table.cpp", "#include <c10/core/Device.h>\n").size(), 1U);
  EXPECT_THAT(broken_rules("tuner/tuner.cpp", "#include <simgrid/s4u.hpp>\n").size(), 1U);
  EXPECT_THAT(broken_rules("sim/quick.cpp", "#include <simgrid/s4u.hpp>\n").size(), 1U);
  EXPECT_THAT(broken_rules("sim/prediction.h", "#include \"simgrid/s4u.hpp\"\n").size(), 1U);
  EXPECT_THAT(broken_rules("runtime/trainer.h", "#include <cuda_runtime.h>\n").size(), 1U);
  EXPECT_THAT(broken_rules("runtime/trainer.cpp", "#include <cub/cub.cuh>\n").size(), 1U);
}

/// All C++ and CUDA sources of the project, relative to its root.
std::vector<std::filesystem::path> sources() {
  const std::filesystem::path root = SOURCE_DIR;
  const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh"};
  std::vector<std::filesystem::path> found;
  for (auto entry = std::filesystem::recursive_directory_iterator(root); entry != end(entry); ++entry) {
    const auto name = entry->path().filename().string();
    if (entry->is_directory() && (name == "build" || name == "run" || name.starts_with('.'))) {
      entry.disable_recursion_pending();
    } else if (kinds.contains(entry->path().extension().string())) {
      found.push_back(std::filesystem::relative(entry->path(), root));
    }
  }
  return found;
}

TEST(Layers, OfThisProjectHold) {
  const auto files = sources();
  ASSERT_GT(files.size(), 30U) << "looked for sources in the wrong place: " << SOURCE_DIR;
  for (const auto& file : files) {
    std::ifstream in(std::filesystem::path(SOURCE_DIR) / file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const auto& fault : broken_rules(file.generic_string(), text)) {
      ADD_FAILURE() << fault;
    }
  }
}

}  // namespace
}  // namespace gnomon::layers
