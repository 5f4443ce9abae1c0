"""Autograd of the sparse operations."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from gnomon import _library
from gnomon._library import check, library
from gnomon._tensors import describe
from gnomon.nn._memory import empty
from gnomon.nn.block import Block, Rows
from gnomon.nn.stored import StoredRows


@lru_cache(maxsize=1)
def _run_of_openmp() -> ctypes.c_void_p | None:
    """GOMP_parallel of the OpenMP runtime that torch computes with, so that its threads do our work too."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    paths = {line.split()[-1] for line in maps if "/" in line}
    for path in sorted(each for each in paths if "omp" in Path(each).name and "torch" in each):
        try:
            return ctypes.cast(ctypes.CDLL(path).GOMP_parallel, ctypes.c_void_p)
        except (AttributeError, OSError):
            continue
    return None


def _threads() -> Any:
    return ctypes.byref(_library.Threads(run=_run_of_openmp(), count=torch.get_num_threads()))


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
    """y = activation(A · x · neighbours^T + x[rows] · root^T + bias), A the mean or the sum of a block's rows.

    As one operation it makes one gradient of x, and all its large tensors are of memory that is used again.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor | StoredRows,
        neighbours: Tensor,
        bias: Any,
        root: Any,
        block: Block,
        is_mean: bool,
        has_relu: bool,
    ) -> Tensor:
        scales = block.inverse_degrees if is_mean else None
        is_stored = isinstance(x, StoredRows)
        aggregated = spmm_stored(block.rows, scales, x) if is_stored else spmm(block.rows, scales, None, x)
        own = None
        if root is not None:
            own = x.gather(block.num_destinations) if is_stored else x[: block.num_destinations]
        y = empty(block.num_destinations, neighbours.shape[0])
        if bias is None:
            torch.mm(aggregated, neighbours.t(), out=y)
        else:
            torch.addmm(bias, aggregated, neighbours.t(), out=y)
        if own is not None:
            y.addmm_(own, root.t())
        if has_relu:
            y.relu_()
        ctx.save_for_backward(own, aggregated, neighbours, root, y if has_relu else None)
        ctx.block, ctx.scales, ctx.has_bias = block, scales, bias is not None
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        own, aggregated, neighbours, root, y = ctx.saved_tensors
        block, gradient = ctx.block, gradient.contiguous()
        if y is not None:
            below = empty(*gradient.shape)
            torch.ops.aten.threshold_backward.grad_input(gradient, y, 0, grad_input=below)
            gradient = below
        of_x = None
        if ctx.needs_input_grad[0]:
            of_aggregated = torch.mm(gradient, neighbours, out=empty(gradient.shape[0], neighbours.shape[1]))
            of_x = spmm(block.transposed, None, ctx.scales, of_aggregated)
            if root is not None:
                of_x[: block.num_destinations].addmm_(gradient, root)
        of_root = None if own is None else torch.mm(gradient.t(), own)
        of_bias = gradient.sum(0) if ctx.has_bias else None
        return of_x, torch.mm(gradient.t(), aggregated), of_bias, of_root, None, None, None


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
