"""The notebook of the package runs: its cells one after another, without Jupyter."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

import gnomon
from gnomon._program import run

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "tuned_training.ipynb"

try:
    run("catalog")
except gnomon.GnomonError as error:
    pytest.skip(str(error), allow_module_level=True)


def test_notebook_runs(tmp_path, capsys):
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    (tmp_path / "cells.py").write_text("\n\n".join(sources))
    names = runpy.run_path(str(tmp_path / "cells.py"))
    assert names["accuracy"] > 0.9
    assert names["tuning"].measured_s > 0 and names["loader"].num_workers == names["tuning"].workers
    assert "predicted with" in capsys.readouterr().out
