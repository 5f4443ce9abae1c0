"""The wheel on a machine that has nothing of ours. GNOMON_WHEEL is its path; without it there is nothing to test."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

WHEEL = os.environ.get("GNOMON_WHEEL")
pytestmark = pytest.mark.skipif(not WHEEL, reason="GNOMON_WHEEL is not set")

# What every Linux has (PEP 600's list, as far as we use it).
SYSTEM = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0")


def test_name_says_any_python():
    assert "-py3-none-" in Path(WHEEL).name


def test_all_that_is_needed_is_inside(tmp_path):
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(tmp_path)
    libraries = list((tmp_path / "gnomon").glob("*.so*"))
    inside = {path.name for path in libraries}
    assert "libgnomon.so" in inside
    for path in libraries:
        lines = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout.splitlines()
        needed = {line.rpartition("[")[2].rstrip("]") for line in lines if "(NEEDED)" in line}
        assert needed <= inside | set(SYSTEM), path.name
    assert (tmp_path / "gnomon" / "py.typed").exists()


def test_it_works_in_a_bare_environment(tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    clean = {key: value for key, value in os.environ.items() if key not in ("GNOMON_LIBRARY", "PYTHONPATH")}
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", WHEEL], check=True, env=clean)
    program = """
import ctypes
import gnomon
from gnomon._library import check, library
from gnomon.graph import from_edges
edges = (ctypes.c_int64 * 3)(0, 1, 2)
graph = from_edges(3, 3, ctypes.addressof(edges), ctypes.addressof(edges), None)
print(gnomon.__version__, graph)
with open("/proc/self/maps") as maps:
    print({line.split("/")[-1].strip() for line in maps if "hwy" in line and "site-packages" not in line})
"""
    done = subprocess.run([python, "-c", program], check=False, capture_output=True, text=True, env=clean, cwd=tmp_path)
    assert done.stdout.splitlines()[0].endswith("Graph(num_nodes=3, num_edges=3)"), done.stderr
    assert done.stdout.splitlines()[1] == "set()", "Highway of the system was loaded"
    assert sys.version_info >= (3, 9)
