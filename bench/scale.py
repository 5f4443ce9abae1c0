#!/usr/bin/env python3
"""Measures how time and memory grow with the graph: R-MAT graphs of several sizes are generated, imported, reordered, opened,
profiled, trained on and evaluated, and one is imported in less memory than it needs. Writes bench/results/scale.json.

    bench/scale.py [--build build/release] [--scales 16,18,20,22] [--limited 22] [--limit-mb 512] [--largest 25]
        [--beside 20] [--peers build/peers] [--sources DIR] [--oversubscribed 64] [--output FILE]

Each row holds the seconds and the peak of the resident memory of one process, and what it read from and wrote to the disk;
`expected_bytes` is the memory at most, as `memory_formula` spells it. `growth` fits seconds and bytes of each step to a power of the number of edges. The limited import runs in a memory control
group (version 1), which needs the rights to make one; its row has the group's limit and the sizes of source and store.
The largest graph (none by default) is profiled, planned, trained on and evaluated with a narrower model.

`inference` (of the graph of scale --beside) compares a model of three layers of 256 with the layer-wise inference of PyG and DGL:
ours is the whole process of `gnomon evaluate`, reading the store included, theirs only the second of two inferences. Of PyG,
`pyg` is BasicGNN.inference and `pyg-full` the model on one sparse matrix.

`oversubscribed` holds what threads cost beside their work when there are many more of them than cores (bench/oversubscribed.cpp),
and what the simulator predicts for a machine of as many cores from this one's profile.
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
JOB = ["--fanouts", "10,10", "--hidden", "64"]


def numbers(path):
    """The elements of a one-dimensional .npy of int64, or of uint32 as int64."""
    with open(path, "rb") as file:
        header = file.read(10)
        description = file.read(int.from_bytes(header[8:10], "little"))
        data = array.array("I" if b"<u4" in description else "q")
        data.frombytes(file.read())
    return array.array("q", data)


def destinations(indptr):
    """The row of each edge, in blocks."""
    block = array.array("q")
    for vertex in range(len(indptr) - 1):
        block.extend(array.array("q", [vertex]) * (indptr[vertex + 1] - indptr[vertex]))
        if len(block) > 1 << 20:
            yield block
            block = array.array("q")
    yield block


def write_npz(store, path):
    """The store's edges as PyG's edge_index (2, edges), not compressed."""
    indptr = numbers(store / "indptr.npy")
    edges = indptr[-1]
    text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': (2, {edges}), }}"
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + (text.ljust(117) + "\n").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        with archive.open("edge_index.npy", "w", force_zip64=True) as file:
            file.write(header)
            file.write(numbers(store / "indices.npy"))
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
        self.step("generate", "generate", "rmat", self.store, "--scale", self.scale, "--feature-columns", COLUMNS,
                  "--train-share", share, "--valid-share", share)
        self.edges = numbers(self.store / "indptr.npy")[-1]

    def convert(self, text):
        write_npz(self.store, self.work / "edges.npz")
        self.imported("import npz", self.work / "edges.npz")
        self.imported("import npz by degree", self.work / "edges.npz", "--reorder", "degree")
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
        subprocess.run(["rm", "-r", destination], check=True)

    def use(self, job=JOB):
        profile, plan = self.work / "profile.json", self.work / "plan.json"
        self.step("open", "info", self.store, "--json")
        self.note_expected("16 bytes a vertex (row pointers, and degrees to be sorted), and 50 MB of program", 16 * (1 << self.scale) + 50e6)
        self.step("profile", "profile", self.store, *job, "-o", profile)
        memory = json.loads(self.step("tune", "tune", profile, "-o", plan, "--json"))["candidates"][0]["prediction"]["memory"]
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
        """Inference over all vertices beside the layer-wise inference of PyG and DGL; the fastest of two runs each."""
        job = ["--fanouts", "10,10,10", "--hidden", 256, "--batch-size", 1024]
        trained = self.work / "trained"
        run([self.gnomon, "train", self.store, *job, "--plan", "device", "--epochs", 1, "--run", trained, "--evaluate-every",
             "never", "--json"])
        ours = [run([self.gnomon, "evaluate", trained, "--json"])[0] for _ in range(2)]
        rows = [{"peer": "gnomon"} | {key: min(each[key] for each in ours) for key in ("seconds", "peak_bytes")}]
        dgl, pyg = dgl_environment(options.peers), pyg_environment(options.peers)
        library = pyg_lib(options.peers, options.sources, pyg)
        for peer, python in [("pyg", pyg), ("pyg-full", pyg), ("dgl", dgl)]:
            command = [python, ROOT / "bench/peers/inference.py", peer, self.store, "--hidden", 256, "--layers", 3, "--threads",
                       len(os.sched_getaffinity(0)), "--pyg-lib", library]
            answer = json.loads(run(command)[1])
            rows.append({"peer": peer} | answer | {"ours_times_as_fast": answer["seconds"] / rows[0]["seconds"]})
        for row in rows:
            print(f"2^{self.scale} inference by {row['peer']}: {row['seconds']:.2f} s, {row['peak_bytes'] / 1e6:.0f} MB", file=sys.stderr)
        layer_bytes = (1 << self.scale) * 256 * 4
        return {"scale": self.scale, "vertices": 1 << self.scale, "edges": self.edges, "one_layers_bytes": layer_bytes, "rows": rows}

    def note_expected(self, formula, expected):
        self.rows[-1] |= {"memory_formula": formula, "expected_bytes": expected}

    def note_expected_of_training(self, memory, evaluates):
        """`memory` is what tune predicts for the plan, the program's own included."""
        files = sum(file.stat().st_size for file in self.store.iterdir())
        expected = sum(memory["host"].values()) + files + (memory.get("evaluation_bytes", 0) if evaluates else 0)
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
    parser.add_argument("--text-up-to", type=int, default=20, help="the largest scale that is written as text, which takes a while")
    parser.add_argument("--limited", type=int, default=22)
    parser.add_argument("--limit-mb", type=int, default=512)
    parser.add_argument("--largest", type=int)
    parser.add_argument("--beside", type=int, default=20, help="the scale of the graph of `inference`; 0: none")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--sources", type=Path, help="a folder with checkouts of the peers' repositories")
    parser.add_argument("--oversubscribed", type=int, default=64, help="workers and threads; 0: leave it out")
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
        graph.use(["--fanouts", "10,10", "--hidden", "32"])
        keep(options, rows, graph, parts, largest=True)


if __name__ == "__main__":
    main()
