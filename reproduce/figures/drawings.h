#pragma once

#include <string>
#include <vector>

#include "base/progress.h"
#include "reproduce/figures/chart.h"
#include "reproduce/paper.h"
#include "sim/simulator.h"

/// Panels that are no exploration: formulas over a paper's numbers, and epochs of profiles that have no name.
namespace gnomon::reproduce {

struct DrawingContext {
  const Paper& paper;
  sim::Simulator& simulator;
  const base::Progress& progress;
};

/// Returns the categories and series of the drawing of that name, which a document gives in "draw". Throws
/// InputError if there is none.
Chart draw(const std::string& name, const DrawingContext& context);

/// MorphGL. Table 3: features of two bytes a value, and lists of 64-bit ids and row pointers, in GiB.
Chart draw_morphgl_sizes(const DrawingContext& context);
/// Table 4: the epochs of one machine, the baselines' as they are printed.
Chart draw_morphgl_epochs(const DrawingContext& context, const std::string& machine);
/// Table 6: the dispatcher's rounds in each cell of Table 4, and the CPU's share of the batches.
Chart draw_morphgl_rounds(const DrawingContext& context);
Chart draw_morphgl_cpu_shares(const DrawingContext& context);
/// Table 7: epochs with 12, 16 and 32 GB of device memory on machine D.
Chart draw_morphgl_device_memory(const DrawingContext& context);
/// Table 8: the profiler's batches of each stage, one stage after another, and the epochs that follow.
Chart draw_morphgl_preprocessing(const DrawingContext& context);
/// Figure 9: bytes of the GPU's buffer.
Chart draw_morphgl_buffer(const DrawingContext& context);

/// NeutronOrch. Table 3: epochs of three stages, one after another and pipelined.
Chart draw_neutronorch_pipelining(const DrawingContext& context);
/// Figure 2: Reddit's epoch with sampling and gathering on CPU or GPU, one step after another as in Table 2.
/// A GPU that gathers reads rows without their being collected, and is busy meanwhile.
Chart draw_neutronorch_placements(const DrawingContext& context);
Chart draw_neutronorch_placement_epochs(const DrawingContext& context);
/// Table 6: a data set's epochs with 3, 4 and 5 layers, the other systems' as they are printed; and the means
/// of these over NeutronOrch's.
Chart draw_neutronorch_depth(const DrawingContext& context, const std::string& dataset);
Chart draw_neutronorch_depth_means(const DrawingContext& context);

/// Hanoi. Table 4.4: sizes of the data sets; Table 4.3: edges of a vertex in the resident part.
Chart draw_hanoi_sizes(const DrawingContext& context);
Chart draw_hanoi_degrees(const DrawingContext& context);

/// PyTorch-Direct. Figure 8: zero-copy reads of rows of 1,024 to 1,044 bytes.
Chart draw_zero_copy(const DrawingContext& context);

/// GNNLab. Figure 11: what epochs share of a GPU's memory.
Chart draw_gnnlab_memory(const DrawingContext& context);

/// DUCATI. Figure 13: what does not grow with the rows' width, and what does; Figure 18: an iteration against
/// the size of the feature cache.
Chart draw_ducati_shares(const DrawingContext& context);
Chart draw_ducati_feature_cache(const DrawingContext& context);

}  // namespace gnomon::reproduce
