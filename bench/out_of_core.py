#!/usr/bin/env python3
"""Trains on a graph whose features and topology are several times the memory limit, and compares the disk's use with its
capability. Writes bench/results/out_of_core.json.

    bench/out_of_core.py [--build build/release] [--scale 25] [--memory-scale 23] [--peer-scale 23] [--times 4] [--rounds 5]
        [--accuracy amazon_cs,…] [--peer-python FILE] [--sources DIR] [--other-peers FILE] [--output FILE]

The graph is R-MAT of 2^scale vertices with 128 columns of fp16. Plans that read the disk run in a memory control group (version 1,
which needs the rights to make one), page cache included, and are given nine tenths of it as --host-memory: ns-ext of the graph's size
over `--times`, ginex, which keeps the topology in memory, of the topology and half the features. ns-ext-presample is ns-ext whose cache
holds the rows that presampling uses most, instead of the rows and lists that were used last. `ns-mem` runs without a limit. All
train in the order of the indices, so that exact plans end with the same bits. mariusgnn reads macro-batches of 2 of 32 parts, hanoi of
2 of 128 beside a thousandth of the vertices as hubs, whose lists stay in memory; two macro-batches are there at a time. They read
copies of the graph that are ordered by part (`--max-load 1.1` for hanoi's), in the memory that ns-ext has.

joestar-1 and joestar-2 train from a graph in host memory, of 2^--memory-scale vertices, without a limit, beside ns-mem on that graph:
joestar-2's historical embeddings of the large one would take as much memory as its features.

Peers train a graph of 2^--peer-scale vertices, as some of them keep copies several times as large, beside our plans on that graph.

A shared disk's rates change from minute to minute. Plans that read it train --rounds times; the disk's rates are measured before, between
and after them by gnomon's reader (build/release/bench/bench_disk, at random places of the features that the plan reads). The round with
the median epoch counts, and the median rates are what its reads are held against and its prediction takes.

Rows: the `value` of `what` on `graph`, its reference `of`, and their `ratio`.

- sequential_read, random_read: bytes and reads per second of gnomon's reader beside as many threads that call pread, at the same block size
  and queue depth (build/release/bench/bench_disk).
- epoch: seconds beside those of ns-mem; the last epoch of EPOCHS: the second where caches keep what was read, which is the one that is
  predicted; the fourth of ns-ext-presample, as presampling knows the first two.
- reads: reads per second of that epoch beside the disk's random reads per second.
- read_bandwidth: bytes read per second of that epoch beside the disk's sequential bandwidth.
- read_bytes: of that epoch beside the bytes of the graph.
- peak_memory: the control group's, page cache included, beside its limit.
- macro_read: bytes per second while a macro-batch is read and built, beside the disk's sequential bandwidth.
- predicted_vs_measured: the predicted epoch beside the measured one.
- same_bits: whether the weights equal those of ns-mem.
- peer_epoch: seconds of a peer's epoch in a group with ns-ext's limit, beside ns-mem's, with none of the graph's pages in memory at
  first; the last of --peer-epochs of its fastest setting.
  PyG is its NeighborLoader and SAGEConv on a memory-mapped feature matrix and memory-mapped lists (bench/peers/training.py), with as many
  loader processes as there are cores: a page is read while its process waits. --other-peers names a JSON file with builds of other systems
  that answer the requests of bench/peers/training.py: [{"name", "command": [words], "settings": [any JSON], "exact": whether it trains the
  mini-batches of neighbour sampling, "about": one sentence, "make": [words], "remove": a folder}]; `make`, if there, is called first, and
  the folder removed after the measurement. "{store}" and "{work}" in words are replaced by the graph's and the benchmark's folder.
  `why_not` tells why a peer, or a plan, has no epoch.
- exact_vs_fastest_peer: the epoch of the fastest peer that trains exact mini-batches beside that of the fastest exact plan in that memory.
- best_vs_fastest_peer: the epoch of the fastest of all peers beside that of the fastest of all plans in that memory.
- accuracy_points: points that a plan's test accuracy is below that of ns-mem beside the permitted ones (bench/macro_accuracy.py).
"""

import argparse
import dataclasses
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/peers")]
from harness import Peer, gnomon, origin, pyg_environment, pyg_lib, write_record  # noqa: E402
from limited import Failed, limited_group, run  # noqa: E402
from macro_accuracy import ALLOWED_POINTS, GRAPHS, accuracy_rows  # noqa: E402

JOB = ["--fanouts", "10,5", "--batch-size", "1024", "--hidden", "64", "--seed", "1"]
PLANS = ["ns-ext", "ns-ext-presample", "ginex"]
MACRO_PLANS = {"mariusgnn": {"partitioner": "random", "partitions": 32, "resident": 2},
               "hanoi": {"partitioner": "gnn_aware", "partitions": 128, "resident": 2, "hub_ratio": 0.001}}
PLANS_IN_MEMORY = ["joestar-1", "joestar-2"]
EPOCHS = {"ns-mem": 6, "ns-ext": 2, "ns-ext-presample": 4, "ginex": 2, "mariusgnn": 3, "hanoi": 3, "joestar-1": 4, "joestar-2": 4}


def row(what, plan, value, of):
    ratio = value / of if of else None
    print(f"{what} {plan}: {value:.4g} of {of:.4g}", file=sys.stderr)
    return {"what": what, "plan": plan, "value": value, "of": of, "ratio": ratio}


@dataclasses.dataclass
class DiskRates:
    """Of gnomon's reader."""

    bytes_per_s: float
    reads_per_s: float


def measure_disk(options, store, cases, seconds):
    """Benchmarks of reads from the graph's features, by name."""
    command = [options.build / "bench/bench_disk", "--benchmark_format=json", f"--benchmark_min_time={seconds}",
               f"--benchmark_filter=({cases})"]
    answer = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, cwd=options.work,
                            env=os.environ | {"GNOMON_BENCH_FILE": str((store / "features.npy").resolve())})
    return [each for each in json.loads(answer.stdout)["benchmarks"] if "items_per_second" in each]


def rates_now(options, store):
    """Of the backend that plans use."""
    runs = measure_disk(options, store, "by_reader.*(4096/depth:64/random:1|65536/depth:64/random:0)", 1)
    used = [each for each in runs if "io_uring" in each["name"]] or runs
    return DiskRates(next(each["bytes_per_second"] for each in used if "random:0" in each["name"]),
                     next(each["items_per_second"] for each in used if "random:1" in each["name"]))


def reader_rows(options, store):
    """The rates of our two backends beside the rate of plain threads."""
    rates = {}
    for each in measure_disk(options, store, "4096/depth:(8|32|64)/random:1|65536/depth:(16|64)/random:0", 2):
        who, _, case = each["name"].replace("by_reader/", "").partition("/")
        rates.setdefault(case, {})[who] = each
    rows = []
    for case, found in rates.items():
        field, what = (("items_per_second", "random_read") if "random:1" in case else ("bytes_per_second", "sequential_read"))
        for who in ("io_uring", "threads"):
            if who in found:
                rows.append(row(what, f"{who} {case.removesuffix('/real_time')}", found[who][field],
                                found["by_plain_threads"][field]))
    return rows


def make_store(options, scale):
    store = options.work / f"rmat-{scale}"
    if not store.exists():
        gnomon(options, "generate", "rmat", store, "--scale", scale, "--feature-columns", 128, "--feature-type", "fp16",
               "--classes", 16, "--train-share", options.train_share, "--valid-share", 0)
    return store


def make_parted_store(options, store, macro):
    method = macro["partitioner"]
    parted = options.work / f"{store.name}-{method}-{macro['partitions']}"
    if not parted.exists():
        gnomon(options, "partition", store, "--parts", macro["partitions"], "--method", method, "--store", parted,
               *(["--max-load", 1.1] if method == "gnn_aware" else []))
    return parted


def plan_file(options, name):
    """The preset with updates in the order of the indices, and its macro-batches as in MACRO_PLANS."""
    preset = name.removesuffix("-presample")
    plan = json.loads((ROOT / "plan/presets" / f"{preset}.json").read_text()) | {"order": "index"}
    if preset != name:
        plan["cache"] |= {"policy": "presample", "topology": False}
    if name in MACRO_PLANS:
        plan["macro"] |= MACRO_PLANS[name]
    path = options.work / f"{name}.json"
    path.write_text(json.dumps(plan))
    return path


def forget_pages(store):
    """Evicts the store's files from the page cache: what others have read would not count as a group's memory."""
    for file in store.glob("*.npy"):
        descriptor = os.open(file, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def train(options, store, name, limit=None, epochs=None):
    """The run's report and the peak of its control group."""
    command = [options.build / "bin/gnomon", "train", store, "--plan", plan_file(options, name), *JOB, "--epochs", epochs or EPOCHS[name],
               "--evaluate-every", "never", "--run", options.work / f"run-{name}", "--overwrite", "--json"]
    if not limit:
        return json.loads(run(command)[1]), None
    forget_pages(store)
    with limited_group(limit) as group:
        report = json.loads(run([*command, "--host-memory", int(limit * 0.9)], group)[1])
        return report, int((group / "memory.max_usage_in_bytes").read_text())


def train_beside_disk(options, store, name, limit):
    """train() several times: the report with the median last epoch, the highest peak, and the disk's median rates around them."""
    rates, found = [rates_now(options, store)], []
    for _ in range(options.rounds):
        report, peak = train(options, store, name, limit)
        stages = json.loads((options.work / f"run-{name}/log.jsonl").read_text().splitlines()[-1])["stages"]
        found.append((report, peak, stages))
        rates.append(rates_now(options, store))
    report, _, stages = sorted(found, key=lambda each: each[0]["epochs"][-1]["epoch_s"])[len(found) // 2]
    medians = DiskRates(*(statistics.median(getattr(each, field.name) for each in rates) for field in dataclasses.fields(DiskRates)))
    return report | {"stages": stages}, max(peak for _, peak, _ in found), medians


def predicted(options, profile, name, limit, disk=None):
    """The predicted epoch on a machine of that memory, with these rates of its disk."""
    settings = [f"machine.cpu.memory_bytes={int(limit * 0.9)}"]
    if disk:
        settings += [f"machine.disk.bandwidth_bytes_per_s={disk.bytes_per_s}", f"machine.disk.random_reads_per_s={disk.reads_per_s}"]
    rows = json.loads(gnomon(options, "explore", profile, "--plan", plan_file(options, name), "--json",
                             *(word for each in settings for word in ("--set", each))))["rows"]
    return rows[0]["epoch_s"]


def limit_of(options, store, name):
    features, topology = ((store / file).stat().st_size for file in ("features.npy", "indices.npy"))
    return int(topology + features / 2 if name == "ginex" else (topology + features) / options.times)


def macro_rows(options, store, profile, mem_s, whole):
    rows = []
    for name, macro in MACRO_PLANS.items():
        limit = limit_of(options, store, name)
        parted = make_parted_store(options, store, macro)
        try:
            report, peak, disk = train_beside_disk(options, parted, name, limit)
        except Failed as failure:
            if failure.status != 2:
                raise
            rows.append({"what": "epoch", "plan": name, "value": None, "of": mem_s, "ratio": None,
                         "why_not": f"gnomon refuses it with {int(limit * 0.9) >> 20} MiB of host memory"})
            continue
        epoch = report["epochs"][-1]
        reading = report["stages"]["group_read"]
        reading_s = reading["count"] * reading["mean_s"]
        rows += [row("epoch", name, epoch["epoch_s"], mem_s),
                 row("macro_read", name, epoch["disk_read_bytes"] / reading_s, disk.bytes_per_s),
                 row("read_bandwidth", name, epoch["disk_read_bytes"] / epoch["epoch_s"], disk.bytes_per_s),
                 row("read_bytes", name, epoch["disk_read_bytes"], whole),
                 row("peak_memory", name, peak, limit),
                 row("predicted_vs_measured", name, predicted(options, profile, name, limit, disk), epoch["epoch_s"])]
    return rows


def make_profile(options, store):
    profile = options.work / f"{store.name}.json"
    gnomon(options, "profile", "--all", store, "-o", profile, *JOB, "--time-limit", 20)
    return profile


def plan_rows(options, store, whole):
    profile = make_profile(options, store)
    in_memory, _ = train(options, store, "ns-mem")
    mem_s = in_memory["epochs"][-1]["epoch_s"]
    exact_hashes = {epochs: train(options, store, "ns-mem", epochs=epochs)[0]["weights_hash"]
                    for epochs in {EPOCHS[name] for name in PLANS}}
    rows = [row("epoch", "ns-mem", mem_s, mem_s),
            row("predicted_vs_measured", "ns-mem", predicted(options, profile, "ns-mem", 1e12), mem_s)]
    for name in PLANS:
        limit = limit_of(options, store, name)
        report, peak, disk = train_beside_disk(options, store, name, limit)
        epoch = report["epochs"][-1]
        rows += [row("epoch", name, epoch["epoch_s"], mem_s),
                 row("reads", name, epoch["disk_reads"] / epoch["epoch_s"], disk.reads_per_s),
                 row("read_bandwidth", name, epoch["disk_read_bytes"] / epoch["epoch_s"], disk.bytes_per_s),
                 row("read_bytes", name, epoch["disk_read_bytes"], whole),
                 row("peak_memory", name, peak, limit),
                 row("predicted_vs_measured", name, predicted(options, profile, name, limit, disk), epoch["epoch_s"]),
                 row("same_bits", name, int(report["weights_hash"] == exact_hashes[EPOCHS[name]]), 1)]
    return rows + macro_rows(options, store, profile, mem_s, whole)


def rows_in_memory(options, store):
    profile = make_profile(options, store)
    mem_s = train(options, store, "ns-mem")[0]["epochs"][-1]["epoch_s"]
    rows = []
    for name in ["ns-mem", *PLANS_IN_MEMORY]:
        report, _ = train(options, store, name)
        epoch_s = report["epochs"][-1]["epoch_s"]
        rows += [row("epoch", name, epoch_s, mem_s),
                 row("predicted_vs_measured", name, predicted(options, profile, name, 1e12), epoch_s)]
    return rows


@dataclasses.dataclass
class PeerSystem:
    """A system that answers the requests of bench/peers/training.py."""

    name: str
    command: list
    settings: list
    exact: bool
    about: str = ""
    make: list = dataclasses.field(default_factory=list)
    remove: str = ""


def pyg_on_mapped_files(options, store):
    python = options.peer_python or pyg_environment(options.peers)
    library = pyg_lib(options.peers, options.sources, python)
    widen = [python, ROOT / "bench/peers/widen_indices.py", store]
    command = [python, ROOT / "bench/peers/training.py", "pyg_mapped", store, library]
    return PeerSystem("PyG, mapped", command, [os.cpu_count()], True, make=widen)


def other_peers(options, store):
    systems = json.loads(options.other_peers.read_text()) if options.other_peers else []
    for system in systems:
        for field in ("command", "make"):
            system[field] = [word.format(store=store, work=options.work) for word in system.get(field, [])]
        system["remove"] = system.get("remove", "").format(store=store, work=options.work)
        yield PeerSystem(**system)


def peer_epoch_s(options, store, command, setting, limit):
    """The last epoch of a peer, and the peak of its control group; infinite if the group killed it."""
    forget_pages(store)
    words = dict(zip(JOB[::2], JOB[1::2]))
    request = {"fanouts": [int(each) for each in words["--fanouts"].split(",")], "hidden": int(words["--hidden"]), "setting": setting,
               "threads": os.cpu_count()}
    with limited_group(limit) as group:
        enter = ["/bin/sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', group, "timeout", "-k", 10, options.peer_limit_s]
        peer = Peer([str(word) for word in [*enter, *command]], os.cpu_count())
        try:
            answers = [peer.ask(request) for _ in range(options.peer_epochs)]
        except (json.JSONDecodeError, BrokenPipeError):
            return math.inf, limit
        finally:
            peer.close()
        return answers[-1]["seconds"], int((group / "memory.max_usage_in_bytes").read_text())


def rows_of_peer(options, store, system, mem_s, limit):
    """Its epoch with the fastest of its settings."""
    if system.make:
        subprocess.run(list(map(str, system.make)), check=True)
    (epoch_s, peak), setting = min(((peer_epoch_s(options, store, system.command, setting, limit), setting) for setting in system.settings),
                                   key=lambda each: each[0][0])
    if system.remove:
        shutil.rmtree(system.remove)
    if math.isinf(epoch_s):
        print(f"{system.name} was killed", file=sys.stderr)
        return [{"what": "peer_epoch", "plan": system.name, "value": None, "of": mem_s, "ratio": None, "about": system.about,
                 "why_not": f"it was ended, by the control group or after {options.peer_limit_s} s"}]
    facts = {"setting": setting, "exact": system.exact, "about": system.about}
    return [row("peer_epoch", system.name, epoch_s, mem_s) | facts, row("peak_memory", system.name, peak, limit)]


def fastest(rows, what, is_wanted):
    return min((each for each in rows if each["what"] == what and each["value"] and is_wanted(each)), key=lambda each: each["value"],
               default=None)


def peer_rows(options, store, rows):
    """Every peer in ns-ext's memory, and the fastest of our plans in the same memory beside the fastest of them."""
    limit = limit_of(options, store, "ns-ext")
    mem_s = next(each["value"] for each in rows if each["what"] == "epoch" and each["plan"] == "ns-mem")
    peers = []
    for system in [pyg_on_mapped_files(options, store), *other_peers(options, store)]:
        peers += rows_of_peer(options, store, system, mem_s, limit)
    exact = [name for name in PLANS if limit_of(options, store, name) == limit]
    pairs = {"exact_vs_fastest_peer": (fastest(rows, "epoch", lambda each: each["plan"] in exact),
                                       fastest(peers, "peer_epoch", lambda each: each["exact"])),
             "best_vs_fastest_peer": (fastest(rows, "epoch", lambda each: each["plan"] in [*exact, *MACRO_PLANS]),
                                      fastest(peers, "peer_epoch", lambda each: True))}
    return peers + [row(what, ours["plan"], peer["value"], ours["value"]) | {"peer": peer["plan"]}
                    for what, (ours, peer) in pairs.items() if peer]


def bytes_of(store):
    return sum((store / name).stat().st_size for name in ("features.npy", "indices.npy"))


def on(scale, rows):
    return [{"graph": f"R-MAT 2^{scale}"} | each for each in rows]


def rows_beside_peers(options, rows):
    """Those of the peers, and of our plans on their graph if `rows` lacks them."""
    store = make_store(options, options.peer_scale)
    if options.peer_scale == options.scale:
        return on(options.peer_scale, peer_rows(options, store, rows))
    ours = plan_rows(options, store, bytes_of(store))
    return on(options.peer_scale, ours + peer_rows(options, store, ours))


def accuracies(options):
    how = argparse.Namespace(build=options.build, data=options.data, plans=list(ALLOWED_POINTS), factors=[None], seeds=5, epochs=20,
                             work=options.work / "accuracy")
    return [each for graph in options.accuracy for each in accuracy_rows(how, graph)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--scale", type=int, default=25)
    parser.add_argument("--memory-scale", type=int, default=23)
    parser.add_argument("--peer-scale", type=int, default=23)
    parser.add_argument("--times", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--train-share", type=float, default=0.01)
    parser.add_argument("--peer-epochs", type=int, default=2)
    parser.add_argument("--peer-limit-s", type=int, default=1800, help="a peer is ended after this many seconds")
    parser.add_argument("--accuracy", type=lambda text: [name for name in text.split(",") if name],
                        default=GRAPHS, help="graphs; empty: none")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--peer-python", type=Path, help="a Python that has PyG, instead of an environment made under --peers")
    parser.add_argument("--sources", type=Path, help="clones of pyg-lib and parallel-hashmap (default: from GitHub)")
    parser.add_argument("--other-peers", type=Path, help="a JSON file that names builds of other systems")
    parser.add_argument("--work", type=Path, default=ROOT / "build/out_of_core")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/out_of_core.json")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    store = make_store(options, options.scale)
    rows = reader_rows(options, store)
    whole = bytes_of(store)
    rows = on(options.scale, rows + plan_rows(options, store, whole))
    rows += rows_beside_peers(options, rows)
    rows += on(options.memory_scale, rows_in_memory(options, make_store(options, options.memory_scale)))
    rows += accuracies(options)
    limits = {name: limit_of(options, store, name) for name in [*PLANS, *MACRO_PLANS]}
    write_record(options.output, {"schema": "gnomon.out_of_core/1", **origin(), "notes": __doc__.strip(), "graph_bytes": whole,
                                  "limit_bytes": limits, "job": JOB, "epochs": EPOCHS, "load_average": os.getloadavg()[0], "rows": rows})


if __name__ == "__main__":
    main()
