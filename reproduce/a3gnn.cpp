#include "reproduce/a3gnn.h"

#include "reproduce/paper.h"

namespace gnomon::reproduce {

Report reproduce_a3gnn(sim::Simulator&, const base::Progress&) {
  const Paper paper = find_paper("a3gnn");
  return {paper.name,
          paper.source,
          "tableII",
          {},
          {},
          {{"tableII", "throughput of Ours(T*) and Ours(M*)",
            "PyG's and Quiver's columns are whole epochs: neither the stage times that the modes divide "
            "(sampling, batch generation, training) nor the settings that the search chose are printed"},
           {"tableII", "peak memory, accuracy", "not times; memory is that of settings that are not printed"},
           {"tableIII", "all", "scores of surrogate models on the authors' measurements"}}};
}

}  // namespace gnomon::reproduce
