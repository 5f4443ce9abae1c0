#pragma once

#include <ATen/core/Tensor.h>

#include "nn/sparse/sparse_block.h"
#include "nn/sparse/stored_rows.h"

namespace torch::autograd {
struct AutogradContext;
}

/// Differentiable sparse operations on a sampled block. Dense tensors are float32 on the block's device,
/// others are refused with c10::Error; S sources, D destinations, E edges (in the block's order), F columns,
/// H heads. On the CPU they run on at::get_num_threads() threads with the same bits for any number, forward
/// and backward; on a GPU on the current stream, where the host waits for nothing and every run gives the
/// same bits. Gradients cannot be differentiated again (c10::Error).
namespace gnomon::nn {

/// y[v] = Σ x[u] over v's in-edges. x is S x F, y is D x F.
at::Tensor spmm_sum(const SparseBlockPtr& block, const at::Tensor& x);

/// y[v] = mean of x[u] over v's in-edges, 0 where there are none. x is S x F, y is D x F.
at::Tensor spmm_mean(const SparseBlockPtr& block, const at::Tensor& x);

/// The same of the first S of stored rows, which get no gradient.
at::Tensor spmm_mean(const SparseBlockPtr& block, const DroppedRows& x);

/// The gradient of x in spmm_mean: gradient of y is D x F, the result S x F. Not differentiable.
at::Tensor spmm_mean_gradient(const SparseBlockPtr& block, const at::Tensor& gradient);

/// y[v] = destination_scale[v] · Σ source_scale[u] · x[u] over v's in-edges: with scales 1/√degree the
/// symmetric normalisation of GCN (Kipf and Welling, ICLR 2017, equation 2). x is S x F, y is D x F, the
/// scales are D and S and get no gradient.
at::Tensor spmm_scaled(const SparseBlockPtr& block, const at::Tensor& x,
                          const at::Tensor& destination_scale, const at::Tensor& source_scale);

/// The same of the first S of stored rows, which get no gradient.
at::Tensor spmm_scaled(const SparseBlockPtr& block, const DroppedRows& x,
                          const at::Tensor& destination_scale, const at::Tensor& source_scale);

/// y[v,h,:] = Σ weights[e,h] · x[u,h,:] over v's in-edges e = (u, v). x is S x H x F, weights E x H,
/// y is D x H x F.
at::Tensor spmm_weighted(const SparseBlockPtr& block, const at::Tensor& x,
                            const at::Tensor& weights);

/// y[e,h] = destination_scores[v,h] + source_scores[u,h] for e = (u, v): GAT's logits before the LeakyReLU
/// (Veličković et al., ICLR 2018, equation 3). The scores are D x H and S x H, y is E x H.
at::Tensor sddmm_add(const SparseBlockPtr& block, const at::Tensor& destination_scores,
                        const at::Tensor& source_scores);

/// For differentiable operations that are made of these: keep the block, or stored rows, for the backward
/// pass, and get them there.
void save_block(torch::autograd::AutogradContext* context, const SparseBlockPtr& block);
SparseBlockPtr saved_block(torch::autograd::AutogradContext* context);
void save_rows(torch::autograd::AutogradContext* context, const DroppedRows& rows);
DroppedRows saved_rows(torch::autograd::AutogradContext* context);

/// Softmax over each destination's in-edges, per head. logits and result are E x H.
at::Tensor edge_softmax(const SparseBlockPtr& block, const at::Tensor& logits);

}  // namespace gnomon::nn
