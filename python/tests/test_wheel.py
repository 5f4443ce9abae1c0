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
GLIBC = (
    "linux-vdso.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
)


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A virtual environment with nothing but the wheel. Returns its folder and a clean environment."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, with_pip=True)
    ours = ("GNOMON_LIBRARY", "GNOMON_PROGRAM", "PYTHONPATH", "LD_LIBRARY_PATH")
    clean = {key: value for key, value in os.environ.items() if key not in ours}
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "-q", "--no-deps", WHEEL], check=True, env=clean)
    return folder, clean


def test_name_says_any_python():
    assert "-py3-none-" in Path(WHEEL).name


def test_all_that_the_library_needs_is_inside(tmp_path):
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


def test_tag_is_that_of_a_glibc():
    assert "manylinux_2_" in Path(WHEEL).name


def test_it_works_in_a_bare_environment(bare, tmp_path):
    folder, clean = bare
    python = str(folder / "bin/python")
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


def test_all_that_the_command_needs_is_inside(bare):
    folder, clean = bare
    (program,) = folder.glob("lib/python3*/site-packages/gnomon/bin/gnomon")
    loaded = subprocess.run(["ldd", program], check=True, capture_output=True, text=True, env=clean).stdout
    places = dict(line.strip().partition(" => ")[::2] for line in loaded.splitlines() if " => " in line)
    assert "libsimgrid" in loaded
    for name, place in places.items():
        assert name in GLIBC or "site-packages" in place, f"{name} is at {place}"


def test_the_command_works_in_a_bare_environment(bare, tmp_path):
    folder, clean = bare

    def gnomon(*arguments):
        command = [folder / "bin/gnomon", *arguments]
        return subprocess.run(command, check=False, capture_output=True, text=True, env=clean, cwd=tmp_path)

    assert gnomon("--version").stdout.startswith("gnomon ")
    assert gnomon("generate", "sbm", "store", "--vertices", "500", "--classes", "4").returncode == 0
    assert "500" in gnomon("info", "store").stdout
    for arguments in (
        ["explore", "neutronorch/Reddit", "--plan", "device,dgl"],
        ["tune", "neutronorch/Reddit", "--budget", "5"],
        ["reproduce", "joestar"],
    ):
        done = gnomon(*arguments)
        assert done.returncode == 0, done.stderr
    done = gnomon("train", "store")
    assert done.returncode == 2 and "LibTorch" in done.stderr
    program = "import gnomon; print(gnomon.explore('neutronorch/Reddit', 'device')[0]['epoch_s'] > 0)"
    command = [folder / "bin/python", "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=clean, cwd=tmp_path)
    assert done.stdout == "True\n", done.stderr
