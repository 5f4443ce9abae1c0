"""The wheel on a machine that has nothing of ours. GNOMON_WHEEL is its path; without it there is nothing to test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

WHEEL = os.environ.get("GNOMON_WHEEL")
pytestmark = pytest.mark.skipif(not WHEEL, reason="GNOMON_WHEEL is not set")

# What every Linux has (PEP 600's list, as far as we use it).
SYSTEM = (
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libgcc_s.so.1",
    "libstdc++.so.6",
)
# The newest symbols of each that a system with glibc 2.28 has.
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}


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


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """The programs and libraries of the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(folder)
    assert (folder / "gnomon" / "py.typed").exists()
    return [path for path in folder.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def elf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True).stdout


def test_all_that_its_libraries_need_is_inside(inside):
    names = {path.name for path in inside}
    assert {"libgnomon.so", "gnomon"} <= names
    for path in inside:
        needed = {each.rpartition("[")[2].rstrip("]") for each in elf("-d", path).splitlines() if "(NEEDED)" in each}
        assert needed <= names | set(SYSTEM), path.name


def test_it_runs_with_an_old_glibc(inside):
    assert Path(WHEEL).name.endswith("-py3-none-manylinux_2_28_x86_64.whl")
    found = set()
    for path in inside:
        for library, version in re.findall(r"Name: ([A-Z]+)_([0-9.]+) ", elf("-V", path)):
            found.add(library)
            needed = tuple(map(int, version.split(".")))
            if library in NEWEST:  # and none of the wheel's own
                assert needed <= NEWEST[library], f"{path.name} needs {library} {version}"
    assert {"GLIBC", "GLIBCXX"} <= found


def test_only_the_api_is_exported(inside):
    (library,) = (path for path in inside if path.name == "libgnomon.so")
    lines = [line.split() for line in elf("--dyn-syms", library).splitlines()]
    exported = {line[7] for line in lines if len(line) > 7 and line[4] in ("GLOBAL", "WEAK") and line[6].isdigit()}
    assert "gnomon_epoch_next" in exported and all(name.startswith("gnomon_") for name in exported), exported


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
    assert any(name.startswith("libxgboost") for name in places)
    for name, place in places.items():
        assert name in (*SYSTEM, "linux-vdso.so.1") or "site-packages" in place, f"{name} is at {place}"


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
    for arguments, missing in ((["train", "store"], "LibTorch"), (["serve", "--seconds", "1"], "has no server")):
        done = gnomon(*arguments)
        assert done.returncode == 2 and missing in done.stderr, done.stderr
    program = "import gnomon; print(gnomon.explore('neutronorch/Reddit', 'device')[0]['epoch_s'] > 0)"
    command = [folder / "bin/python", "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=clean, cwd=tmp_path)
    assert done.stdout == "True\n", done.stderr
