#include "graph/generate/random_data.h"

#include <span>

#include "base/philox.h"
#include "graph/generate/drawn.h"

namespace gnomon::graph {

void fill_at_random(GraphSource& source, std::int64_t feature_columns, std::int32_t classes,
                    std::uint64_t seed) {
  if (source.feature_columns == 0 && feature_columns > 0) {
    source.feature_columns = feature_columns;
    source.features_where = source.where + ": features";
    source.features = drawn::rows(
        source.num_vertices, feature_columns, [seed](VertexId, std::span<float> rows, std::int64_t block) {
          base::RandomStream random(drawn::key_of(seed, drawn::Part::features, block));
          for (float& value : rows) {
            const auto bits = static_cast<std::int32_t>(random() >> 40);
            value = static_cast<float>(bits - (1 << 23)) * 0x1p-23F;
          }
        });
  }
  if (source.labels.empty() && classes > 0) {
    source.labels.resize(static_cast<std::size_t>(source.num_vertices));
    base::RandomStream random(drawn::key_of(seed, drawn::Part::labels));
    for (auto& label : source.labels) {
      label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
    }
  }
}

}  // namespace gnomon::graph
