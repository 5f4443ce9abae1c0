#!/usr/bin/env python3
"""Runs PyTorch Geometric's own examples with its loaders and with gnomon's, and compares their accuracy. Writes
bench/results/python_examples.json.

    bench/python_examples.py --examples DIR [--build build/release] [--peers build/peers] [--sources DIR] [--seeds 3]
        [--names reddit,ogbn_train,…] [--output FILE]

DIR is the directory `examples` of PyG's sources. Only an example's imports, its number of workers and, in the example for several
GPUs, its devices are replaced: the data set by a graph of ../shared/data (bench/peers/example_data.py), and for gnomon the loader by
that of gnomon.pyg. The record lists these replacements. `difference` is the mean of the last test accuracies with gnomon's loader
minus that with PyG's, `standard_error` its standard error."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import origin, pyg_environment, pyg_lib, write_record  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DATA = {
    "from torch_geometric.datasets import": "from example_data import",
    "from ogb.nodeproppred import": "from example_data import",
    "'num_workers': 6, 'persistent_workers': True": "'num_workers': 0",  # these graphs are small
}
LOADER = {"from torch_geometric.loader import": "from gnomon.pyg import"}
# Two processes without a GPU, which average by summing, on a graph whose batches are small.
TWO_PROCESSES = {
    "'nccl'": "'gloo'",
    "torch.cuda.device_count()": "2",
    "data = data.to(rank, 'x', 'y')": "data = data",
    ".to(rank)": "",
    "device=rank": "device='cpu'",
    ", device_ids=[rank]": "",
    "ReduceOp.AVG": "ReduceOp.SUM",
    "batch_size=1024": "batch_size=64",
    "num_workers=4": "num_workers=0",
    "persistent_workers=True": "persistent_workers=False",
}
# Data set, arguments, how the accuracy is printed and the number that stands for 1.
EXAMPLES = {
    "reddit": ("amazon_photo", [], r"Test: ([0-9.]+)", 1),
    "ogbn_train": ("amazon_photo", ["--model", "sage", "-e", "10", "--num_workers", "0"], r"Test Accuracy: ([0-9.]+)%", 100),
    "graph_sage_unsup": ("cora", [], r"Test: ([0-9.]+)", 1),
    "hierarchical_sampling": ("amazon_photo", [], None, 1),
    "multi_gpu/distributed_sampling": ("amazon_photo", [], r"Test acc: ([0-9.]+)", 2),
}
START = """
import sys, types, torch
torch.ops.load_library({library!r})
package = types.ModuleType("pyg_lib")
package.ops = types.SimpleNamespace()
package.sampler = types.SimpleNamespace(neighbor_sample=lambda edge_time=None, edge_weight=None: None)
sys.modules["pyg_lib"] = package
torch.manual_seed({seed})
"""


def store_of(options, graph):
    directory = options.peers / "example_graphs" / graph
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        command = [options.build / "bin/gnomon", "import", "auto", "--undirected", "--feature-form", "dense", ROOT / f"../shared/data/{graph}.npz", directory]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return directory


def replaced(text, replacements):
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


def run(options, name, ours, seed):
    """The last test accuracy that the example prints; None if it prints none."""
    graph, arguments, pattern, one = EXAMPLES[name]
    host = TWO_PROCESSES if name.startswith("multi_gpu/") else {}
    text = replaced((options.examples / f"{name}.py").read_text(), {**DATA, **host, **(LOADER if ours else {})})
    text = re.sub(r"(seed_everything|manual_seed)\(\d+\)", rf"\1({seed})", text)
    script = options.peers / f"{Path(name).name}_{'gnomon' if ours else 'pyg'}.py"
    script.write_text(START.format(library=str(options.library), seed=seed) + text)
    folders = [ROOT / "python", ROOT / "bench/peers"]
    env = {**os.environ, "PYTHONPATH": ":".join(map(str, folders)), "EXAMPLE_STORE": str(store_of(options, graph)),
           "GNOMON_LIBRARY": str(options.build / "python/libgnomon.so"), **({"OMP_NUM_THREADS": "1"} if host else {})}
    done = subprocess.run([options.python, "-W", "ignore", script, *arguments], check=False, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        raise SystemExit(f"{script} failed:\n{done.stderr[-3000:]}")
    found = re.findall(pattern, done.stdout) if pattern else []
    if pattern and not found:
        raise SystemExit(f"{script} printed no accuracy:\n{done.stdout[-3000:]}")
    return float(found[-1]) / one if found else None


def row_of(options, name):
    accuracies = {kind: [run(options, name, kind == "gnomon", seed) for seed in range(options.seeds)] for kind in ("pyg", "gnomon")}
    row = {"example": name, "graph": EXAMPLES[name][0], "arguments": EXAMPLES[name][1], "runs": options.seeds}
    if accuracies["pyg"][0] is None:
        return row
    row["test_accuracy"] = accuracies
    if options.seeds > 1:
        variances = [statistics.variance(each) / len(each) for each in accuracies.values()]
        row |= {"standard_error": sum(variances) ** 0.5,
                "difference": statistics.mean(accuracies["gnomon"]) - statistics.mean(accuracies["pyg"])}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), default=ROOT / "build/release")
    parser.add_argument("--peers", type=lambda text: Path(text).resolve(), default=ROOT / "build/peers")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--names", type=lambda text: text.split(","), default=list(EXAMPLES))
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/python_examples.json")
    options = parser.parse_args()
    options.python = pyg_environment(options.peers)
    subprocess.run([options.python, "-m", "pip", "install", "-q", "scikit-learn", "tqdm", "psutil"], check=True)
    options.library = pyg_lib(options.peers, options.sources, options.python)
    record = {**origin(), "replacements": {"data": DATA, "loader": LOADER, "two_processes": TWO_PROCESSES}, "rows": []}
    for name in options.names:
        record["rows"].append(row_of(options, name))
        print(json.dumps(record["rows"][-1]), file=sys.stderr, flush=True)
        write_record(options.output, record)


if __name__ == "__main__":
    main()
