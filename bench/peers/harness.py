"""Shared by the comparisons with other systems: virtual environments that are created once, and peers as processes that
answer requests."""

import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# No command learns from runs that it or another bench has made: nothing is fitted on what it predicts.
os.environ.setdefault("GNOMON_HISTORY", "off")

PYG_LIB = ("https://github.com/pyg-team/pyg-lib", "764e3a492eb0d1ed9616808ec9fec2416f8d6b7d")
PHMAP = ("https://github.com/greg7mdp/parallel-hashmap", "01c838b76a4f21024e478ef020c3386b9b4ba4d2")
TORCH_SPARSE = "torch-sparse==0.6.18"
PYG_LIB_FOLDERS = ["random/cpu/biased_sampling", "sampler/neighbor", "sampler/cpu/neighbor_kernel", "utils/check", "utils/convert"]


def environment(directory, *installs, options=()):
    """The Python of a virtual environment (of venv's `options`) with what `installs` (arguments of pip, one call each)
    put there; made on the first run."""
    stamp = directory.with_name(directory.name + ".json")
    wanted = json.dumps(installs)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing the peers into {directory}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", *options, directory], check=True)
        for arguments in installs:
            subprocess.run([directory / "bin/pip", "install", "-q", *arguments], check=True)
        stamp.write_text(wanted)
    return directory / "bin/python"


def dgl_environment(peers):
    """DGL with the newest LibTorch that its CPU wheel on PyPI was built for."""
    packages = ["torch==2.2.1", "numpy<2", "dgl==2.1.0", "torchdata==0.7.1", "pandas", "pydantic", "pyyaml"]
    return environment(peers / "dgl", packages)


def pyg_environment(peers):
    return environment(peers / "pyg", ["torch==2.11.0", "numpy", "torch-geometric==2.8.1"])


def checkout(peers, sources, name, repository):
    """The sources of a peer at the pinned commit."""
    url, commit = repository
    directory = peers / "src" / name
    if not directory.exists():
        subprocess.run(["git", "clone", "-q", sources / name if sources else url, directory], check=True)
        subprocess.run(["git", "-C", directory, "checkout", "-q", commit], check=True)
    return directory


def pyg_lib(peers, sources, python, processor="native"):
    """The neighbour sampler of pyg-lib alone, compiled for a processor, this machine's by default; returns the library."""
    library = library_for(peers, "pyg_lib", processor)
    if library.exists():
        return library
    source = checkout(peers, sources, "pyg-lib", PYG_LIB) / "pyg_lib/csrc"
    phmap = checkout(peers, sources, "parallel-hashmap", PHMAP)
    config = (source / "config.h.in").read_text()
    (source / "config.h").write_text(config.replace("@WITH_MKL_BLAS@", "0").replace("@NO_METIS@", "1"))
    compile_for_torch(python, library, [source / f"{f}.cpp" for f in ["library", *PYG_LIB_FOLDERS]], [source.parent.parent, phmap],
                      processor)
    return library


def torch_sparse(peers, python, processor="native"):
    """The neighbour sampler of torch-sparse alone, which comes as sources only, compiled for a processor, this machine's by
    default; returns the library."""
    library = library_for(peers, "torch_sparse", processor)
    if library.exists():
        return library
    with tempfile.TemporaryDirectory() as directory:
        fetch = [python, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
        subprocess.run([python, "-m", "pip", "install", "-q", "setuptools", "wheel"], check=True)
        subprocess.run([*fetch, "-d", directory, TORCH_SPARSE], check=True)
        shutil.unpack_archive(next(Path(directory).glob("*.tar.gz")), directory)
        source = next(Path(directory).glob("*/csrc"))
        files = [source / f"{f}.cpp" for f in ["neighbor_sample", "cpu/neighbor_sample_cpu"]]
        compile_for_torch(python, library, files, [source, source.parent / "third_party/parallel-hashmap"], processor)
    return library


def library_for(peers, name, processor):
    return peers / f"{name}{'' if processor == 'native' else '-' + processor}.so"


def compile_for_torch(python, library, files, include, processor):
    """A library of operators for that Python's PyTorch."""
    find = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    torch = Path(subprocess.check_output([python, "-c", find], text=True).strip())
    include = [torch / "include", torch / "include/torch/csrc/api/include", *include]
    command = ["g++", "-std=c++20", "-O3", f"-march={processor}", "-fPIC", "-shared", "-fopenmp", "-w"]
    command += [f"-I{path}" for path in include] + [str(f) for f in files]
    command += [f"-L{torch}/lib", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch}/lib", "-o", str(library)]
    subprocess.run(command, check=True)


class Peer:
    """A process that answers each line of JSON with another; `threads` is what one call of it may use."""

    def __init__(self, command, threads, **variables):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), **variables)
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start(name, command, threads):
    """The peer `name`; ours lets idle threads sleep, as gnomon does from its start."""
    return Peer(command, threads, **({"OMP_WAIT_POLICY": "passive"} if name == "gnomon" else {}))


FILES = {"slashdot": "soc-Slashdot0902.txt.gz", "twitter": "ego-twitter.txt.gz"}


def store_in_order(build, stores, data, graph, order):
    """The store of a graph with its vertices in an order, made under `stores` on the first run."""
    directory = stores / f"{graph}-{order}"
    if not (directory / "seeds.npy").exists():
        stores.mkdir(parents=True, exist_ok=True)
        what = ["import", data / FILES[graph]] if graph in FILES else ["make", graph]
        subprocess.run([build / "bench/bench_peer", *what, directory, order], check=True)
    return directory


def gnomon(options, *arguments):
    """What a command of gnomon prints. Ends the bench if it fails."""
    command = [str(options.build / "bin/gnomon"), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def write_record(path, document):
    """Replaces the record as a whole, so that a bench that is stopped leaves a valid one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(document, indent=1) + "\n")
    temporary.replace(path)


def spread(values):
    return [statistics.median(values), min(values), max(values)]


def machine():
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {"cpu": model[0] if model else platform.machine(), "cores": os.cpu_count()}


def origin():
    """When, at which commit and on which machine a record is made."""
    commit = subprocess.run(["git", "-C", Path(__file__).parent, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {"recorded": datetime.date.today().isoformat(), "commit": commit or "unknown", "machine": machine()}
