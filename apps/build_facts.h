#pragma once

#include <string>

namespace gnomon::apps {

/// How this program was built.
struct BuildFacts {
  std::string version;
  std::string compiler;
  std::string build_type;
  bool with_cuda = false;
  std::string cuda_reason;  ///< why with or without CUDA
  std::string libtorch;     ///< versions at build time
  std::string simgrid;
};

BuildFacts build_facts();

}  // namespace gnomon::apps
