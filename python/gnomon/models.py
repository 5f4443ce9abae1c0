"""Models that ``gnomon train`` has trained."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._library import InvalidInput
from gnomon._safetensors import read_safetensors

if TYPE_CHECKING:
    from gnomon.nn.model import Model

_SCHEMA = "gnomon.job/1"
# Fields that were added later, with the values of earlier runs.
_DEFAULTS = {"norm": "none", "skip": False}
# The fields that determine the model.
_CHECKS: dict[str, Callable[[Any], bool]] = {
    "model": lambda value: value in ("sage", "gcn", "gat"),
    "fanouts": lambda value: isinstance(value, list) and len(value) > 0,
    "hidden": lambda value: isinstance(value, int) and value > 0,
    "heads": lambda value: isinstance(value, int) and value > 0,
    "norm": lambda value: value in ("none", "batch", "layer"),
    "skip": lambda value: isinstance(value, bool),
    "dropout": lambda value: isinstance(value, (int, float)) and 0 <= value < 1,
}


def load_model(run: str | os.PathLike[str]) -> Model:
    """Load the model of a run, with the weights of its best epoch.

    Parameters
    ----------
    run : path
        A directory of ``gnomon train`` or ``gnomon autotune``.

    Returns
    -------
    gnomon.nn.Model
        In evaluation mode. Its ``state_dict`` has the names and shapes of PyTorch Geometric's ``GraphSAGE``, ``GCN`` and
        ``GAT``.

    Raises
    ------
    gnomon.InvalidInput
        If the directory is not a finished run.

    Examples
    --------
    >>> model = gnomon.load_model("runs/recipe")
    >>> logits = model(data.x, data.edge_index)
    """
    from gnomon.nn.model import model_of

    directory = Path(run)
    job = _read_job(directory / "job.json")
    weights = directory / "weights.safetensors"
    if not weights.is_file():
        raise InvalidInput(f"{directory}: has no weights.safetensors; the run has not finished")
    try:
        return model_of(job, read_safetensors(weights))
    except KeyError as error:
        raise InvalidInput(f"{weights}: has no {error.args[0]!r}, which the model of job.json has") from None
    except RuntimeError as error:
        raise InvalidInput(f"{weights}: does not fit the model of job.json: {error}") from None


def _read_job(path: Path) -> dict[str, Any]:
    try:
        job = json.loads(path.read_text())
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}; give the directory of a run") from None
    except ValueError as error:
        raise InvalidInput(f"{path}: is not JSON: {error}") from None
    if not isinstance(job, dict) or job.get("schema") != _SCHEMA:
        raise InvalidInput(f"{path}: must be a document of the schema {_SCHEMA}")
    job = {**_DEFAULTS, **job}
    for name, is_valid in _CHECKS.items():
        if not is_valid(job.get(name)):
            raise InvalidInput(f"{path}: {name}: {job.get(name)!r} is not valid")
    return job
