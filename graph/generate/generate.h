#pragma once

#include "graph/generate/planted_partition.h"
#include "graph/generate/random_data.h"
#include "graph/generate/rmat.h"
#include "graph/generate/small_graphs.h"

/// Synthetic graphs. Equal options, the seed included, give equal bytes on every machine.
namespace gnomon::graph {}
