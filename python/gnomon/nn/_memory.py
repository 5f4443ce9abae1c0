"""Tensors with pooled memory: mapping new memory can cost more than the operation that writes it."""

from __future__ import annotations

import ctypes
import os
import weakref
from functools import lru_cache

import torch
from torch import Tensor

from gnomon._library import check, library
from gnomon._tensors import take

# Maximum number of free blocks: about the number of tensors in a step of a deep model.
_KEPT = 32
# Smaller tensors come from torch, whose allocator reuses memory itself.
_MIN_ELEMENTS = 1 << 14


class _Pool:
    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        check(library.gnomon_pool_new(_KEPT, ctypes.byref(self.handle)))
        weakref.finalize(self, library.gnomon_pool_free, self.handle)


@lru_cache(maxsize=1)
def _pool_of(process: int) -> _Pool:
    """Return the pool of this process; a forked child makes its own."""
    return _Pool()


def empty(*shape: int) -> Tensor:
    """Return an uninitialised fp32 tensor in host memory."""
    elements = 1
    for size in shape:
        elements *= size
    if elements < _MIN_ELEMENTS:
        return torch.empty(shape)
    tensor = ctypes.c_void_p()
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    check(library.gnomon_tensor_new(_pool_of(os.getpid()).handle, len(shape), sizes, ctypes.byref(tensor)))
    assert tensor.value is not None
    return take(tensor.value)
