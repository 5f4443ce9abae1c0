#pragma once

#include <cstdint>

#include "kernels/device/gat.h"
#include "kernels/device/sparse_rows-inl.h"

// What happens to the weights of all layers of GAT at once. Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

constexpr std::int64_t values_of(const Heads& heads) { return heads.count * heads.width; }

/// The work of several layers in one launch: their indices one behind the other.
template <class Task>
struct GatTasks {
  int count = 0;
  Task tasks[max_gat_layers] = {};
  std::int64_t ends[max_gat_layers] = {};  ///< of the layers' indices

  /// Calls the task of the index's layer.
  constexpr void operator()(std::int64_t i) const {
    std::int64_t begin = 0;
    for (int layer = 0; layer < count; ++layer) {
      if (i < ends[layer]) {
        tasks[layer](i - begin);
        return;
      }
      begin = ends[layer];
    }
  }
  constexpr void add(const Task& task) {
    ends[count] = (count == 0 ? 0 : ends[count - 1]) + task.indices();
    tasks[count++] = task;
  }
  constexpr std::int64_t indices() const { return count == 0 ? 0 : ends[count - 1]; }
};

/// An index is an element of the joint weight or, behind them, a byte of the mask.
struct PrepareGatLayer {
  GatLayerToPrepare to;

  constexpr std::int64_t elements() const { return to.layer.inputs * joint_columns(to.layer.heads); }
  constexpr std::int64_t indices() const {
    return elements() + (to.coefficients + dropout_block - 1) / dropout_block;
  }
  constexpr void operator()(std::int64_t i) const {
    if (i < elements()) {
      to.joint[i] = element(matrix_index(i, joint_columns(to.layer.heads)));
    } else {
      const std::int64_t block = i - elements();
      to.kept[block] = to.rule.kept(to.rule.words(block));
    }
  }

 private:
  constexpr float element(const MatrixIndex& at) const {
    const Heads& heads = to.layer.heads;
    const float* row = to.layer.weight + at.row * values_of(heads);
    if (at.column < values_of(heads)) {
      return row[at.column];
    }
    const std::int64_t score = at.column - values_of(heads);
    if (score >= 2 * heads.count) {
      return 0;
    }
    const std::int64_t head = score % heads.count;
    const float* vector =
        (score < heads.count ? to.layer.of_sources : to.layer.of_destinations) + head * heads.width;
    float sum = 0;
    for (std::int64_t j = 0; j < heads.width; ++j) {
      sum += row[head * heads.width + j] * vector[j];
    }
    return sum;
  }
};

/// The inputs whose share of an attention vector's gradient one index sums up.
inline constexpr std::int64_t inputs_per_part = 32;
constexpr std::int64_t parts_of_inputs(std::int64_t inputs) {
  return (inputs + inputs_per_part - 1) / inputs_per_part;
}

/// An index is an element of both vectors and a part of the inputs.
struct PartsOfGatVectors {
  GatLayerGradients of;
  float* parts;  ///< parts x 2 x values

  constexpr std::int64_t indices() const {
    return parts_of_inputs(of.layer.inputs) * values_of(of.layer.heads);
  }
  constexpr void operator()(std::int64_t i) const {
    const Heads& heads = of.layer.heads;
    const std::int64_t values = values_of(heads);
    const MatrixIndex at = matrix_index(i, values);
    const std::int64_t head = at.column / heads.width;
    const std::int64_t first = at.row * inputs_per_part;
    const std::int64_t last =
        first + inputs_per_part < of.layer.inputs ? first + inputs_per_part : of.layer.inputs;
    float of_source = 0;
    float of_destination = 0;
    for (std::int64_t input = first; input < last; ++input) {
      const float weight = of.layer.weight[input * values + at.column];
      const float* scores = of.joint + input * joint_columns(heads) + values;
      of_source += weight * scores[head];
      of_destination += weight * scores[heads.count + head];
    }
    parts[2 * at.row * values + at.column] = of_source;
    parts[(2 * at.row + 1) * values + at.column] = of_destination;
  }
};

/// An index is an element of the weight or, behind them, of one of the vectors.
struct GatLayerGradient {
  GatLayerGradients of;
  const float* parts;

  constexpr std::int64_t elements() const { return of.layer.inputs * values_of(of.layer.heads); }
  constexpr std::int64_t indices() const { return elements() + 2 * values_of(of.layer.heads); }
  constexpr void operator()(std::int64_t i) const {
    const Heads& heads = of.layer.heads;
    const std::int64_t values = values_of(heads);
    if (i < elements()) {
      const MatrixIndex at = matrix_index(i, values);
      const std::int64_t head = at.column / heads.width;
      const float* row = of.joint + at.row * joint_columns(heads);
      of.weight[i] =
          row[at.column] + (row[values + head] * of.layer.of_sources[at.column] +
                            row[values + heads.count + head] * of.layer.of_destinations[at.column]);
      return;
    }
    const std::int64_t element = i - elements();
    double sum = 0;
    for (std::int64_t part = 0; part < parts_of_inputs(of.layer.inputs); ++part) {
      sum += static_cast<double>(parts[2 * part * values + element]);
    }
    float* to = element < values ? of.of_sources + element : of.of_destinations + (element - values);
    *to = static_cast<float>(sum);
  }
};

}  // namespace passes

template <class Executor>
void prepare_gat(Executor& executor, const GatLayerToPrepare* layers, int count) {
  passes::GatTasks<passes::PrepareGatLayer> all;
  for (int i = 0; i < count; ++i) {
    all.add({layers[i]});
  }
  executor.for_each(all.indices(), all);
}

template <class Executor>
void gat_parameter_gradients(Executor& executor, const GatLayerGradients* layers, int count) {
  std::int64_t elements = 0;
  for (int i = 0; i < count; ++i) {
    elements +=
        passes::parts_of_inputs(layers[i].layer.inputs) * 2 * passes::values_of(layers[i].layer.heads);
  }
  const auto parts = make_array<float>(executor, elements);
  passes::GatTasks<passes::PartsOfGatVectors> vectors;
  passes::GatTasks<passes::GatLayerGradient> all;
  float* next = parts.data;
  for (int i = 0; i < count; ++i) {
    vectors.add({layers[i], next});
    all.add({layers[i], next});
    next += passes::parts_of_inputs(layers[i].layer.inputs) * 2 * passes::values_of(layers[i].layer.heads);
  }
  executor.for_each(vectors.indices(), vectors);
  executor.for_each(all.indices(), all);
}

}  // namespace gnomon::kernels::device
