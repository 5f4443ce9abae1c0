#!/usr/bin/env python3
"""Runs commands at the same time, each with its output in FOLDER/NAME.log, and prints what became of each. The exit code is 1 if one
fails. When it is told to end, so are they.

    bench/gpu/together.py FOLDER NAME COMMAND… [:: NAME COMMAND…]…
"""

import signal
import subprocess
import sys
import time
from pathlib import Path


def commands_of(words):
    """Lists of words between those that are "::"."""
    commands = [[]]
    for word in words:
        if word == "::":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def main():
    folder, commands = Path(sys.argv[1]), commands_of(sys.argv[2:])
    begin, running, failed = time.monotonic(), {}, False

    def end(*_):
        for process in running.values():
            process.kill()
        sys.exit(143)

    signal.signal(signal.SIGTERM, end)
    for name, *command in commands:
        with (folder / f"{name}.log").open("w") as log:
            running[name] = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    while running:
        for name, process in list(running.items()):
            if (status := process.poll()) is not None:
                print(f"{name}: status {status} after {time.monotonic() - begin:.0f} s", flush=True)
                failed |= status != 0
                del running[name]
        time.sleep(0.05)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
