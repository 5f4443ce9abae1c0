"""What the comparisons with other systems share: virtual environments made once, and peers as processes that answer
requests."""

import json
import os
import platform
import statistics
import subprocess
import sys


def environment(directory, *installs):
    """The Python of a virtual environment with what `installs` (arguments of pip, one call each) put there; made on
    the first run."""
    stamp = directory.with_name(directory.name + ".json")
    wanted = json.dumps(installs)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing the peers into {directory}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", directory], check=True)
        for arguments in installs:
            subprocess.run([directory / "bin/pip", "install", "-q", *arguments], check=True)
        stamp.write_text(wanted)
    return directory / "bin/python"


class Peer:
    """A process that answers each line of JSON with another; `threads` is what one call of it may use."""

    def __init__(self, command, threads):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def spread(values):
    return [statistics.median(values), min(values), max(values)]


def machine():
    model = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {"cpu": model[0] if model else platform.machine(), "cores": os.cpu_count()}
