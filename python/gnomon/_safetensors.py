"""Files of weights in the safetensors format (https://github.com/huggingface/safetensors, "Format")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._library import InvalidInput

if TYPE_CHECKING:
    from torch import Tensor

_LENGTH_BYTES = 8


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """Return all tensors of a file, as fp32.

    Raises
    ------
    gnomon.InvalidInput
        If the file cannot be read or is not in this format.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from None
    try:
        length = int.from_bytes(content[:_LENGTH_BYTES], "little")
        header = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
        data = bytearray(content[_LENGTH_BYTES + length :])
        return {name: _tensor(data, entry) for name, entry in header.items() if name != "__metadata__"}
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise InvalidInput(f"{path}: is not a file of safetensors: {error}") from None


def _tensor(data: bytearray, entry: dict[str, Any]) -> Tensor:
    import torch

    types = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16}
    begin, end = entry["data_offsets"]
    dtype = types[entry["dtype"]]
    if begin == end:
        return torch.empty(entry["shape"])
    values = torch.frombuffer(data, dtype=dtype, offset=begin, count=8 * (end - begin) // torch.finfo(dtype).bits)
    return values.view(entry["shape"]).float().clone()
