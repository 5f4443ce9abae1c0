#include "graph/metis/metis.h"

#include "base/error.h"

namespace gnomon::graph {

PartOf partition_by_metis(const Graph&, const PartitionRequest&, const base::Progress&) {
  throw base::InputError("method",
                         "this build has no METIS; use \"gnn_aware\", or install libmetis-dev and "
                         "build again");
}

}  // namespace gnomon::graph
