"""Asynchronous copies of batches to a device."""

from __future__ import annotations

import copy
import ctypes
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch_geometric.data.data import BaseData

from gnomon._library import PageLock


class Event(Protocol):
    """The completion of a copy, with the interface of ``torch.cuda.Event``."""

    def query(self) -> bool:
        """Return whether the copy is complete."""

    def synchronize(self) -> None:
        """Wait until the copy is complete."""


@dataclass(frozen=True)
class Then:
    """A function that completes a copied batch, and further tensors to copy for it."""

    function: Callable[[Any, Any], None]
    tensors: tuple[Tensor, ...]


class Copier(Protocol):
    """Copies batches to a device."""

    def start(self, batch: Any, then: Then | None = None) -> tuple[Any, Event]:
        """Start to copy a batch. Its memory must not change until the returned event.

        The device applies ``then`` to the copy before the event.
        """

    def hand_over(self, copied: Any, done: Event) -> None:
        """Let what the caller starts on the device from now on wait for the copy."""


class CudaCopier:
    """Copies on a stream of its own.

    Parameters
    ----------
    device
        A CUDA device.
    locked
        Whether the batches' memory is page-locked; otherwise it is first copied to page-locked memory.
    """

    def __init__(self, device: torch.device, locked: bool) -> None:
        self._device, self._locked = device, locked
        self._stream = torch.cuda.Stream(device)

    def start(self, batch: Any, then: Then | None = None) -> tuple[Any, Event]:
        with torch.cuda.stream(self._stream):
            copied = mapped(batch, self._copied)
            if then is not None:
                then.function(copied, mapped(then.tensors, self._copied))
            return copied, self._stream.record_event()

    def _copied(self, tensor: Tensor) -> Tensor:
        source = tensor if self._locked else tensor.pin_memory()
        return source.to(self._device, non_blocking=True)

    def hand_over(self, copied: Any, done: Any) -> None:
        current = torch.cuda.current_stream(self._device)
        current.wait_event(done)

        def keep(tensor: Tensor) -> Tensor:
            if tensor.is_cuda:
                tensor.record_stream(current)
            return tensor

        mapped(copied, keep)


class _Done:
    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass


class PlainCopier:
    """Copies synchronously."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def start(self, batch: Any, then: Then | None = None) -> tuple[Any, Event]:
        copied = mapped(batch, self._copied)
        if then is not None:
            then.function(copied, mapped(then.tensors, self._copied))
        return copied, _Done()

    def _copied(self, tensor: Tensor) -> Tensor:
        return tensor.to(self._device)

    def hand_over(self, copied: Any, done: Event) -> None:
        pass


def free_bytes(device: torch.device) -> int:
    """Return the free bytes of a device's own memory; 0 for the host."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else 0


def copier_of(device: torch.device) -> Copier:
    """Return the copier for a device."""
    return CudaCopier(device, page_lock() is not None) if device.type == "cuda" else PlainCopier(device)


class Copies:
    """Copies in flight. Keeps their source batches alive, also beyond its own lifetime."""

    def __init__(self, copier: Copier) -> None:
        self._copier = copier
        self._read: list[tuple[Event, Any]] = []
        weakref.finalize(self, _wait_for, self._read)

    def start(self, batch: Any, then: Then | None = None) -> tuple[Any, Event]:
        """Start to copy a batch, and what the device then does to it."""
        self._read[:] = [each for each in self._read if not each[0].query()]
        copied, done = self._copier.start(batch, then)
        self._read.append((done, (batch, then)))
        return copied, done

    def hand_over(self, copied: Any, done: Event) -> None:
        """Let the caller use a copy."""
        self._copier.hand_over(copied, done)


def _wait_for(read: list[tuple[Event, Any]]) -> None:
    for done, _ in read:
        done.synchronize()


def mapped(value: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Apply a function to each tensor of a batch: in PyG's data, lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, BaseData):
        return copy.copy(value).apply(function)
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(each, function) for each in value])
    if isinstance(value, dict):
        return {key: mapped(each, function) for key, each in value.items()}
    return value


def pinned_allocator() -> Callable[[int], Tensor] | None:
    """Return a function that returns uint8 tensors of a number of bytes in page-locked memory; None without CUDA."""
    if not torch.cuda.is_available():
        return None
    return lambda size: torch.empty(size, dtype=torch.uint8, pin_memory=True)


def page_lock() -> PageLock | None:
    """Return the page-locking functions of torch's CUDA runtime; None if torch has loaded none."""
    if torch.version.cuda is None or not torch.cuda.is_available():
        return None
    major = torch.version.cuda.partition(".")[0]
    for name in (f"libcudart.so.{major}", f"libcudart.so.{major}.0"):
        try:
            runtime = ctypes.CDLL(name)
        except OSError:
            continue
        functions = (
            ctypes.cast(each, ctypes.c_void_p) for each in (runtime.cudaHostRegister, runtime.cudaHostUnregister)
        )
        portable = 1  # locked for all devices
        return PageLock(*functions, portable)
    return None
