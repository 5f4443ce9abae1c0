"""Tensors of torch to and from the C API, without copies."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack

from gnomon._library import DataType, Device, DLTensor, InvalidInput, check, library

_CPU = Device(1, 0)
# Codes and bits of DLPack.
_TYPES = {
    torch.int8: (0, 8),
    torch.int16: (0, 16),
    torch.int32: (0, 32),
    torch.int64: (0, 64),
    torch.uint8: (1, 8),
    torch.float16: (2, 16),
    torch.float32: (2, 32),
    torch.float64: (2, 64),
    torch.bfloat16: (4, 16),
    torch.complex64: (5, 64),
    torch.complex128: (5, 128),
    torch.bool: (6, 8),
}
_MAX_SELECTED_ALONE = 2**18
_DTYPES = {described: dtype for dtype, described in _TYPES.items()}

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_CAPSULE_NAME = b"dltensor"  # not copied by PyCapsule_New


def take(pointer: int) -> Tensor:
    """Make a tensor from the DLManagedTensor at this address and take over its ownership."""
    return from_dlpack(_new_capsule(pointer, _CAPSULE_NAME, None))


def dtype_of(described: DataType) -> torch.dtype:
    """Return the dtype of torch."""
    return _DTYPES[described.code, described.bits]


def can_describe(tensor: Tensor) -> bool:
    """Whether :func:`describe` accepts the tensor."""
    return (
        tensor.device.type == "cpu"
        and tensor.layout == torch.strided
        and tensor.dim() >= 1
        and tensor.dtype in _TYPES
        and tensor.is_contiguous()
        and not tensor.is_conj()
        and not tensor.is_neg()
    )


def check_memory(tensor: Tensor, name: str) -> None:
    """Raise InvalidInput, naming ``name``, for a tensor in the host's memory whose memory was freed or made smaller."""
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    needed = (tensor.storage_offset() + last + 1) * tensor.element_size()
    if tensor.untyped_storage().nbytes() < needed:
        raise InvalidInput(f"{name}: the memory of the tensor was freed")


def selected(values: Tensor, positions: Tensor) -> Tensor:
    """Return ``values[positions]`` of a vector. Short ones are selected by the calling thread alone."""
    # Torch would wake its OpenMP threads, which spin on the workers' cores after the work.
    if values.dim() == 1 and values.device.type == "cpu" and positions.numel() <= _MAX_SELECTED_ALONE:
        return values.index_select(0, positions)  # serial for vectors, unlike values[positions]
    return values[positions]


def spread_memory(tensor: Tensor) -> None:
    """Interleave the memory of a contiguous tensor over all NUMA nodes."""
    check(library.gnomon_spread_memory(tensor.data_ptr(), tensor.numel() * tensor.element_size()))


def describe(tensor: Tensor) -> DLTensor:
    """Describe a contiguous tensor in the host's memory. The tensor must outlive the result."""
    code, bits = _TYPES[tensor.dtype]
    shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
    return DLTensor(
        data=tensor.data_ptr(),
        device=_CPU,
        ndim=tensor.dim(),
        dtype=DataType(code, bits, 1),
        shape=shape,
        strides=None,
        byte_offset=0,
    )
