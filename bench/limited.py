"""Runs processes in a control group that limits their memory, and measures their time, memory and disk traffic."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup/memory")


class Failed(SystemExit):
    """Ends the benchmark, if it is not caught, because a process failed; `status` is its exit code, negative if a signal ended it."""

    def __init__(self, command, status):
        super().__init__(f"{' '.join(map(str, command))}: status {status}")
        self.status = status


def run(command, group=None):
    """Seconds, peak and disk traffic of a process, and what it printed. Throws Failed."""
    def enter():
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()))
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, preexec_fn=enter)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise Failed(command, os.waitstatus_to_exitcode(status))
    return {
        "seconds": time.monotonic() - begin,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "read_bytes": usage.ru_inblock * 512,
        "written_bytes": usage.ru_oublock * 512,
    }, printed


@contextlib.contextmanager
def limited_group(limit):
    """A memory control group (version 1) of that many bytes, page cache included."""
    group = GROUPS / f"gnomon-bench-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield group
    finally:
        remove(group)


def remove(group):
    """Removes a group when it is empty: processes that were killed leave it a little later."""
    end = time.monotonic() + 5
    while True:
        try:
            return group.rmdir()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
