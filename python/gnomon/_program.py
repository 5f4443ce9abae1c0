"""The commands of the program gnomon, which run in processes of their own."""

from __future__ import annotations

import ctypes
import json
import os
import re
import sys
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any

from gnomon import _library
from gnomon._library import InvalidInput, check, library

Progress = Callable[[str, int, int], Any]
"""Called with the step, its finished and its total items (0: unknown)."""

_FLAG = re.compile(r"(?<![\w/.-])--([a-z][a-z-]*)")


def run(
    command: str, arguments: Sequence[Any] = (), options: dict[str, Any] | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Run a command and return the document that it prints with ``--json``.

    Parameters
    ----------
    command
        For instance ``"tune"``.
    arguments
        Paths, names, and documents (dicts) in place of files.
    options
        By their names on the command line; None and False are left out.
    progress
        Called at least ten times a second. An exception cancels the command and is raised again. So does Ctrl-C.

    Raises
    ------
    gnomon.InvalidInput
        If the command refuses its input.
    gnomon.GnomonError
        If the command fails, or is not part of this installation.
    """
    raised: list[BaseException] = []

    def report(_: Any, step: bytes, done: int, total: int) -> int:
        try:
            if progress is not None and step:
                progress(step.decode("utf-8", "replace"), done, total)
        except BaseException as error:  # noqa: BLE001  it cannot pass through C
            raised.append(error)
        return int(bool(raised))

    request = _request(command, arguments, options or {})
    result = ctypes.c_void_p()
    status = library.gnomon_run(None, request, _library.Progress(report), None, ctypes.byref(result))
    if raised:
        raise raised[0]
    try:
        check(status)
    except InvalidInput as error:
        raise InvalidInput(in_keywords(str(error), options or {})) from None
    try:
        return json.loads(ctypes.string_at(result.value or 0))
    finally:
        library.gnomon_text_free(result)


def in_keywords(text: str, names: Container[str] | None = None) -> str:
    """Return a message of the program with keywords instead of flags: those among `names`, or all."""

    def keyword(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        return name if names is None or name in names else flag[0]

    return _FLAG.sub(keyword, text)


def _request(command: str, arguments: Sequence[Any], options: dict[str, Any]) -> bytes:
    given = {name: _plain(value) for name, value in options.items()}
    # After a flag without a value the program would take the next flag as the value of an option that needs one.
    given = {name: "true" if value is True else value for name, value in given.items()}
    request = {"command": command, "arguments": [_plain(each) for each in arguments], "options": given}
    try:
        return json.dumps(request).encode()
    except TypeError:
        wrong = next((name for name, value in given.items() if not _is_document(value)), "arguments")
        raise InvalidInput(f"{wrong}: must be a string, a number, a path or a document") from None


def _is_document(value: Any) -> bool:
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if getattr(value, "shape", None) == ():  # a number of NumPy, which need not be installed
        return value.item()
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def main() -> None:
    """Run the program gnomon in place of this process: the command of the wheel."""
    program = os.environ.get("GNOMON_PROGRAM") or str(Path(__file__).with_name("bin") / "gnomon")
    try:
        os.execv(program, ["gnomon", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"gnomon: {program}: {error.strerror}; this package was built without the commands")
