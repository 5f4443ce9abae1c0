#include "graph/workers.h"

#include "base/usable.h"

namespace gnomon::graph {

Workers::Workers(int threads) : team_(threads > 0 ? threads : base::usable_cores()) {}

}  // namespace gnomon::graph
