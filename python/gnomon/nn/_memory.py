"""Tensors whose memory is used again: new memory costs more than many operations that write it."""

from __future__ import annotations

import ctypes
import os
import weakref
from functools import lru_cache

import torch
from torch import Tensor

from gnomon._library import check, library
from gnomon._tensors import take

# Blocks kept: about the tensors of a step of a deep model.
_KEPT = 32
# Smaller tensors are torch's, whose allocator keeps them.
_MIN_ELEMENTS = 1 << 14


class _Pool:
    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        check(library.gnomon_pool_new(_KEPT, ctypes.byref(self.handle)))
        weakref.finalize(self, library.gnomon_pool_free, self.handle)


@lru_cache(maxsize=1)
def _pool_of(process: int) -> _Pool:
    """The pool of a process: a fork makes its own."""
    return _Pool()


def empty(*shape: int) -> Tensor:
    """Return an fp32 tensor of any content in the host's memory."""
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
