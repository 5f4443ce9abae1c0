#include "reproduce/pytorch_direct.h"

#include "reproduce/paper.h"

namespace gnomon::reproduce {

Report reproduce_pytorch_direct(sim::Simulator&, const base::Progress&) {
  const Paper paper = find_paper("pytorch-direct");
  return {paper.name,
          paper.source,
          "figure8",
          {},
          {},
          {{"tables I to III", "all", "properties of machines and data sets, not times"},
           {"figures 8, 9", "all", "shares and ratios; gnomon reproduce pytorch-direct F8 F9 draws them"}}};
}

}  // namespace gnomon::reproduce
