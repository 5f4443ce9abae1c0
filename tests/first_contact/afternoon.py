#!/usr/bin/env python3
"""A new user's first afternoon with gnomon on real graphs, from import to trained models, by the command line alone.

    tests/first_contact/afternoon.py PROGRAM DATA [--write]

PROGRAM is bin/gnomon, DATA the folder of graphs; without it the script ends with code 77 (skipped). Every step says what it
expects; the first that fails ends the script with code 1. Wrong uses are compared with messages.txt beside this file, which
--write writes anew, to be read by a person before it is committed.
"""

import array
import ast
import gzip
import json
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

MESSAGES = Path(__file__).with_name("messages.txt")
QUICK = ["--time-limit", "1"]
JOB = ["--fanouts", "10,10", "--hidden", "32", "--learning-rate", "0.01"]


class Afternoon:
    """Runs commands in a folder of its own, where data/ leads to the graphs."""

    def __init__(self, program, data, folder):
        self.program = program
        self.folder = folder
        (folder / "data").symlink_to(data)

    def run(self, *arguments):
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ok(self, *arguments):
        done = self.run(*arguments)
        expect(done.returncode == 0, f"gnomon {' '.join(map(str, arguments))} ends with {done.returncode}: {done.stderr}")
        return done.stdout

    def json(self, *arguments):
        return json.loads(self.ok(*arguments, "--json"))

    def write(self, name, text):
        (self.folder / name).write_text(text)


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}", file=sys.stderr)
        sys.exit(1)


def read_npy(path):
    """The values of an .npy file, and their shape, without NumPy."""
    content = path.read_bytes()
    length = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10 : 10 + length].decode())
    kinds = {"<i8": "q", "<i4": "i", "|i1": "b", "<u1": "B", "<f4": "f"}
    return array.array(kinds[header["descr"]], content[10 + length :]), header["shape"]


def npy(kind, shape, values):
    """A .npy file's content. `kind` is its descr."""
    header = repr({"descr": kind, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    codes = {"<i8": "q", "<f4": "f", "<i4": "i", "|b1": "b"}
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array(codes[kind], values).tobytes()


def imports(day):
    """Every form in which people have graphs."""
    cora = day.json("import", "npz", "data/cora.npz", "cora", "--undirected")
    expect(cora["vertices"] == 2708 and cora["edges"] == 10556, f"Cora has 2,708 vertices and 10,556 edges: {cora}")
    for name in ["amazon_photo", "coauthor_cs", "tolokers", "minesweeper"]:
        day.ok("import", "auto", f"data/{name}.npz", name, "--undirected")
    day.ok("import", "edges", "data/soc-Slashdot0902.txt.gz", "slashdot", "--relabel", "--undirected", "--random-features", 16,
           "--random-classes", 4)
    day.write("people.csv", "\ufeffsource,target\r\n\"ann\",\"bob\"\r\n\"bob\",\"cy\"\r\n\"cy\",\"ann\"\r\n")
    people = day.json("import", "edges", "people.csv", "people", "--relabel", "--random-features", 4, "--random-classes", 2)
    expect(people["vertices"] == 3 and people["edges"] == 3, f"three names, three edges: {people}")
    with gzip.open(day.folder / "floats.txt.gz", "wt") as stream:
        stream.write("# id id weight\n0.0 1.0 2.5\n1.0 2.0 1\n1.0 2.0 3\n")
    floats = day.json("import", "edges", "floats.txt.gz", "floats", "--edge-weights", "given", "--duplicates", "sum")
    expect(floats["edges"] == 2, f"duplicates are summed: {floats}")
    day.write("small.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
    day.ok("import", "mtx", "small.mtx", "small")
    with zipfile.ZipFile(day.folder / "pyg.npz", "w") as archive:
        archive.writestr("edge_index.npy", npy("<i8", (2, 3), [0, 1, 2, 1, 2, 0]))
        archive.writestr("x.npy", npy("<f4", (3, 2), [1, 0, 0, 1, 1, 1]))
        archive.writestr("y.npy", npy("<i8", (3,), [0, 1, 0]))
        archive.writestr("train_mask.npy", npy("|b1", (3,), [1, 0, 0]))
        archive.writestr("val_mask.npy", npy("|b1", (3,), [0, 1, 0]))
        archive.writestr("test_mask.npy", npy("|b1", (3,), [0, 0, 1]))
    day.ok("import", "npz", "pyg.npz", "pyg")
    day.ok("info", "pyg", "--check")


def plan(day):
    """Profile, what-if, search."""
    day.ok("profile", "amazon_photo", *JOB, "--time-limit", 5, "-o", "photo.json")
    rows = day.json("explore", "photo.json", "--plan", "device,gnomon,salient", "--set", "machine.cpu.cores=2,4")
    expect(len(rows["rows"]) == 6, "explore: three plans on two machines")
    tuned = day.ok("tune", "photo.json", "-o", "plan.json")
    expect("plan.json" in tuned and (day.folder / "plan.json").exists(), "tune writes the plan and says where")
    day.ok("tune", "photo.json", "--simulated", "--allow-approximate", "-o", "any.json")
    compared = day.json("validate", "amazon_photo", "photo.json", "--plans", "device,gnomon,salient", "--epochs", 3)
    for row in compared["plans"]:
        ratio = row["predicted_bytes"] / row["measured_bytes"]
        expect(0.8 < ratio < 1.6, f"predicted memory of {row['plan']['name']} is {ratio:.2f} of the measured")
        # What other programs take of the machine meanwhile is no fault of the prediction.
        ratio = row["predicted_s"] / min(row["epochs_s"])
        expect(0.2 < ratio < 5, f"predicted epoch of {row['plan']['name']} is {ratio:.2f} of the fastest measured: {row}")


def accuracy_of(day, store, predictions):
    """The share of the test vertices whose predicted class is the label, from the files alone."""
    lines = [line.split(",") for line in (day.folder / predictions).read_text().split("\n")[1:] if line]
    return share_of_right(day, store, {int(vertex): int(predicted) for vertex, predicted, *_ in lines})


def share_of_right(day, store, predicted):
    labels, _ = read_npy(day.folder / store / "labels.npy")
    test, _ = read_npy(day.folder / store / "test.npy")
    return sum(predicted[vertex] == labels[vertex] for vertex in test) / len(test)


def train(day):
    """Three models; what is reported is what the predictions say."""
    majority = 0.319  # the share of Cora's largest class in the test set
    for model in ["gcn", "sage", "gat"]:
        options = ["--model", model, *JOB, "--weight-decay", "5e-4", "--epochs", 30, "--run", f"run-{model}"]
        report = day.json("train", "cora", *options, "--predictions", f"{model}.csv")
        reported = report["test_accuracy"]
        expect(reported > majority + 0.35, f"{model} reaches {reported:.3f} on Cora")
        counted = accuracy_of(day, "cora", f"{model}.csv")
        expect(abs(counted - reported) < 1e-9, f"{model}: {counted} by the predictions, {reported} reported")


def look_back(day):
    """What finished runs tell: evaluated again, as logits and embeddings, from the exported weights, side by side."""
    reported = json.loads((day.folder / "run-sage" / "report.json").read_text())["test_accuracy"]
    for weights in [[], ["--weights", "run-sage/weights.safetensors"]]:
        evaluated = day.json("evaluate", "run-sage", "cora", *weights, "--metrics", "accuracy,f1_micro")["test"]["metrics"]
        expect(abs(evaluated["accuracy"] - reported) < 1e-9, f"evaluate {weights}: {evaluated}, {reported} reported")
        expect(abs(evaluated["f1_micro"] - reported) < 1e-9, f"one class a vertex: micro F1 is the accuracy: {evaluated}")
    day.ok("predict", "run-sage", "--logits", "logits.npy", "--embeddings", "embeddings.npy")
    logits, (vertices, classes) = read_npy(day.folder / "logits.npy")
    rows = [logits[vertex * classes : (vertex + 1) * classes] for vertex in range(vertices)]
    counted = share_of_right(day, "cora", {vertex: row.index(max(row)) for vertex, row in enumerate(rows)})
    expect(abs(counted - reported) < 1e-9, f"{counted} by the logits, {reported} reported")
    expect(read_npy(day.folder / "embeddings.npy")[1] == (2708, 32), "an embedding of 32 numbers for each paper")
    compared = day.ok("runs", "run-gcn", "run-sage", "run-gat")
    expect(all(f"run-{model}" in compared for model in ["gcn", "sage", "gat"]), f"runs compares the three: {compared}")


def weights_hash(day, run):
    return json.loads((day.folder / run / "report.json").read_text())["weights_hash"]


def interrupt(day):
    """Ctrl-C in the middle of a training, and on with it: the same weights."""
    options = ["train", "coauthor_cs", "--fanouts", "5,5", "--hidden", "32", "--epochs", "10", "--batch-size", "512"]
    day.ok(*options, "--run", "whole")
    process = subprocess.Popen([day.program, *options, "--run", "cut"], cwd=day.folder, stderr=subprocess.PIPE, text=True)
    log = day.folder / "cut" / "log.jsonl"
    while process.poll() is None and not (log.exists() and log.stat().st_size > 0):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    expect(process.returncode == 1 and "resume" in errors, f"Ctrl-C ends with code 1 and says how to go on: {errors}")
    day.ok(*options, "--run", "cut", "--resume")
    expect(weights_hash(day, "cut") == weights_hash(day, "whole"), "an interrupted training ends with the same bits")


def autotune(day):
    day.ok("autotune", "amazon_photo", *JOB, *QUICK, "--epochs", 3, "--run", "auto")
    expect((day.folder / "auto" / "report.json").exists(), "autotune trains and leaves a report")


WRONG_USES = [
    "import npz data/cora.npz cora",
    "import npz data/missing.npz x",
    "import npz data/README.md x",
    "import npz data/cora.npz x --features xnan.npy --labels y.npy --relabel",
    "import mtx small.mtx x --relabel",
    "import edges empty.txt x",
    "import edges data/ego-twitter.txt.gz x --split given",
    "import nonsense data/cora.npz x",
    "train data/cora.npz",
    "train missing",
    "train cora --fanouts 0",
    "train cora --plan missing.json",
    "train cora --plan ducati",
    "train cora --fanouts 10,10 --run run-gcn",
    "train cora --fanouts 10,10 --run data",
    "train cora --fanouts 10,10 --predictions missing/p.csv",
    "train cora --fanouts 5,5 --run run-gcn --resume",
    "profile cora -o missing/p.json",
    "profile small",
    "tune missing.json",
    "tune photo.json -o missing/plan.json",
    "tune cora/meta.json",
    "explore photo.json --plan device --set machine.cpu.core=4",
    "explore photo.json --plan none",
    "validate cora photo.json",
    "evaluate missing",
    "evaluate run-gcn tolokers",
    "evaluate run-gcn --metrics acuracy",
    "evaluate run-gcn --weights photo.json",
    "predict run-gcn",
    "predict cora -o classes.csv",
    "predict run-gcn --logits missing/logits.npy",
    "runs data",
    "nonsense",
]


def wrong_uses(day, write):
    """Each is refused with code 2 in one line, word for word."""
    day.write("empty.txt", "# nothing\n")
    texts = []
    for use in WRONG_USES:
        done = day.run(*use.split())
        lines = done.stderr.splitlines()
        expect(done.returncode == 2, f"gnomon {use} ends with {done.returncode}: {done.stderr}")
        expect(len(lines) == 1, f"gnomon {use} says one line: {done.stderr}")
        texts.append(f"$ gnomon {use}\n{lines[0]}\n")
    text = "\n".join(texts)
    if write:
        MESSAGES.write_text(text)
    expect(MESSAGES.read_text() == text, f"messages differ from {MESSAGES.name}; read them and run with --write:\n{text}")


def main():
    program, data = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    if not (data / "cora.npz").exists():
        print(f"skipped: no graphs in {data}")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="gnomon-afternoon-") as folder:
        day = Afternoon(program, data, Path(folder))
        for step in [imports, plan, train, look_back, interrupt, autotune]:
            begin = time.monotonic()
            step(day)
            print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        wrong_uses(day, "--write" in sys.argv[3:])


main()
