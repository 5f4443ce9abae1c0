"""Autograd of the sparse operations."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from gnomon import _library
from gnomon._library import check, library
from gnomon._openmp import parallel_of_openmp
from gnomon._tensors import describe
from gnomon.nn._gemm import linear
from gnomon.nn._memory import empty
from gnomon.nn.block import Block, Rows
from gnomon.nn.stored import StoredRows


def _threads() -> Any:
    return ctypes.byref(_library.Threads(run=parallel_of_openmp(), count=torch.get_num_threads()))


def _address(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()


def spmm(rows: Rows, row_scales: Tensor | None, column_scales: Tensor | None, x: Tensor) -> Tensor:
    """See gnomon_spmm."""
    x = x.contiguous()
    y = empty(rows.num_rows, x.shape[1])
    check(
        library.gnomon_spmm(
            ctypes.byref(rows.view),
            _threads(),
            _address(row_scales),
            _address(column_scales),
            x.data_ptr(),
            x.shape[1],
            y.data_ptr(),
        )
    )
    return y


def spmm_stored(rows: Rows, row_scales: Tensor | None, x: StoredRows) -> Tensor:
    """See gnomon_spmm_stored."""
    y = empty(rows.num_rows, x.shape[1])
    check(
        library.gnomon_spmm_stored(
            ctypes.byref(rows.view),
            _threads(),
            _address(row_scales),
            ctypes.byref(describe(x.features)),
            x.nodes.data_ptr(),
            y.data_ptr(),
        )
    )
    return y


def spmm_weighted(rows: Rows, weights: Tensor, x: Tensor) -> Tensor:
    """See gnomon_spmm_weighted."""
    weights, x = weights.contiguous(), x.contiguous()
    y = empty(rows.num_rows, *x.shape[1:])
    check(
        library.gnomon_spmm_weighted(
            ctypes.byref(rows.view), _threads(), x.shape[1], x.shape[2], weights.data_ptr(), x.data_ptr(), y.data_ptr()
        )
    )
    return y


def sum_edges(rows: Rows, values: Tensor) -> Tensor:
    """See gnomon_sum_edges."""
    values = values.contiguous()
    y = values.new_empty(rows.num_rows, values.shape[1])
    check(
        library.gnomon_sum_edges(ctypes.byref(rows.view), _threads(), values.shape[1], values.data_ptr(), y.data_ptr())
    )
    return y


class Aggregate(Function):
    """y = diag(row_scales) · A · diag(column_scales) · x."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: Rows, transposed: Any, row_scales: Any, column_scales: Any) -> Tensor:
        ctx.transposed, ctx.scales = transposed, (row_scales, column_scales)
        return spmm(rows, row_scales, column_scales, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        row_scales, column_scales = ctx.scales
        of_x = spmm(ctx.transposed(), column_scales, row_scales, gradient) if ctx.needs_input_grad[0] else None
        return of_x, None, None, None, None


class SageLayer(Function):
    """y = activation(Z · weight^T + bias), where Z is the mean or the sum of each row's entries.

    With root weights, each row of Z is concatenated with the destination's own row, and ``weight`` with the root
    weight: one matrix product, and one gradient of x.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor | StoredRows,
        weight: Tensor,
        bias: Tensor | None,
        block: Block,
        is_mean: bool,
        has_root: bool,
        has_relu: bool,
    ) -> Tensor:
        rows = block.with_own if has_root else block.rows
        scales = None
        if is_mean:
            scales = block.inverse_degrees_with_own if has_root else block.inverse_degrees
        z = spmm_stored(rows, scales, x) if isinstance(x, StoredRows) else spmm(rows, scales, None, x)
        z = z.view(block.num_destinations, weight.shape[1])
        y = linear(z, weight, bias, has_relu)
        ctx.save_for_backward(z, weight, y if has_relu else None)
        ctx.block, ctx.scales, ctx.width = block, scales, x.shape[1]
        ctx.has_root, ctx.has_bias = has_root, bias is not None
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        z, weight, y = ctx.saved_tensors
        gradient = gradient.contiguous()
        if y is not None:
            below = empty(*gradient.shape)
            torch.ops.aten.threshold_backward.grad_input(gradient, y, 0, grad_input=below)
            gradient = below
        of_x = None
        if ctx.needs_input_grad[0]:
            transposed = ctx.block.transposed_with_own if ctx.has_root else ctx.block.transposed
            of_z = linear(gradient, weight.t()).view(transposed.num_columns, ctx.width)
            of_x = spmm(transposed, None, ctx.scales, of_z)
        of_weight = linear(gradient.t(), z.t())
        return of_x, of_weight, gradient.sum(0) if ctx.has_bias else None, None, None, None, None


class Dense(Function):
    """y = x · weight^T."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        x = x.contiguous()
        ctx.save_for_backward(x, weight)
        return linear(x, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        gradient = gradient.contiguous()
        of_x = linear(gradient, weight.t()) if ctx.needs_input_grad[0] else None
        return of_x, linear(gradient.t(), x.t())


class AddScores(Function):
    """y[e,h] = row_scores[r,h] + column_scores[c,h]."""

    @staticmethod
    def forward(ctx: Any, row_scores: Tensor, column_scores: Tensor, rows: Rows, transposed: Any) -> Tensor:
        ctx.rows, ctx.transposed = rows, transposed
        row_scores, column_scores = row_scores.contiguous(), column_scores.contiguous()
        y = row_scores.new_empty(rows.num_entries, row_scores.shape[1])
        check(
            library.gnomon_sddmm_add(
                ctypes.byref(rows.view),
                _threads(),
                row_scores.shape[1],
                row_scores.data_ptr(),
                column_scores.data_ptr(),
                y.data_ptr(),
            )
        )
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return sum_edges(ctx.rows, gradient), sum_edges(ctx.transposed(), gradient), None, None


class EdgeSoftmax(Function):
    """The softmax of each row's edges."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, rows: Rows) -> Tensor:
        logits = logits.contiguous()
        y = torch.empty_like(logits)
        check(
            library.gnomon_edge_softmax(
                ctypes.byref(rows.view), _threads(), logits.shape[1], logits.data_ptr(), y.data_ptr()
            )
        )
        ctx.rows = rows
        ctx.save_for_backward(y)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (y,) = ctx.saved_tensors
        gradient = gradient.contiguous()
        of_logits = torch.empty_like(y)
        check(
            library.gnomon_edge_softmax_backward(
                ctypes.byref(ctx.rows.view),
                _threads(),
                y.shape[1],
                y.data_ptr(),
                gradient.data_ptr(),
                of_logits.data_ptr(),
            )
        )
        return of_logits, None


class WeightedAggregate(Function):
    """y[r,h,:] = sum of weights[e,h] · x[c,h,:]."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, x: Tensor, rows: Rows, transposed: Any) -> Tensor:
        ctx.rows, ctx.transposed = rows, transposed
        ctx.save_for_backward(weights, x)
        return spmm_weighted(rows, weights, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weights, x = ctx.saved_tensors
        gradient, x = gradient.contiguous(), x.contiguous()
        of_weights = weights.new_empty(weights.shape)
        check(
            library.gnomon_sddmm_dot(
                ctypes.byref(ctx.rows.view),
                _threads(),
                x.shape[1],
                x.shape[2],
                gradient.data_ptr(),
                x.data_ptr(),
                of_weights.data_ptr(),
            )
        )
        return of_weights, spmm_weighted(ctx.transposed(), weights, gradient), None, None
