"""Features that are read in place."""

from __future__ import annotations

import torch
from torch import Tensor

from gnomon._library import InvalidInput
from gnomon.nn._memory import empty


class StoredRows:
    """Rows of a matrix that are not gathered: :class:`SAGEConv` reads them from the matrix.

    Reading the features is most of the memory traffic of a first layer; gathering them first would write and read them
    once more.

    Parameters
    ----------
    features : Tensor
        A contiguous matrix, fp32, fp16 or bf16, in the host's memory.
    nodes : Tensor
        int64: the indices of the rows.
    """

    def __init__(self, features: Tensor, nodes: Tensor) -> None:
        if features.dim() != 2 or not features.is_contiguous() or features.device.type != "cpu":
            raise InvalidInput("features: must be a contiguous matrix in the host's memory")
        if features.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise InvalidInput(f"features: must be fp32, fp16 or bf16, not {features.dtype}")
        if nodes.dim() != 1 or nodes.dtype != torch.int64 or nodes.device.type != "cpu":
            raise InvalidInput("nodes: must be int64 of one dimension in the host's memory")
        self.features, self.nodes = features.detach(), nodes.contiguous()

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns."""
        return self.nodes.numel(), self.features.shape[1]

    def gather(self, count: int | None = None) -> Tensor:
        """Return the first ``count`` rows, or all, as fp32."""
        nodes = self.nodes[:count]
        if self.features.dtype != torch.float32:
            return self.features[nodes].float()
        out = empty(nodes.numel(), self.features.shape[1])
        return torch.index_select(self.features, 0, nodes, out=out)

    def __repr__(self) -> str:
        return f"StoredRows({list(self.shape)} of {list(self.features.shape)})"
