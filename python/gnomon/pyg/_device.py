"""Copies of batches to a device, beside what it computes."""

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
    """The end of a copy, as ``torch.cuda.Event``."""

    def query(self) -> bool:
        """Whether it has happened."""

    def synchronize(self) -> None:
        """Wait for it."""


@dataclass(frozen=True)
class Then:
    """A function of a copied batch and of the copies of some more tensors, which changes the batch."""

    function: Callable[[Any, Any], None]
    tensors: tuple[Tensor, ...]


class Copier(Protocol):
    """Copies batches to a device."""

    def start(self, batch: Any, then: Then | None = None) -> tuple[Any, Event]:
        """Start to copy a batch, whose memory must stay as it is until the event that is returned with the copy.

        ``then`` is what the device does to the copy before that event.
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
        Whether the batches' memory is page-locked; else it is copied to memory that is.
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
    """Copies before it returns."""

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
    """Return the bytes of a device's own memory that are free; 0 for the host."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else 0


def copier_of(device: torch.device) -> Copier:
    """Return what copies to a device."""
    return CudaCopier(device, page_lock() is not None) if device.type == "cuda" else PlainCopier(device)


class Copies:
    """Copies that have started. Batches that are still read live on, also if this does not."""

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
    """Return a batch with function(tensor) in place of each tensor: of PyG's data, lists, tuples and dictionaries."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, BaseData):
        return copy.copy(value).apply(function)
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(each, function) for each in value])
    if isinstance(value, dict):
        return {key: mapped(each, function) for key, each in value.items()}
    return value


def page_lock() -> PageLock | None:
    """Return the functions of the CUDA runtime that torch has loaded; None if there are none."""
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
