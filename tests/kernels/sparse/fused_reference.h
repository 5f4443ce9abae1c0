#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cpu/dropout.h"
#include "nn/dense/dense.h"
#include "nn/layers/fused_gat.h"
#include "nn/sparse/sparse_block.h"
#include "tests/kernels/sparse/sparse_contract.h"

/// References of the fused operations of devices, in double precision and by other means: PyTorch's own
/// operations, edge by edge.
namespace gnomon::kernels {

/// Blocks whose destinations are sources, as samplers make them: with empty rows, rows and columns longer
/// than what one index of a kernel sums up, edges several times, and destinations that are among their own
/// sources.
inline std::vector<Block> sampled_blocks(std::uint64_t seed) {
  std::vector<std::vector<std::int32_t>> from_one(700, {0});
  from_one[5] = {5, 0, 5};
  return {random_block(60, 80, seed),
          random_block(300, 400, seed + 1),
          random_block(40, 40, seed + 2),
          block_of(0, {}),
          block_of(1, {{}}),
          block_of(1, {{0}}),
          block_of(4, {{}, {}, {}}),
          in_hub(1000),
          block_of(900, from_one),
          block_of(3, {{0, 1, 2, 0}, {}, {2, 2}}),
          block_of(2, {{1}, {0}})};
}

/// nn::gcn_propagate.
inline Tensor gcn_reference(const Block& block, const Tensor& x, const Tensor& degrees) {
  const Incidence incidence(block);
  const auto all = degrees.to(torch::kDouble).unsqueeze(1);
  const auto roots = (all + 1).pow(-0.5);
  const auto own = [&](const Tensor& of) { return of.narrow(0, 0, block.num_destinations); };
  const auto sums = incidence.to_destinations(incidence.to_edges_from_sources(roots * x));
  const auto drawn = kernels::degrees(block);
  return own(all) / drawn.clamp_min(1) * own(roots) * sums + own(roots).pow(2) * own(x);
}

/// A layer of GAT; thresholds of 0 mean no dropout.
struct GatCase {
  std::int64_t heads, width;
  std::uint32_t of_coefficients;
  bool has_activation;
  std::uint32_t of_outputs = 0;
};

inline std::vector<GatCase> gat_cases() {
  return {{1, 1, 0, false},           {1, 5, 20000, false},       {2, 4, 0, true},
          {4, 8, 32768, true, 32768}, {3, 8, 20000, true, 10000}, {8, 3, 30000, true, 30000},
          {1, 47, 10000, false},      {2, 16, 0, false}};
}

inline DropoutRule coefficients_rule(const GatCase& c) {
  return {{11, base::Purpose::dropout, 2, 3, 4, 0}, c.of_coefficients};
}
inline DropoutRule outputs_rule(const GatCase& c) {
  return {{11, base::Purpose::dropout, 2, 3, 5, 0}, c.of_outputs};
}

/// A layer's edges, with the self-loops that the CPU lists, and what it computes of them before the softmax.
struct GatEdges {
  Tensor rows, columns;
  Tensor values;  ///< of the sources: sources x heads x width
  Tensor scores;  ///< of the edges: edges x heads; LeakyReLU of these are the logits
};

inline GatEdges gat_edges(const Block& block, const GatCase& c, const std::vector<Tensor>& in) {
  const auto looped = nn::with_self_loops(*nn::sparse_block(std::make_shared<const Block>(block)));
  GatEdges edges;
  edges.rows = torch::arange(block.num_destinations).repeat_interleave(looped->indptr().diff());
  edges.columns = looped->indices().to(torch::kLong);
  edges.values = torch::mm(in[0], in[1]).view({block.num_sources, c.heads, c.width});
  const auto of_vertices = [&](const Tensor& vectors) {
    return (edges.values * vectors.unsqueeze(0)).sum(2);
  };
  edges.scores =
      of_vertices(in[2]).index_select(0, edges.columns) + of_vertices(in[3]).index_select(0, edges.rows);
  return edges;
}

/// Inputs of the sources, weight, attention vectors of sources and destinations, and bias, such that values
/// and logits are of size one: a softmax that is nearly 0 or 1 has gradients that rounding blurs. No edge's
/// score is so close to 0 that rounding decides which slope of the LeakyReLU its gradient has.
inline std::vector<Tensor> gat_inputs(const Block& block, const GatCase& c) {
  constexpr std::int64_t columns = 37;  // more than one part of the inputs
  constexpr double beyond_rounding = 4e-6;
  const auto of_size_one = [](std::int64_t rows, std::int64_t width, std::int64_t terms) {
    return torch::randn({rows, width}) / std::sqrt(static_cast<double>(terms));
  };
  for (;;) {
    std::vector<Tensor> inputs{of_size_one(block.num_sources, columns, 1),
                               of_size_one(columns, c.heads * c.width, columns),
                               of_size_one(c.heads, c.width, c.width), of_size_one(c.heads, c.width, c.width),
                               torch::randn({c.heads * c.width})};
    std::vector<Tensor> doubles;
    for (const auto& input : inputs) {
      doubles.push_back(input.to(torch::kDouble));
    }
    if ((gat_edges(block, c, doubles).scores.abs() > beyond_rounding).all().item<bool>()) {
      return inputs;
    }
  }
}

inline Tensor fused_gat_layer(const nn::SparseBlockPtr& block, const GatCase& c,
                              const std::vector<Tensor>& inputs) {
  const auto layers = nn::fuse_gat({{{inputs[1], inputs[2], inputs[3]},
                                     block,
                                     coefficients_rule(c),
                                     c.has_activation ? std::optional(outputs_rule(c)) : std::nullopt}});
  return nn::attend(layers.front(), nn::dense::linear(inputs[0], layers.front().joint_weight), inputs[4]);
}

/// 0 where an element is dropped, elsewhere the scale of those that are kept.
inline Tensor keep_factors(const DropoutRule& rule, at::IntArrayRef sizes) {
  auto factors = torch::ones(sizes);
  if (rule.threshold > 0) {
    auto* values = factors.mutable_data_ptr<float>();
    cpu::dropout(rule, 0, factors.numel(), values, values);
  }
  return factors.to(torch::kDouble);
}

/// The layer by PyTorch's operations.
inline Tensor gat_reference(const Block& block, const GatCase& c, const std::vector<Tensor>& in) {
  const auto edges = gat_edges(block, c, in);
  const auto logits = torch::leaky_relu(edges.scores, 0.2);
  const auto exponentials = logits.exp();
  const auto sums = [&](const Tensor& of_edges) {
    auto sizes = of_edges.sizes().vec();
    sizes[0] = block.num_destinations;
    return torch::zeros(sizes, torch::kDouble).index_add(0, edges.rows, of_edges);
  };
  const auto softmax = exponentials / sums(exponentials).index_select(0, edges.rows);
  const auto kept = softmax * keep_factors(coefficients_rule(c), softmax.sizes());
  const auto out = sums(kept.unsqueeze(2) * edges.values.index_select(0, edges.columns)).flatten(1) + in[4];
  return c.has_activation ? torch::elu(out) * keep_factors(outputs_rule(c), out.sizes()) : out;
}

/// The error of a result, over its size. Where terms of size one cancel, their rounding is left, so the size
/// is at least one; `more` is another lower bound.
inline double error_beside(const Tensor& found, const Tensor& expected, double more = 0) {
  const double error = (found.to(torch::kCPU, torch::kDouble) - expected).norm().item<double>();
  return error / std::max({expected.norm().item<double>(), 1.0, more});
}

/// Compares a fused layer with the reference: values, and gradients by autograd in double precision. The
/// scores of a destination shift all logits of its softmax, which changes it by the two slopes of the
/// LeakyReLU only, so the gradient of their vector is what is left of a sum whose terms cancel: its error is
/// measured against the gradient of the sources' vector, whose terms are the same.
inline void expect_gat_equal(const nn::SparseBlockPtr& shared, const Block& block, const GatCase& c,
                             torch::Device device) {
  SCOPED_TRACE(std::to_string(block.num_destinations) + " x " + std::to_string(block.num_sources) + ", " +
               std::to_string(c.heads) + " heads of " + std::to_string(c.width));
  constexpr double tolerance = 2e-5;
  std::vector<Tensor> floats, doubles;
  for (const auto& input : gat_inputs(block, c)) {
    floats.push_back(input.to(device));
    doubles.push_back(input.to(torch::kDouble));
  }
  const auto expected = gat_reference(block, c, doubles);
  EXPECT_LT(error_beside(fused_gat_layer(shared, c, floats), expected), tolerance);
  const auto weights = torch::rand(expected.sizes()) + 0.1;
  const auto found = gradients_by_autograd([&](const auto& in) { return fused_gat_layer(shared, c, in); },
                                           floats, weights.to(device));
  const auto gradients =
      gradients_by_autograd([&](const auto& in) { return gat_reference(block, c, in); }, doubles, weights);
  constexpr std::size_t of_sources = 2;
  constexpr std::size_t of_destinations = 3;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const double more = i == of_destinations ? gradients[of_sources].norm().item<double>() : 0;
    EXPECT_LT(error_beside(found[i], gradients[i], more), tolerance) << "gradient of input " << i;
  }
}

}  // namespace gnomon::kernels
