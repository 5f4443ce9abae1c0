"""Memory of torch that loaders write their batches to."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable

from torch import Tensor

from gnomon._library import DLTensor, check, library
from gnomon._tensors import dtype_of, take

# Smaller tensors stay in the loader's own memory (gnomon_loader_lend in gnomon.h).
MIN_BYTES = 1 << 16


class LentMemory:
    """Lends blocks of an allocator of torch to a loader of the C API, which makes large tensors in them.

    These tensors are then torch's own. Its allocator of page-locked memory reuses a block only after the asynchronous
    copies from it, which memory that the loader itself had locked could not wait for.

    Parameters
    ----------
    loader
        The handle.
    allocate
        Returns a uint8 tensor of this many bytes.
    """

    def __init__(self, loader: ctypes.c_void_p, allocate: Callable[[int], Tensor]) -> None:
        self._loader, self._allocate = loader, allocate
        self._lent: dict[int, Tensor] = {}  # by address

    def take(self, pointer: int) -> Tensor:
        """Make a tensor from the DLManagedTensor at this address, and lend another block for the next one like it."""
        described = DLTensor.from_address(pointer)
        shape = described.shape[: described.ndim]
        size = math.prod(shape) * described.dtype.bits // 8
        block = self._lent.pop(described.data, None)
        if block is None:
            tensor = take(pointer)
        else:
            tensor = block[:size].view(dtype_of(described.dtype)).view(shape)
            library.gnomon_tensor_detach(pointer)
        if size >= MIN_BYTES:
            self._lend(size)
        return tensor

    def _lend(self, size: int) -> None:
        # To a power of two, as torch itself rounds, so that tensors of slightly different sizes fit.
        block = self._allocate(1 << (size - 1).bit_length())
        self._lent[block.data_ptr()] = block
        check(library.gnomon_loader_lend(self._loader, block.data_ptr(), block.numel()))
