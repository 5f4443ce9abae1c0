#pragma once

#include <string>

namespace gnomon::kernels {

/// Why this machine cannot run an implementation of a contract, as its why_skipped() says; empty when it can.
template <class Implementation>
std::string why_skipped() {
  if constexpr (requires { Implementation::why_skipped(); }) {
    return Implementation::why_skipped();
  }
  return "";
}

}  // namespace gnomon::kernels
