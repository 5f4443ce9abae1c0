"""Matrix products in fp32."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnomon.nn._memory import empty


@lru_cache(maxsize=1)
def _onednn() -> Any:
    """Return oneDNN's product if MKL, torch's default, would not use AVX-512: on processors that are not Intel's.

    A fixed rule instead of a measurement, so that all runs on a machine yield the same bits.
    """
    if not (torch.backends.mkldnn.is_available() and torch.backends.mkl.is_available()):
        return None
    try:
        about = Path("/proc/cpuinfo").read_text().partition("\n\n")[0]
        if "GenuineIntel" in about or "avx512f" not in about:
            return None
        return torch.ops.mkldnn._linear_pointwise.default
    except (OSError, AttributeError, RuntimeError):
        return None


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, has_relu: bool = False) -> Tensor:
    """Return x · weight^T + bias, not differentiable; both matrices are contiguous or transposes of such."""
    product = _onednn()
    if product is not None and x.numel() > 0 and weight.numel() > 0:
        return product(x, weight, bias, "relu" if has_relu else "none", [], "")
    y = empty(x.shape[0], weight.shape[0])
    if bias is None:
        torch.mm(x, weight.t(), out=y)
    else:
        torch.addmm(bias, x, weight.t(), out=y)
    return y.relu_() if has_relu else y
