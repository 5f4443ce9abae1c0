"""The states of loaders: a position, and what determines the batches."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from gnomon._library import InvalidInput
from gnomon.pyg._options import integer

_VERSION = 2
# States of version 1 hold only these fields of what determines the batches.
_FIRST_FIELDS = ("seed", "num_inputs")


def checksum(tensors: Sequence[Tensor]) -> int:
    """Return the CRC-32 of contiguous tensors in the host's memory."""
    crc = 0
    for tensor in tensors:
        crc = zlib.crc32(tensor.numpy().data, crc)
    return crc


def state_of(epoch: int, batch: int, determines: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a loader at a position."""
    return {"version": _VERSION, "epoch": epoch, "batch": batch, **determines}


def position_in(state: Any, determines: Mapping[str, Any], num_batches: int | None) -> tuple[int, int]:
    """Return epoch and batch of a state.

    Parameters
    ----------
    state
        A state that was made by :func:`state_of`, or by an earlier version.
    determines
        What determines the batches of the loader that continues there.
    num_batches
        Its number of batches per epoch, if known.

    Raises
    ------
    gnomon.InvalidInput
        If the state is of other batches, or the position is out of range; names the field.
    """
    if not isinstance(state, Mapping):
        raise InvalidInput(f"state: must be a dict returned by state_dict(), not {type(state).__name__}")
    version = integer("state['version']", state.get("version"), 1, _VERSION)
    expected = dict(determines) if version > 1 else {name: determines[name] for name in _FIRST_FIELDS}
    for name, value in expected.items():
        if name not in state:
            raise InvalidInput(f"state[{name!r}]: is missing")
        if state[name] != value:
            raise InvalidInput(f"state[{name!r}]: {state[name]!r} is not this loader's {value!r}")
    for name in state:
        if name not in expected and name not in ("version", "epoch", "batch"):
            raise InvalidInput(f"state[{name!r}]: is unknown")
    epoch = integer("state['epoch']", state.get("epoch"), 0, 2**32 - 1)
    last = 2**63 - 1 if num_batches is None else num_batches
    return epoch, integer("state['batch']", state.get("batch"), 0, last)
