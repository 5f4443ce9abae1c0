#pragma once

#include <vector>

#include "base/document.h"
#include "plan/plan.h"

namespace gnomon::plan {

/// What plans have in common whose stages take longer or shorter than predicted alike: where mini-batches are
/// prepared, and which threads share cores.
struct Regime {
  Route route = Route::cpu;
  bool is_crowded = false;         ///< threads_without_core() > 0
  bool trains_on_threads = false;  ///< several threads of the host train

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("route", self.route);
    f.required("is_crowded", self.is_crowded);
    f.required("trains_on_threads", self.trains_on_threads);
  }
  bool operator==(const Regime&) const = default;
};

/// The number of threads that prepare and train on the host beyond its cores. `plan` is resolved.
int threads_without_core(const Plan& plan, const Cores& cores);

/// The regime of a resolved plan.
Regime regime_of(const Plan& plan, const Cores& cores);

/// All regimes.
std::vector<Regime> all_regimes();

}  // namespace gnomon::plan
