#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/regime.h"
#include "profiles/corrections.h"

namespace gnomon::profiles {

/// What a regime's stages take beyond their prediction.
struct RegimeCorrections {
  plan::Regime regime;
  Corrections stages;  ///< standard errors: of stages in runs that were held out

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("regime", self.regime);
    f.required("stages", self.stages);
  }
};

/// How well a stage was predicted in runs that were held out: root mean square errors of the time's
/// logarithm, before and after correction.
struct HeldOutStage {
  std::string stage;  ///< "train"
  std::int64_t runs = 0;
  double error_before = 0;
  double error_after = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("stage", self.stage);
    f.required("runs", self.runs, base::non_negative);
    f.required("error_before", self.error_before, base::non_negative);
    f.required("error_after", self.error_after, base::non_negative);
  }
};

/// Corrections that were learned from earlier runs on this machine, of other jobs too (tuner/history/). They
/// apply before corrections from runs of the same job. Only stages whose correction cross-validation found to
/// help have one.
struct LearnedCorrections {
  std::vector<HeldOutStage> stages;
  std::vector<RegimeCorrections> regimes;

  /// Of a plan's regime; null without runs in that regime.
  const Corrections* of(const plan::Regime& regime) const {
    for (const auto& known : regimes) {
      if (known.regime == regime) {
        return &known.stages;
      }
    }
    return nullptr;
  }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("stages", self.stages);
    f.required("regimes", self.regimes);
  }
};

}  // namespace gnomon::profiles
