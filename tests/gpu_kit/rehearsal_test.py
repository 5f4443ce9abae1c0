"""Rehearses the half hour on a GPU (bench/gpu/run.sh) with an emulated device in its place: every phase writes the record of the
agreed form, also when it is cut off or a step of it fails.

    tests/gpu_kit/rehearsal_test.py BUILD_DIRECTORY [CLASS…]
"""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/gpu"), str(ROOT / "bench")]
import bench_rows  # noqa: E402
import epochs  # noqa: E402
import kernel_times  # noqa: E402
import launches  # noqa: E402
import pyg_peer  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402

BUILD = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else ROOT / "build/release"
KINDS = {"copy_to_device", "zero_copy_gather", "cached_gather", "device_sampling_edges_per_s", "zero_copy_sampling_edges_per_s",
         "preset_epoch", "autotune_vs_best", "predicted_vs_measured", "cores_vs_measured", "peer_epoch", "evaluation", "launches_per_batch",
         "kernel_time"}
PHASES = ["tests", "kernels", "epochs", "tuning", "peers"]


def make_kit(kit):
    """What bench/gpu/pack.sh packs, with the programs of the build, which are not linked with LibTorch's CUDA libraries."""
    for folder in ("bin", "lib"):
        (kit / folder).mkdir(parents=True)
    for file in [*(ROOT / "bench/gpu").glob("*.py"), ROOT / "bench/gpu/run.sh", ROOT / "bench/peers/pyg_sampler.py"]:
        shutil.copy(file, kit)
    programs = ["bin/gnomon", "bin/gnomon-compute", "tests/test_kernels_cuda", "tests/test_runtime", "bench/bench_gpu"]
    for program in programs:
        if (BUILD / program).exists():
            (kit / "bin" / Path(program).name).symlink_to(BUILD / program)
    kernels_test = kit / "bin/test_kernels_cuda"
    if not kernels_test.exists():  # a build without CUDA
        kernels_test.write_text("#!/bin/sh\n")
        kernels_test.chmod(0o755)
    (kit / "lib/libgnomon.so").symlink_to(BUILD / "python/libgnomon.so")
    (kit / "presets").symlink_to(ROOT / "plan/presets")
    (kit / "python").symlink_to(ROOT / "python")
    (kit / "torch_git_version").write_text("none\n")
    counting = subprocess.run([BUILD / "tests/test_launches", "--gtest_filter=*LaunchesTest.*", f"--gtest_output=json:{kit}/launches.json"],
                              stdout=subprocess.PIPE, text=True)
    if counting.returncode != 0:
        raise RuntimeError(counting.stdout)


class Rehearsing(unittest.TestCase):
    """Has a kit, and runs phases of it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        make_kit(cls.folder / "kit")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def environment(self, name):
        python = ROOT / "build/python"
        return dict(os.environ, GNOMON_REHEARSE="1", SCALE="10", PLANS="dgl-uva,ginex", PROFILE_SECONDS="0.2", WORKERS="1",
                    GNOMON_GPU_DIR=str(self.folder / name), GNOMON_GPU_STORE=str(self.folder / "store"), OMP_WAIT_POLICY="passive",
                    PATH=f"{python / 'bin'}:{os.environ['PATH']}" if (python / "usable").exists() else os.environ["PATH"],
                    LD_LIBRARY_PATH=str(python / "stand-ins"))

    def run_phase(self, phase, name, out=None, **variables):
        """A phase whose results are collected under a name; returns what it brings out."""
        out = out or self.folder / f"{name}-out-{phase}"
        done = subprocess.run([self.folder / "kit/run.sh", phase, out], env={**self.environment(name), **variables}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        return out

    def check_record(self, path):
        document = json.loads(path.read_text())
        self.assertEqual(list(rows.problems_of(document)), [])
        self.assertIs(document["rehearsal"], True)
        return document["rows"]

    def steps_of(self, name):
        return [json.loads(line) for line in (self.folder / name / "phases.jsonl").read_text().splitlines()]


class Phases(Rehearsing):
    def test_every_phase_writes_its_rows(self):
        for phase in PHASES:
            out = self.run_phase(phase, "whole")  # an empty folder each, as on the machine
            self.assertLessEqual(len(list(out.iterdir())), 8)
            self.assertTrue((out / "log").exists())
        steps = self.steps_of("whole")
        self.assertEqual([step for step in steps if step["status"] != 0], [])
        limits = subprocess.run([self.folder / "kit/run.sh", "limits"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        self.assertEqual([step["step"] for step in steps], limits[1::3], "the steps are those whose limits are added up")
        found = self.check_record(out / "gpu.json")
        self.assertEqual({row["what"] for row in found}, KINDS)
        plans = {(row["plan"], row["memory"]): row for row in found if row["what"] == "preset_epoch" and row.get("graphs") is False}
        self.assertEqual(set(plans), {(plan, memory) for plan in ("dgl-uva", "ginex") for memory in (1.0, 0.5)})
        self.assertGreater(plans["dgl-uva", 0.5]["value"], 0)
        self.assertEqual(plans["dgl-uva", 1.0]["ratio"], 1, "the fastest")
        self.assertIsNone(plans["ginex", 1.0]["value"], "no device but the host reads a disk")
        recorded = [row for row in found if row["what"] == "preset_epoch" and row.get("graphs")]
        self.assertEqual(len(recorded), 1)
        predicted = {row["plan"]: row for row in found if row["what"] == "predicted_vs_measured"}
        self.assertEqual(set(predicted), {"dgl-uva"}, "every preset that was measured, and no other")
        self.assertEqual(predicted["dgl-uva"]["of"], plans["dgl-uva", 1.0]["value"])
        on_cores = [row for row in found if row["what"] == "cores_vs_measured"]
        self.assertEqual({row["plan"] for row in on_cores}, {"salient", "gnomon"})
        self.assertTrue(all(row["value"] and row["of"] for row in on_cores), on_cores)
        launched = {row["graphs"]: row for row in found if row["what"] == "launches_per_batch"}
        self.assertEqual(launched[False]["value"], launched[False]["of"], "the rehearsal counts what the double counts")
        self.assertLess(launched[True]["value"], launched[False]["value"])
        peers = [row for row in found if row["what"] == "peer_epoch"]
        self.assertTrue(all(row["value"] or row["why_not"] for row in peers))
        if (ROOT / "build/python/usable").exists():
            ours = {row["workers"]: row for row in peers if row["peer"] == "gnomon.pyg"}
            self.assertEqual({workers for workers, row in ours.items() if row["value"]}, {1}, peers)
        with tarfile.open(out / "results.tar.gz") as files:
            names = {Path(name).name for name in files.getnames()}
        checks = ["test_kernels_cuda", "test_runtime_gpu", "initcheck", "memcheck_device", *(f"memcheck_{third}" for third in range(3))]
        told = (self.folder / "whole/together.log").read_text().splitlines()
        self.assertEqual({line.split(":")[0] for line in told}, set(checks))
        self.assertTrue(all("status 0" in line for line in told), told)
        self.assertLessEqual({"gpu.json", "facts.txt", *(f"{check}.log" for check in checks), "bench_link.json", "bench_gather_link.json", "epoch.ncu-rep", "phases.jsonl",
                              "cuda_calls_4.json", "presets.log", "peers.log"}, names)


def runs_step(pid):
    """Whether a step of the kit has this number. It may end, or the number become another process's, between two looks."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"timeout")
    except OSError:
        return False


class CutOff(Rehearsing):
    def start_epochs(self, out, **variables):
        environment = {**self.environment("cut"), "PLANS": "device,dgl-uva,ginex", **variables}
        return subprocess.Popen([self.folder / "kit/run.sh", "epochs", out], env=environment,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def epochs_in(self, record):
        return [row for row in json.loads(record.read_text())["rows"] if row["what"] == "preset_epoch"] if record.exists() else []

    def wait_for(self, holds):
        end = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def test_a_phase_that_is_cut_off_leaves_its_rows_to_the_next(self):
        earlier = {"schema": rows.SCHEMA, "device": "another machine", "rehearsal": True, "rows": [
            {"what": "copy_to_device", "row_bytes": 0, "value": 1.0, "of": None, "ratio": None, "rehearsal": True}]}
        path = self.folder / "earlier.json"
        path.write_text(json.dumps(earlier))
        out = self.folder / "cut-out"
        killed = self.start_epochs(out, GNOMON_GPU_EARLIER=str(path))
        self.wait_for(lambda: self.epochs_in(out / "gpu.json"))
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
        before = self.check_record(out / "gpu.json")
        self.assertEqual(before[0], earlier["rows"][0])
        pid = int((self.folder / "cut/presets.pid").read_text())
        # More plans than can be measured before the phase is told to end.
        ended = self.start_epochs(out, PLANS="device,dgl-uva,pyg,dgl,salient,gnomon,quiver,pagraph")
        self.wait_for(lambda: not runs_step(pid))
        self.wait_for(lambda: len(self.epochs_in(out / "gpu.json")) > 1)
        ended.send_signal(signal.SIGTERM)
        self.assertEqual(ended.wait(), 143)
        self.assertIn("cut off", (out / "log").read_text())
        self.assertEqual(list((self.folder / "cut").glob("*.pid")), [], "nothing is left running")
        after = self.check_record(self.run_phase("epochs", "cut", PLANS="device,dgl-uva,ginex") / "gpu.json")
        measured = next(row for row in before if row["what"] == "preset_epoch")
        again = next(row for row in after if rows.case_of(row) == rows.case_of(measured))
        self.assertEqual(again["value"], measured["value"], "what was measured is not measured again")
        wanted = ("device", "dgl-uva", "ginex")
        self.assertEqual(len([row for row in after if row["what"] == "preset_epoch" and row["plan"] in wanted]), 6)


class Limits(unittest.TestCase):
    """The half hour must suffice even if every step takes as long as it may."""

    def setUp(self):
        lines = subprocess.run([ROOT / "bench/gpu/run.sh", "limits"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        self.steps = [(phase, step, int(limit)) for phase, step, limit in map(str.split, lines)]

    def test_sum(self):
        self.assertEqual(list(dict.fromkeys(phase for phase, _, _ in self.steps)), PHASES)
        self.assertLess(sum(limit for _, _, limit in self.steps), 28 * 60)
        for phase in PHASES:
            self.assertLessEqual(sum(limit for of, _, limit in self.steps if of == phase), 10 * 60 - 60, phase)

    def test_are_those_of_the_readme(self):
        text = (ROOT / "bench/gpu/README.md").read_text()
        table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
        written = {(cells[0], cells[1]): int(cells[2]) for cells in table if len(cells) == 5 and cells[2].isdigit()}
        grouped = {}
        for phase, step, limit in self.steps:  # rows that take no time of their own stand beside their benchmarks
            step = step.replace("rows_", "bench_") if step.startswith("rows_") else step
            grouped[phase, step] = grouped.get((phase, step), 0) + limit
        self.assertEqual(written, grouped)
        estimated = sum(int(cells[3]) for cells in table if len(cells) == 5 and cells[3].isdigit())
        self.assertLess(estimated, 28 * 60)


class Together(unittest.TestCase):
    def run_commands(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, ROOT / "bench/gpu/together.py", folder, *words], stdout=subprocess.PIPE, text=True)
            return done.returncode, sorted(done.stdout.splitlines()), {path.name: path.read_text() for path in Path(folder).iterdir()}

    def test_all_run_whatever_becomes_of_the_others(self):
        status, told, logs = self.run_commands("bad", "sh", "-c", "exit 3", "::", "good", "echo", "well")
        self.assertEqual(status, 1)
        self.assertIn("bad: status 3", told[0])
        self.assertIn("good: status 0", told[1])
        self.assertEqual(logs, {"bad.log": "", "good.log": "well\n"})

    def test_all_well(self):
        self.assertEqual(self.run_commands("first", "true", "::", "second", "true")[0], 0)


class KernelTimes(unittest.TestCase):
    def test_kernels_are_named_by_what_they_run(self):
        passes = "gnomon::kernels::device::passes::"
        for kernel, name in {
            f"void gnomon::kernels::cuda::run_body<{passes}Insert<gnomon::kernels::cuda::Atomics> >({passes}Insert<int>, long)": "Insert",
            f"void gnomon::kernels::cuda::run_large_body<{passes}WriteBatch>({passes}WriteBatch, long)": "WriteBatch",
            "void cutlass::Kernel2<cutlass_80_sgemm>(cutlass_80_sgemm::Params)": "cutlass_80_sgemm",
            "void at::native::(anonymous namespace)::multi_tensor<at::native::Adam<4> >(int)": "multi_tensor",
            "copy of kind 1": "copy of kind 1", "fill": "fill"}.items():
            self.assertEqual(kernel_times.short_name(kernel), name)

    def test_times_are_those_of_a_mini_batch(self):
        kernels = {"void f<1>(int)": [4, 3000], "void f<2>(int)": [4, 1000], "g": [8, 8000]}
        seconds = kernel_times.seconds_of(kernels, 4)
        self.assertEqual(set(seconds), {"f", "g"})
        self.assertAlmostEqual(seconds["f"], 1e-6)
        self.assertAlmostEqual(seconds["g"], 2e-6)


class BenchRows(unittest.TestCase):
    """From files of bench_gpu that are whole, break off, or tell of errors."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "bench.json"
        self.record = rows.Rows(Path(self.folder.name) / "gpu.json")
        self.add_quietly(lambda: self.record.add("copy_to_device", 40.0))

    @staticmethod
    def add_quietly(act):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            act()

    def tearDown(self):
        self.folder.cleanup()

    def added(self, text):
        self.path.write_text(text)
        self.add_quietly(lambda: bench_rows.add_rows(self.path, self.record))
        return [row for row in json.loads((Path(self.folder.name) / "gpu.json").read_text())["rows"] if row["what"] != "copy_to_device"]

    def text(self, repetitions=3):
        benchmarks = [{"name": f"{name}/real_time", "run_name": f"{name}/real_time", "run_type": "iteration", "bytes_per_second": value + i}
                      for name, value in (("gather/over_link:1/row_bytes:512/share:100/shifted:1", 20.0),
                                          ("gather/over_link:1/row_bytes:512/share:30/shifted:0", 10.0)) for i in range(repetitions)]
        return json.dumps({"context": {"date": "[today]"}, "benchmarks": benchmarks}, indent=1)

    def test_medians_beside_copies(self):
        first, second = self.added(self.text())
        self.assertEqual((first["what"], first["row_bytes"], first["value"], first["of"]), ("zero_copy_gather", 512, 21.0, 40.0))
        self.assertEqual((second["what"], second["share"], second["shifted"]), ("zero_copy_gather", 0.3, False))

    def test_a_file_that_breaks_off_anywhere(self):
        text = self.text()
        most = 0
        for length in range(0, len(text), 7):
            self.record.document["rows"] = self.record.document["rows"][:1]
            found = self.added(text[:length])
            self.assertGreaterEqual(len(found), most, "no row is lost by what comes after it")
            most = len(found)
        self.assertEqual(most, 2)

    def test_an_error_takes_no_other_row(self):
        document = json.loads(self.text())
        document["benchmarks"][0] |= {"error_occurred": True, "error_message": "out of memory"}
        for benchmark in document["benchmarks"][1:3]:
            benchmark |= {"error_occurred": True, "error_message": "out of memory"}
        rest = self.added(json.dumps(document))
        self.assertEqual([(row["value"], row.get("why_not")) for row in rest], [(11.0, None), (None, "out of memory")])

    def test_no_file(self):
        self.add_quietly(lambda: bench_rows.add_rows(Path(self.folder.name) / "none.json", self.record))
        self.assertEqual(len(self.record.document["rows"]), 1)


class Record(unittest.TestCase):
    def test_rehearsals_and_measurements_stay_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "gpu.json"
            rows.Rows(path).add("copy_to_device", 1.0)
            os.environ["GNOMON_REHEARSE"] = "1"
            try:
                with self.assertRaises(SystemExit):
                    rows.Rows(path)
            finally:
                del os.environ["GNOMON_REHEARSE"]

    def test_problems(self):
        row = {"what": "copy_to_device", "row_bytes": 0, "value": 1.0, "of": None, "ratio": None}
        whole = {"schema": "gnomon.gpu/1", "device": "x", "rows": [row]}
        self.assertEqual(list(rows.problems_of(whole)), [])
        for change in ({"what": "graphs_epoch"}, {"value": None}, {"value": 0}, {"rehearsal": True}):
            self.assertEqual(len(list(rows.problems_of({**whole, "rows": [{**row, **change}]}))), 1, change)


class Results(unittest.TestCase):
    """The table that bench/results.py makes of the record."""
    record = {"schema": "gnomon.gpu/1", "device": "x", "rows": [
        {"what": "zero_copy_gather", "row_bytes": 512, "value": 40e9, "of": 50e9, "ratio": 0.8, "share": 1.0, "shifted": False},
        {"what": "preset_epoch", "row_bytes": 0, "value": 1.5, "of": 0.75, "ratio": 2.0, "plan": "dgl", "memory": 0.5, "graphs": True},
        {"what": "peer_epoch", "row_bytes": 0, "value": None, "of": 0.75, "ratio": None, "peer": "PyTorch Geometric", "why_not": "no sampler"}]}

    def test_rows(self):
        self.assertEqual(results.gpu(self.record).rows, [
            ["zero copy gather", "share of the slots 1.0, not shifted to lines", "512", "40.0 GB/s", "50.0 GB/s", "0.80", ""],
            ["preset epoch", "dgl, memory 0.5, recorded steps", "", "1.50 s", "0.75 s", "2.00", ""],
            ["peer epoch", "PyTorch Geometric", "", "", "0.75 s", "", "no sampler"]])

    def test_a_rehearsal_is_refused(self):
        with self.assertRaises(SystemExit):
            results.gpu({**self.record, "rehearsal": True})


class Presets(unittest.TestCase):
    def test_all_are_measured_but_those_that_take_too_long(self):
        all_presets = {path.stem for path in (ROOT / "plan/presets").glob("*.json")}
        self.assertEqual(sorted(epochs.presets()), sorted(all_presets - set(epochs.TOO_LONG)))
        self.assertLess(set(epochs.TOO_LONG), all_presets)

    def test_what_is_settled_is_not_tried_again(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            record = rows.Rows(Path(folder) / "gpu.json")
            for plan, value, why in [("dgl", 1.0, None), ("hanoi", None, "no macro-batches"), ("pyg", None, str(epochs.OutOfTime("over")))]:
                more = {} if why is None else {"why_not": why}
                record.add("preset_epoch", value, plan=plan, memory=1, graphs=False, **more)
            self.assertEqual(epochs.settled(record, 1), {"dgl", "hanoi"})

    def test_each_is_held_against_the_fastest(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            record = rows.Rows(Path(folder) / "gpu.json")
            for value, memory in ((2.0, 1.0), (1.0, 1.0), (4.0, 0.5), (None, 1.0)):
                record.add("preset_epoch", value, plan=str(value), memory=memory, graphs=False, why_not="" if value else "refused")
                record.hold_against_smallest("preset_epoch", memory=memory, graphs=False)
            self.assertEqual([row["ratio"] for row in json.loads((Path(folder) / "gpu.json").read_text())["rows"]], [2, 1, 1, None])


class Launches(unittest.TestCase):
    def test_calls_that_launch_and_that_wait(self):
        calls = {"cuLaunchKernel": 1, "cuLaunchKernelEx_ptsz": 2, "cuMemcpyHtoDAsync_v2": 4, "cuMemsetD8Async": 8, "cuGraphLaunch": 16,
                 "cuLaunchHostFunc": 1000, "cuGraphInstantiateWithFlags": 1000, "cuMemAllocAsync": 1000, "cuEventQuery": 1000,
                 "cuStreamSynchronize": 1, "cuEventSynchronize": 2, "cuMemcpyDtoH_v2": 4, "cuCtxSynchronize": 8}
        self.assertEqual(launches.kinds_of(calls), {"launches": 31, "waits": 15})

    def counter(self, code, preload=""):
        """What the counter writes for a process that does `code`."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calls.json"
            program = f"import ctypes\nlibrary = ctypes.CDLL({str(BUILD / 'bench/libgnomon_cuda_calls.so')!r})\n{code}"
            subprocess.run([sys.executable, "-c", program], env=dict(os.environ, GNOMON_CUDA_CALLS=str(path), LD_PRELOAD=preload), check=True)
            return json.loads(path.read_text())

    def setUp(self):
        if not (BUILD / "bench/libgnomon_cuda_calls.so").exists():
            self.skipTest("the build has no CUPTI")

    def test_the_counter_counts_each_call_once(self):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "libdouble.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, "-x", "c", "-"], input=CUPTI_DOUBLE, text=True, check=True)
            code = (f"double = ctypes.CDLL({str(library)!r})\nlibrary.InitializeInjection()\n"
                    "for id in (307, 307, 514, 126): double.call(id)")
            found = self.counter(code, preload=str(library))
        self.assertEqual(found, {"calls": {"cuStreamSynchronize": 1, "cuLaunchKernel": 2, "cuGraphLaunch": 1}})

    def test_without_a_driver_the_counter_tells_why(self):
        if Path("/dev/nvidia0").exists():
            self.skipTest("there is a driver")
        self.assertIn("CUPTI, subscribing", self.counter("library.InitializeInjection()")["error"])


# CUPTI as far as the counter calls it: call(id) enters and leaves a function of the driver, and one of the runtime.
CUPTI_DOUBLE = """
#include <stdint.h>
static void (*told)(void*, int, uint32_t, const void*);
static void* told_user;
int cuptiSubscribe(void** subscriber, void* callback, void* user) { told = callback; told_user = user; return 0; }
int cuptiEnableDomain(uint32_t enable, void* subscriber, int domain) { return enable == 1 && domain == 1 ? 0 : 1; }
int cuptiGetResultString(int result, const char** text) { *text = "double"; return 0; }
int cuptiGetCallbackName(int domain, uint32_t id, const char** name) {
  *name = id == 307 ? "cuLaunchKernel" : id == 514 ? "cuGraphLaunch" : "cuStreamSynchronize";
  return 0;
}
void call(uint32_t id) {
  int enter = 0, leave = 1;
  told(told_user, 1, id, &enter);
  told(told_user, 1, id, &leave);
  told(told_user, 2, id, &enter);
}
"""


class Peers(unittest.TestCase):
    def test_one_that_cannot_be_imported_takes_no_other(self):
        def fails(device):
            raise ImportError(f"no library for {device}")

        known, pyg_peer.LOADERS = pyg_peer.LOADERS, {"first": fails, "second": lambda device: ("loader", device, {})}
        try:
            found = pyg_peer.loaders("cpu")
        finally:
            pyg_peer.LOADERS = known
        self.assertIsInstance(found["first"], ImportError)
        self.assertEqual(found["second"][0], "loader")


if __name__ == "__main__":
    unittest.main(verbosity=2)
