#pragma once

#include <ATen/core/Tensor.h>

#include "nn/sparse/sparse_block.h"
#include "nn/sparse/stored_features.h"

namespace torch::autograd {
struct AutogradContext;
}

/// Differentiable sparse operations on a sampled block with S sources, D destinations and E edges (in the
/// block's order), for F columns and H heads. Dense tensors must be float32 on the block's device; otherwise
/// c10::Error is thrown. On the CPU they use at::get_num_threads() threads, and the bits of forward and
/// backward pass do not depend on their number. On a GPU they run on the current stream without
/// synchronising, with the same bits in every run. Second derivatives are not supported (c10::Error).
namespace gnomon::nn {

/// y[v] = Σ x[u] over v's in-edges. x is S x F, y is D x F.
at::Tensor spmm_sum(const SparseBlockPtr& block, const at::Tensor& x);

/// y[v] = mean of x[u] over v's in-edges, 0 if there are none. x is S x F, y is D x F.
at::Tensor spmm_mean(const SparseBlockPtr& block, const at::Tensor& x);

/// spmm_mean of the first S stored rows, which get no gradient.
at::Tensor spmm_mean(const SparseBlockPtr& block, const DroppedFeatures& x);

/// The backward pass of spmm_mean: `gradient` is that of y (D x F), the result that of x (S x F). Not
/// differentiable.
at::Tensor spmm_mean_gradient(const SparseBlockPtr& block, const at::Tensor& gradient);

/// y[v] = destination_scale[v] · Σ source_scale[u] · x[u] over v's in-edges. Scales of 1/√degree yield the
/// symmetric normalisation of GCN (Kipf and Welling, ICLR 2017, equation 2). x is S x F, y is D x F; the
/// scales have D and S elements and get no gradient.
at::Tensor spmm_scaled(const SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& destination_scale,
                       const at::Tensor& source_scale);

/// spmm_scaled of the first S stored rows, which get no gradient.
at::Tensor spmm_scaled(const SparseBlockPtr& block, const DroppedFeatures& x,
                       const at::Tensor& destination_scale, const at::Tensor& source_scale);

/// y[v] = degree(v) / drawn(v) · r(v) · Σ r(u) · x[u] + r(v)² · x[v] over v's in-edges, where r is 1 /
/// √(degree + 1) and drawn(v) is the number of v's in-edges: GCN's normalisation with a self-loop, estimated
/// on sampled neighbours, as one fused operation. x is S x F, y is D x F; `degrees` has S elements and gets
/// no gradient. Only for devices, and for blocks whose destinations are the first sources; otherwise
/// c10::Error is thrown.
at::Tensor gcn_propagate(const SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& degrees);

/// gcn_propagate of the first S stored rows, which get no gradient.
at::Tensor gcn_propagate(const SparseBlockPtr& block, const DroppedFeatures& x, const at::Tensor& degrees);

/// y[v,h,:] = Σ weights[e,h] · x[u,h,:] over v's in-edges e = (u, v). x is S x H x F, weights E x H,
/// y is D x H x F.
at::Tensor spmm_weighted(const SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& weights);

/// y[e,h] = destination_scores[v,h] + source_scores[u,h] for e = (u, v): the attention logits of GAT before
/// the LeakyReLU (Veličković et al., ICLR 2018, equation 3). The scores are D x H and S x H, y is E x H.
at::Tensor sddmm_add(const SparseBlockPtr& block, const at::Tensor& destination_scores,
                     const at::Tensor& source_scores);

/// Save a block or stored rows in the context of an autograd function, and restore them in its backward pass.
void save_block(torch::autograd::AutogradContext* context, const SparseBlockPtr& block);
SparseBlockPtr saved_block(torch::autograd::AutogradContext* context);
void save_rows(torch::autograd::AutogradContext* context, const DroppedFeatures& rows);
DroppedFeatures saved_rows(torch::autograd::AutogradContext* context);

/// Softmax over each destination's in-edges, per head. logits and result are E x H.
at::Tensor edge_softmax(const SparseBlockPtr& block, const at::Tensor& logits);

}  // namespace gnomon::nn
