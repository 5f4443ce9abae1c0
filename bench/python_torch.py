#!/usr/bin/env python3
"""Runs the Python package's tests with the oldest and the newest supported torch. Writes
bench/results/python_torch.json.

    bench/python_torch.py [--build build/release] [--peers build/peers] [--pythons PATH,PATH] [--tests python/tests]
        [--output FILE]

The first run makes two environments with torch-geometric and torch 2.2 (the oldest on PyPI for Python 3.11 and numpy 1) or PyPI's
newest torch; --pythons names other interpreters. `tests` counts passed, skipped and failed tests."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import environment, origin, write_record  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
COMMON = ["torch-geometric==2.8.1", "pytest", "pyyaml"]
ENVIRONMENTS = {"torch-oldest": ["torch==2.2.2", "numpy<2", *COMMON], "torch-newest": ["torch", "numpy", *COMMON]}
VERSIONS = """
import json, platform, numpy, torch, torch_geometric
found = {each.__name__: each.__version__ for each in (torch, torch_geometric, numpy)}
print(json.dumps({"python": platform.python_version(), **found}))
"""


def count_tests(python, options):
    """How many tests passed, were skipped and failed; the names of those that failed."""
    variables = {"PYTHONPATH": str(ROOT / "python"), "GNOMON_LIBRARY": str(options.build / "python/libgnomon.so")}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", options.tests]
        subprocess.run(command, check=False, cwd=ROOT, stdout=sys.stderr, env={**os.environ, **variables})
        suite = xml.etree.ElementTree.parse(report).getroot().find("testsuite")
    counts = {key: int(suite.get(key)) for key in ("tests", "skipped", "failures", "errors")}
    failed = counts["failures"] + counts["errors"]
    names = [each.get("name") for each in suite.findall("testcase") if each.find("failure") is not None]
    passed = counts["tests"] - counts["skipped"] - failed
    return {"passed": passed, "skipped": counts["skipped"], "failed": failed, "failed_names": names}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), default=ROOT / "build/release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--pythons", type=lambda text: text.split(","))
    parser.add_argument("--tests", default="python/tests")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/python_torch.json")
    options = parser.parse_args()
    options.peers.mkdir(parents=True, exist_ok=True)
    pythons = options.pythons or [environment(options.peers / name, packages) for name, packages in ENVIRONMENTS.items()]
    record = {"schema": "gnomon.python_torch/1", **origin(), "rows": []}
    for python in pythons:
        versions = json.loads(subprocess.check_output([python, "-c", VERSIONS], text=True))
        record["rows"].append({**versions, "tests": count_tests(python, options)})
        print(json.dumps(record["rows"][-1]), file=sys.stderr, flush=True)
    write_record(options.output, record)


if __name__ == "__main__":
    main()
