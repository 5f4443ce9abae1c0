#!/usr/bin/env python3
"""Measures how time and memory grow with the graph: R-MAT graphs of several sizes are generated, imported, reordered, opened,
profiled, trained on and evaluated, and one is imported in less memory than it needs. Writes bench/results/scale.json.

    bench/scale.py [--build build/release] [--scales 16,18,20,22] [--limited 22] [--limit-mb 512] [--largest 25]
        [--beside 20] [--peers build/peers] [--sources DIR] [--before BUILD] [--oversubscribed 64] [--output FILE]

Each row holds the time, the peak resident memory and the disk traffic of one process; `expected_bytes` is the upper bound of the
memory by `memory_formula`. `growth` fits a power of the number of edges to the seconds and bytes of each step. The limited import
runs in a memory control group (version 1), which requires the permission to make one; its row has the group's limit and the sizes of
source and store. The largest graph (none by default) is imported, profiled, planned, trained on and evaluated with a narrower model.

`inference` (on a graph of scale --beside with 128 columns) compares a model of three layers of 256 with the layer-wise inference of
PyG and DGL: gnomon's time is that of a whole process of `gnomon evaluate`, including reading the store; theirs is that of the second
of two inferences. For PyG, `pyg` is BasicGNN.inference and `pyg-full` the model on one sparse matrix. `floor` is the minimum time to
compute and read the data of such an inference, and `evaluation_s` that of evaluating the validation split during a training.

`oversubscribed` holds the overhead of many more threads than cores (bench/oversubscribed.cpp), and the simulator's prediction, from
this machine's profile, for a machine with as many cores as threads.
"""

import argparse
import array
import json
import math
import os
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/peers")]
from harness import dgl_environment, origin, pyg_environment, pyg_lib, write_record  # noqa: E402
from limited import limited_group, run  # noqa: E402

COLUMNS = 16
EDGE_FACTOR = 16  # edges a vertex that are drawn
HIDDEN, LAYERS = 256, 3  # of inference
JOB = ["--fanouts", "10,10", "--hidden", "64"]


BLOCK = 1 << 20  # elements that are converted together


def blocks_of(path):
    """The elements of a one-dimensional .npy of int64 or uint32, block by block, as int64."""
    with open(path, "rb") as file:
        header = file.read(10)
        kind = "I" if b"<u4" in file.read(int.from_bytes(header[8:10], "little")) else "q"
        while data := file.read(BLOCK * (4 if kind == "I" else 8)):
            block = array.array(kind)
            block.frombytes(data)
            yield array.array("q", block)


def numbers(path):
    """All of them."""
    everything = array.array("q")
    for block in blocks_of(path):
        everything.extend(block)
    return everything


def destinations(indptr):
    """The row of each edge, in blocks."""
    block = array.array("q")
    for vertex in range(len(indptr) - 1):
        block.extend(array.array("q", [vertex]) * (indptr[vertex + 1] - indptr[vertex]))
        if len(block) > BLOCK:
            yield block
            block = array.array("q")
    yield block


def write_npz(store, path):
    """The store's edges as PyG's edge_index (2, edges), not compressed."""
    indptr = numbers(store / "indptr.npy")
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': (2, {indptr[-1]}), }}"
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + (text.ljust(117) + "\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("edge_index.npy", "w", force_zip64=True) as file:
            file.write(header)
            for block in blocks_of(store / "indices.npy"):
                file.write(block)
            for block in destinations(indptr):
                file.write(block)


def write_text(store, path):
    sources = numbers(store / "indices.npy")
    begin = 0
    with open(path, "w") as file:
        for block in destinations(numbers(store / "indptr.npy")):
            part = sources[begin:begin + len(block)]
            file.write("".join(f"{source} {destination}\n" for source, destination in zip(part, block)))
            begin += len(block)


def trained_s(gnomon, store, run_directory):
    """Trains a model of `inference` for two epochs; the seconds of the faster evaluation of the validation split."""
    report = json.loads(run([gnomon, "train", store, "--fanouts", ",".join(["10"] * LAYERS), "--hidden", HIDDEN, "--batch-size", 1024,
                             "--plan", "device", "--epochs", 2, "--run", run_directory, "--json"])[1])
    return min(epoch["evaluation_s"] for epoch in report["epochs"])


class Scale:
    """The steps on one graph."""

    def __init__(self, options, scale):
        self.gnomon = options.build / "bin/gnomon"
        self.work = ROOT / "build/scale" / str(scale)
        self.scale = scale
        subprocess.run(["rm", "-rf", self.work], check=True)
        self.work.mkdir(parents=True)
        self.rows = []

    def step(self, what, *arguments, group=None, **more):
        facts, printed = run([self.gnomon, *arguments], group)
        print(f"2^{self.scale} {what}: {facts['seconds']:.2f} s, {facts['peak_bytes'] / 1e6:.0f} MB", file=sys.stderr)
        self.rows.append({"what": what, "scale": self.scale} | facts | more)
        return printed

    def generate(self, share=0.02):
        self.store = self.work / "rmat"
        self.step("generate", "generate", "rmat", self.store, "--scale", self.scale, "--edge-factor", EDGE_FACTOR, "--feature-columns",
                  COLUMNS, "--train-share", share, "--valid-share", share)
        self.edges = json.loads((self.store / "meta.json").read_text())["num_edges"]
        edges = 2 * EDGE_FACTOR << self.scale
        self.note_expected("16 bytes for each edge and direction that was drawn (8 in buckets, 4 in the store, 4 to spare), 96 bytes a "
                           "vertex, and 60 MB of program", 16 * edges + 96 * (1 << self.scale) + 60e6)

    def convert(self, text=False, orders=("degree",)):
        write_npz(self.store, self.work / "edges.npz")
        self.imported("import npz", self.work / "edges.npz")
        for order in orders:
            self.imported(f"import npz by {order}", self.work / "edges.npz", "--reorder", order)
        (self.work / "edges.npz").unlink()
        if text:
            write_text(self.store, self.work / "edges.txt")
            self.imported("import text", self.work / "edges.txt")
            (self.work / "edges.txt").unlink()

    def imported(self, what, source, *options, **more):
        destination = self.work / "imported"
        kind = "npz" if source.suffix == ".npz" else "edges"
        self.step(what, "import", kind, source, destination, *options, source_bytes=source.stat().st_size, **more)
        self.rows[-1]["store_bytes"] = sum(file.stat().st_size for file in destination.iterdir())
        if "limit_bytes" in more:
            self.note_expected("the control group's limit", more["limit_bytes"])
        elif "--reorder" in options:
            self.note_expected("27 bytes an edge (8 in buckets, 4 in each of two stores, 4 in rows that are sorted, a third to spare), 128 "
                               "bytes a vertex, and 60 MB of program", 27 * self.edges + 128 * (1 << self.scale) + 60e6)
        else:
            self.note_expected("16 bytes an edge (8 in buckets, 4 in the store, 4 to spare), 96 bytes a vertex, and 60 MB of program",
                               16 * self.edges + 96 * (1 << self.scale) + 60e6)
        subprocess.run(["rm", "-r", destination], check=True)

    def use(self, job=JOB):
        profile, plan = self.work / "profile.json", self.work / "plan.json"
        self.step("open", "info", self.store, "--json")
        self.note_expected("16 bytes a vertex (row pointers, and degrees to be sorted), and 50 MB of program",
                           16 * (1 << self.scale) + 50e6)
        self.step("profile", "profile", "--all", self.store, *job, "-o", profile)
        self.note_expected("1.3 times the store's files, and 1.3 GB for the machine's own speeds, mini-batches and the program",
                           1.3 * self.store_bytes() + 1.3e9)
        memory = json.loads(self.step("tune", "tune", profile, "-o", plan, "--json"))["candidates"][0]["prediction"]["memory"]
        self.note_expected("80 MB of program", 80e6)
        train = [self.store, *job, "--plan", plan, "--epochs", 1, "--run", self.work / "run", "--overwrite", "--json"]
        report = json.loads(self.step("train", "train", *train, "--evaluate-every", "never"))
        self.rows[-1]["epoch_s"] = report["epochs"][-1]["epoch_s"]
        self.note_expected_of_training(memory, evaluates=False)
        report = json.loads(self.step("train and evaluate", "train", *train))
        self.rows[-1]["evaluation_s"] = report["epochs"][-1]["evaluation_s"]
        self.note_expected_of_training(memory, evaluates=True)

    def limited(self, limit):
        write_npz(self.store, self.work / "edges.npz")
        with limited_group(limit) as group:
            self.imported("import npz in a control group", self.work / "edges.npz", "--host-memory", limit // 2, group=group,
                          limit_bytes=limit)
    def inference(self, options):
        """Inference over all vertices beside the layer-wise inference of PyG and DGL; the fastest of two runs each. Then the
        evaluation of a training, beside that of an earlier version if there is one."""
        store = self.work / "wide"
        run([self.gnomon, "generate", "rmat", store, "--scale", self.scale])
        trained = self.work / "trained"
        evaluation_s = trained_s(self.gnomon, store, trained)
        ours = [run([self.gnomon, "evaluate", trained, "--json"])[0] for _ in range(2)]
        rows = [{"peer": "gnomon"} | {key: min(each[key] for each in ours) for key in ("seconds", "peak_bytes")}]
        dgl, pyg = dgl_environment(options.peers), pyg_environment(options.peers)
        library = pyg_lib(options.peers, options.sources, pyg)
        for peer, python in [("pyg", pyg), ("pyg-full", pyg), ("dgl", dgl)]:
            command = [python, ROOT / "bench/peers/inference.py", peer, store, "--hidden", HIDDEN, "--layers", LAYERS, "--threads",
                       len(os.sched_getaffinity(0)), "--pyg-lib", library]
            answer = json.loads(run(command)[1])
            rows.append({"peer": peer} | answer | {"ours_times_as_fast": answer["seconds"] / rows[0]["seconds"]})
        for row in rows:
            print(f"2^{self.scale} inference by {row['peer']}: {row['seconds']:.2f} s, {row['peak_bytes'] / 1e6:.0f} MB", file=sys.stderr)
        meta = json.loads((store / "meta.json").read_text())
        part = {"scale": self.scale, "vertices": meta["num_vertices"], "edges": meta["num_edges"],
                "feature_columns": meta["feature_columns"], "one_layers_bytes": meta["num_vertices"] * HIDDEN * 4, "rows": rows,
                "floor": self.floor_of_inference(meta), "evaluation_s": evaluation_s}
        if options.before:
            part["before"] = self.evaluation_before(options.before, evaluation_s)
        return part

    def floor_of_inference(self, meta):
        """What has to be computed and read, and the time that it takes at the rates that `gnomon machine` measures: of GEMMs as wide
        as the layers and of gathers of rows from the largest set of huge pages, on all cores."""
        cores = len(os.sched_getaffinity(0))
        run([self.gnomon, "machine", "-o", self.work / "machine.json", "--time-limit", 60])
        speeds = json.loads((self.work / "machine.json").read_text())["speeds"]["speeds"]
        rates = {work: max((speed["size"], speed["per_s"]) for speed in speeds if speed["work"] == work and speed["threads"] == cores)[1]
                 for work in ("dense_fp32", "huge_page_rows")}
        widths = [meta["feature_columns"]] + [HIDDEN] * (LAYERS - 1) + [meta["num_classes"]]
        layers = list(zip(widths, widths[1:]))
        flops = sum(2 * meta["num_vertices"] * 2 * into * out for into, out in layers)
        row_bytes = sum(4 * meta["num_edges"] * min(layer) for layer in layers)
        return {"flops": flops, "gathered_bytes": row_bytes, "flops_per_s": rates["dense_fp32"],
                "gathered_bytes_per_s": rates["huge_page_rows"],
                "seconds": flops / rates["dense_fp32"] + row_bytes / rates["huge_page_rows"]}

    def evaluation_before(self, build, evaluation_s):
        gnomon = build.resolve() / "bin/gnomon"
        store = self.work / "before"
        run([gnomon, "generate", "rmat", store, "--scale", self.scale])
        before_s = trained_s(gnomon, store, self.work / "trained-before")
        commit = subprocess.run([gnomon, "--version"], capture_output=True, text=True).stdout.strip()
        return {"version": commit, "evaluation_s": before_s, "times_as_fast": before_s / evaluation_s}

    def store_bytes(self):
        return sum(file.stat().st_size for file in self.store.iterdir())

    def note_expected(self, formula, expected):
        self.rows[-1] |= {"memory_formula": formula, "expected_bytes": expected}

    def note_expected_of_training(self, memory, evaluates):
        """`memory` is what tune predicts for the plan, the program's own included."""
        expected = sum(memory["host"].values()) + self.store_bytes() + (memory.get("evaluation_bytes", 0) if evaluates else 0)
        self.note_expected("tune's memory.host" + (" and memory.evaluation_bytes" if evaluates else "") + ", and the store's files, mapped",
                           expected)


def oversubscribed(options):
    """What threads beyond the cores cost, and what is predicted for as many cores."""
    count = options.oversubscribed
    facts, printed = run([options.build / "bench/oversubscribed", count, count])
    record = json.loads(printed)
    work = ROOT / "build/scale/oversubscribed"
    subprocess.run(["rm", "-rf", work], check=True)
    gnomon = options.build / "bin/gnomon"
    run([gnomon, "generate", "rmat", work / "rmat", "--scale", 18])
    run([gnomon, "profile", work / "rmat", "-o", work / "profile.json", "--fanouts", "15,10,5", "--hidden", 256])
    rows = json.loads(run([gnomon, "explore", work / "profile.json", "--plan", "device,dgl,gnomon", "--set",
                           f"machine.cpu.cores={len(os.sched_getaffinity(0))},{count}", "--json"])[1])["rows"]
    subprocess.run(["rm", "-r", work], check=True)
    return record | {"peak_bytes": facts["peak_bytes"], "predicted": rows}


def growth(rows):
    """The exponents of seconds and bytes as powers of the number of edges, by least squares over the logarithms."""
    def slope(points):
        xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
        mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
        return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)
    steps = {}
    for row in rows:
        if "limit_bytes" not in row and "largest" not in row:
            steps.setdefault(row["what"], []).append(row)
    return [
        {"what": what, "seconds": slope([(r["edges"], r["seconds"]) for r in each]),
         "peak_bytes": slope([(r["edges"], r["peak_bytes"]) for r in each])}
        for what, each in steps.items() if len(each) > 2
    ]


def keep(options, rows, graph, parts, **more):
    """Adds the rows of a graph to the record, and removes its files."""
    rows += [row | {"vertices": 1 << graph.scale, "edges": graph.edges} | more for row in graph.rows]
    subprocess.run(["rm", "-r", graph.work], check=True)
    write_record(options.output, {"schema": "gnomon.scale/1", **origin(), "rows": rows, "growth": growth(rows), **parts})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--scales", default="16,18,20,22")
    parser.add_argument("--text-up-to", type=int, default=20, help="largest scale to write as text (slow)")
    parser.add_argument("--limited", type=int, default=22)
    parser.add_argument("--limit-mb", type=int, default=512)
    parser.add_argument("--largest", type=int)
    parser.add_argument("--beside", type=int, default=20, help="scale of the graph for `inference`; 0: skip it")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--sources", type=Path, help="directory with checkouts of the peers' repositories")
    parser.add_argument("--before", type=Path, help="also measure the evaluation of this build of an earlier version")
    parser.add_argument("--oversubscribed", type=int, default=64, help="number of workers and threads; 0: skip it")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/scale.json")
    options = parser.parse_args()
    options.build = options.build.resolve()
    rows = []
    parts = {"oversubscribed": oversubscribed(options)} if options.oversubscribed else {}
    for scale in map(int, options.scales.split(",")):
        graph = Scale(options, scale)
        graph.generate()
        graph.convert(text=scale <= options.text_up_to)
        graph.use()
        if scale == options.limited:
            graph.limited(options.limit_mb << 20)
        if scale == options.beside:
            parts["inference"] = graph.inference(options)
        keep(options, rows, graph, parts)
    if options.largest:
        graph = Scale(options, options.largest)
        graph.generate(share=0.002)
        graph.convert(orders=())
        graph.use(["--fanouts", "10,10", "--hidden", "32"])
        keep(options, rows, graph, parts, largest=True)


if __name__ == "__main__":
    main()
