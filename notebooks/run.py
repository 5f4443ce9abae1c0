#!/usr/bin/env python3
"""Has gnomon write the files that the notebooks read, and executes the notebooks.

    python3 -m venv build/notebooks && build/notebooks/bin/pip install -r notebooks/requirements.txt
    build/notebooks/bin/python notebooks/run.py ./gnomon.sh --files notebooks/files --save

Exit codes: 0 all ran; 1 one failed; 77 what notebooks need is not installed.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MEASURED = HERE.parent / "bench/results/figures.json"  # the measured figures, as they are recorded
SET = "--set"
LINK = "machine.link.bandwidth_bytes_per_s"

# The name of each file and the command that writes it.
FILES = {
    **{paper: ["reproduce", paper] for paper in
       ("morphgl", "neutronorch", "gnnlab", "ducati", "a3gnn", "hanoi", "joestar")},
    **{f"{paper}_figures": ["reproduce", paper, "all", "--measured", str(MEASURED)] for paper in
       ("morphgl", "neutronorch", "gnnlab", "ducati", "a3gnn", "hanoi", "joestar", "pytorch-direct")},
    "neutronorch_super_batch": ["explore", "neutronorch/Wikipedia", "--plan", "neutronorch",
                                SET, "plan.super_batch=1:64:*2", SET, "plan.embeddings.hot_ratio=0.1,0.2,0.3"],
    "gnnlab_devices": ["explore", "neutronorch/Papers100M", "--machine", "gnnlab", "--plan", "t_sota,gnnlab",
                       SET, "plan.devices=1:8:*2", SET, f"{LINK}=12000000000"],
    "a3gnn_modes": ["explore", "neutronorch/Reddit", "--plan", "a3gnn-mode1,a3gnn-mode2",
                    SET, "plan.workers=1:32:*2"],
    "hanoi_disk": ["explore", "neutronorch/Papers100M", "--machine", "thesis-MA1",
                   "--plan", "ns-mem,ns-ext,ginex,mariusgnn,hanoi",
                   SET, "machine.disk.bandwidth_bytes_per_s=250000000:8000000000:*2"],
    "joestar_macro": ["explore", "neutronorch/Products", "--machine", "thesis-RTX",
                      "--plan", "joestar-1,joestar-2", SET, "plan.macro.partitions=8:64:*2"],
}


def write_files(gnomon, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, arguments in FILES.items():
        document = subprocess.run([gnomon, *arguments, "--json"], check=True, stdout=subprocess.PIPE).stdout
        (folder / f"{name}.json").write_bytes(document)


def missing_packages(notebook):
    """What the notebook says that it needs and this Python lacks."""
    needed = notebook.metadata.get("gnomon", {}).get("needs", [])
    return [name for name in needed if importlib.util.find_spec(name) is None]


def execute(path, save):
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    if missing := missing_packages(notebook):
        print(f"{path.name}: skipped, needs {', '.join(missing)}")
        return
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(HERE)}}).execute()
    if save:
        nbformat.write(notebook, path)
    print(f"{path.name}: {len(notebook.cells)} cells ran")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gnomon", help="the program")
    parser.add_argument("--files", type=pathlib.Path, default=HERE / "files", help="where its documents go")
    parser.add_argument("--save", action="store_true", help="keep the figures in the notebooks")
    options = parser.parse_args()
    try:
        import ipykernel  # noqa: F401
        import matplotlib  # noqa: F401
        import nbclient  # noqa: F401
        import nbformat  # noqa: F401
    except ImportError as missing:
        print(f"{missing}; install notebooks/requirements.txt", file=sys.stderr)
        return 77
    write_files(options.gnomon, options.files)
    os.environ["GNOMON_FILES"] = str(options.files.resolve())
    for path in sorted(HERE.glob("*.ipynb")):
        try:
            execute(path, options.save)
        except nbclient.exceptions.CellExecutionError as error:
            print(f"{path.name}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
