#!/usr/bin/env python3
"""Makes libraries to link with that have the symbols of an older glibc.

    glibc_stubs.py VERSION DIRECTORY

glibc keeps every version of its symbols, and the linker takes the newest of each. The libraries in DIRECTORY stand in for
this system's: they define, without code, the newest version of each symbol up to VERSION (such as 2.28), under the name of
the library that held it then. What is linked with them runs with that glibc and with newer ones; what needs a newer symbol
does not link."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

SYSTEM = Path("/usr/lib/x86_64-linux-gnu")
# Since glibc 2.34 these are in libc.so.6.
MOVED = {
    "libpthread.so.0": re.compile(r"_{0,2}(pthread|sem)_"),
    "libdl.so.2": re.compile(r"dl(open|sym|vsym|mopen|close|error|addr1?|info)$"),
    "librt.so.1": re.compile(r"(shm|mq|timer|aio|lio)_"),
}


def number(version):
    """(2, 2, 5) of "GLIBC_2.2.5"; None of private versions."""
    found = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", version)
    return tuple(int(each) for each in found[1].split(".")) if found else None


def symbols_of(library, newest):
    """The version, type and size of each symbol: {name: (version, type, size)}."""
    lines = subprocess.run(["readelf", "-W", "--dyn-syms", library], check=True, capture_output=True, text=True).stdout
    chosen = {}
    for line in lines.splitlines():
        fields = line.split()
        if len(fields) != 8 or fields[6] in ("UND", "ABS") or "@" not in fields[7]:
            continue
        name, version = re.split("@+", fields[7])
        if number(version) and number(version) <= newest:
            chosen[name] = max(chosen.get(name, ()), (number(version), version, fields[3], int(fields[2], 0)))
    return {name: each[1:] for name, each in chosen.items()}


def make_library(soname, symbols, directory):
    """Assembles a library that defines the symbols."""
    assembly, names = [], defaultdict(list)
    for name, (version, kind, size) in symbols.items():
        section, kind = {"OBJECT": (".data", "object"), "TLS": (".section .tdata,\"awT\"", "tls_object")}.get(kind, (".text", "function"))
        assembly.append(f"{section}\n.globl {name}\n.type {name}, @{kind}\n.size {name}, {size}\n{name}: .zero {max(size, 1)}")
        names[version].append(name)
    versions = "\n".join(f"{version} {{ global: {'; '.join(each)}; }};" for version, each in sorted(names.items()))
    (directory / "symbols.s").write_text("\n".join(assembly) + "\n.section .note.GNU-stack\n")
    (directory / "versions.map").write_text(versions + "\n")
    command = ["gcc", "-shared", "-nostdlib", f"-Wl,-soname,{soname},--version-script,{directory / 'versions.map'}"]
    subprocess.run([*command, "-o", directory / soname, directory / "symbols.s"], check=True)


def main():
    newest, directory = number(f"GLIBC_{sys.argv[1]}"), Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    libraries = {"libm.so.6": symbols_of(SYSTEM / "libm.so.6", newest)}
    of_libc = symbols_of(SYSTEM / "libc.so.6", newest)
    for soname, pattern in MOVED.items():
        libraries[soname] = {name: of_libc.pop(name) for name in list(of_libc) if pattern.match(name)}
    libraries["libc.so.6"] = of_libc
    for soname, symbols in libraries.items():
        make_library(soname, symbols, directory)
        plain = directory / soname.partition(".so")[0]
        plain.with_suffix(".so").write_text(f"GROUP ( {directory / soname} )\n")
    # As the system's file of this name, and with what callers of the newer glibc expect in it.
    also = " ".join(str(directory / soname) for soname in MOVED) + " /lib64/ld-linux-x86-64.so.2"
    script = f"GROUP ( {directory}/libc.so.6 {SYSTEM}/libc_nonshared.a AS_NEEDED ( {also} ) )\n"
    (directory / "libc.so").write_text(script)


if __name__ == "__main__":
    main()
