#!/usr/bin/env python3
"""Packs the kit for a GPU and records its sizes, what ptxas tells of each kernel, and whether the kernels compile without warnings
for the architectures that the CUDA wheel of LibTorch has code for. Writes bench/results/gpu_kit.json; needs nvcc, but no GPU.

    bench/gpu/kit_record.py [--packed] [--build build/release] [--architectures 75,80,86,90,100,120] [--output FILE]

--packed: the kit is packed already. Compiling for the architectures takes some minutes, so that those which the record has for
the same sources are kept ("sources": the git tree of kernels). "why_not" says what nvcc printed, if anything; warnings are errors.
"""

import argparse
import csv
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))
sys.path.insert(0, str(ROOT / "bench/gpu"))
import kernels  # noqa: E402
from harness import origin, write_record  # noqa: E402

GPU = ROOT / "build/gpu"


def size_of(path):
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def sizes():
    kit = GPU / "kit"
    return {"packed_bytes": (GPU / "kit.tar.xz").stat().st_size, "unpacked_bytes": size_of(kit),
            "parts": {part.name: size_of(part) if part.is_dir() else part.stat().st_size
                      for part in sorted(kit.iterdir()) if part.is_dir() or part.suffix == ".so"}}


def packed_kernels():
    rows = list(csv.DictReader((GPU / "kernels.csv").open()))
    return [{name: int(value) if value.isdigit() else value for name, value in row.items()} for row in rows]


def compile_commands(build, architectures, directory):
    """How the build compiles its CUDA sources; here the device code alone, for other architectures and with what ptxas tells."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if not entry["file"].endswith(".cu"):
            continue
        words = [word for word in shlex.split(entry["command"]) if not word.startswith("--generate-code")]
        words = words[words.index(next(word for word in words if word.endswith("nvcc"))):]
        words[words.index("-c")] = "-fatbin"
        words[words.index("-o") + 1] = str(directory / f"{Path(entry['file']).stem}.fatbin")
        yield entry, [*words, "-Xptxas=-v", *(f"--generate-code=arch=compute_{each},code=sm_{each}" for each in architectures)]


def compiled(build, architectures):
    """A row for each architecture. A complaint counts for all, as nvcc does not say for which it has it."""
    table, complaints = [], []
    with tempfile.TemporaryDirectory() as directory:
        for entry, command in compile_commands(build, architectures, Path(directory)):
            done = subprocess.run(command, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            report = Path(directory) / f"{Path(entry['file']).stem}.ptxas"
            report.write_text(done.stdout)
            table += kernels.rows(report)
            lines = [line for line in done.stdout.splitlines() if not kernels.is_ptxas_info(line)]
            if done.returncode != 0 or lines:
                complaints.append(f"{Path(entry['file']).name}: " + " ".join(lines)[:300])
            print(f"{Path(entry['file']).name}: status {done.returncode}, {len(lines)} complaints", file=sys.stderr, flush=True)
    kernels.name_kernels(table)
    for architecture in architectures:
        own = [row for row in table if row["architecture"] == f"sm_{architecture}"]
        spilling = [row for row in own if row["spill_stores_bytes"] or row["spill_loads_bytes"]]
        yield {"architecture": f"sm_{architecture}", "kernels": len(own), "warnings": len(complaints),
               "spilling": [{name: row[name] for name in ("file", "kernel", "registers", "spill_stores_bytes", "spill_loads_bytes")}
                            for row in spilling],
               "max_registers": max((row["registers"] for row in own), default=0), "sources": sources(),
               **({"why_not": "; ".join(complaints)} if complaints else {})}


def sources():
    """The git tree of the kernels, by which a change of them is seen."""
    return subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD:kernels"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def recorded(path):
    """The rows of the record that are of these sources, by architecture."""
    rows = json.loads(path.read_text())["architectures"] if path.exists() else []
    return {row["architecture"]: row for row in rows if row["sources"] == sources()}


def nvcc_version(build):
    cache = (build / "CMakeCache.txt").read_text()
    nvcc = next(line.split("=")[1] for line in cache.splitlines() if line.startswith("CMAKE_CUDA_COMPILER:"))
    return subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-2].split(", ")[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--architectures", type=lambda text: text.split(","), default="75,80,86,90,100,120".split(","))
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/gpu_kit.json")
    options = parser.parse_args()
    if not options.packed:
        subprocess.run([ROOT / "bench/gpu/pack.sh"], check=True)
    known = recorded(options.output)
    missing = [each for each in options.architectures if f"sm_{each}" not in known]
    known |= {row["architecture"]: row for row in (compiled(options.build, missing) if missing else [])}
    write_record(options.output, {
        **origin(), "commit": (GPU / "kit/commit").read_text()[:7], "schema": "gnomon.gpu_kit/1", "nvcc": nvcc_version(options.build), **sizes(), "kernels": packed_kernels(),
        "architectures": [known[f"sm_{each}"] for each in options.architectures]})


if __name__ == "__main__":
    main()
