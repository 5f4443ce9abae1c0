"""Memory, threads and processes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest
import torch

from conftest import random_data
from gnomon import ForkedError, GnomonError
from gnomon.pyg import NeighborLoader


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def num_threads() -> int:
    return len(os.listdir("/proc/self/task"))


@pytest.mark.slow
def test_no_leak_over_many_batches():
    data = random_data(2000, 30000)
    loader = NeighborLoader(data, [5, 5], batch_size=50, shuffle=True, num_workers=2)

    def run(batches: int) -> None:
        while batches > 0:
            for batch in loader:
                batches -= 1
                assert batch.x.shape[0] == batch.n_id.numel()

    run(1000)
    gc.collect()
    before = resident_bytes()
    run(9000)
    gc.collect()
    assert resident_bytes() - before < 8 << 20


def test_batches_outlive_everything(data):
    loader = NeighborLoader(data, [5, 5], batch_size=100, num_workers=2)
    kept = [batch for _, batch in zip(range(20), loader)]
    copies = [batch.x.clone() for batch in kept]
    list(loader)
    del loader
    gc.collect()
    for batch, copied in zip(kept, copies):
        assert torch.equal(batch.x, copied)
        assert torch.equal(batch.x, data.x[batch.n_id])


def test_leaving_an_epoch_ends_its_threads(data):
    loader = NeighborLoader(data, [5, 5], batch_size=10, num_workers=3)
    before = num_threads()
    for _ in range(100):
        for _ in loader:
            break
    gc.collect()
    assert num_threads() == before
    iterators = [iter(loader) for _ in range(5)]
    assert all(next(each).n_id.tolist() for each in iterators)
    assert num_threads() > before
    del iterators
    gc.collect()
    assert num_threads() == before


def test_exceptions_of_transforms_arrive(data):
    class Wrong(Exception):
        pass

    def fail(batch):
        raise Wrong

    for _ in range(100):
        with pytest.raises(Wrong):
            list(NeighborLoader(data, [5], batch_size=10, num_workers=2, transform=fail))


def test_garbage_in_any_order(data):
    gc.collect()
    gc.freeze()  # what is there already need not be searched again and again
    for keep in range(4):
        for _ in range(25):
            loader = NeighborLoader(random_data(50, 300), [3], batch_size=5, num_workers=2)
            iterator = iter(loader)
            objects = [next(iterator), iterator, loader, loader.data]
            del iterator, loader
            survivor = objects.pop(keep)
            objects.clear()
            gc.collect()
            del survivor
    gc.unfreeze()


def run_program(text: str, timeout: int = 120, **options) -> subprocess.CompletedProcess:
    program = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n" + textwrap.dedent(text)
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], check=False, capture_output=True, timeout=timeout, **options
    )


_STARTED = """
    from conftest import random_data
    from gnomon.pyg import NeighborLoader
    loader = NeighborLoader(random_data(20000, 400000), [10, 10], batch_size=500, num_workers=2)
"""


@pytest.mark.slow  # each imports torch anew
@pytest.mark.parametrize("end", ["pass", "sys.exit(0)", "import os; os._exit(0)", "del loader", "raise SystemExit"])
def test_interpreter_exits_with_batches_in_flight(end):
    text = _STARTED + f"    batches = iter(loader); next(batches)\n    {end}\n"
    done = run_program(text)
    assert (done.returncode, done.stderr) == (0, b"")


_EXITS = """
    import os, sys, torch
    from conftest import random_data
    from gnomon.pyg import NeighborLoader
    torch.set_num_threads(1)  # others would not live in the children

    ends = ["last line", "sys.exit", "os._exit", "del loader", "del batches", "two epochs"]
    failed = 0
    for number in range(100):
        if os.fork() == 0:
            break
        failed += os.wait()[1] != 0
    else:
        print("failed", failed)
        sys.exit(0)
    end = ends[number % len(ends)]
    loader = NeighborLoader(random_data(3000, 60000), [10, 10], batch_size=200, num_workers=2, seed=number)
    batches = iter(loader)
    next(batches)
    if end == "sys.exit":
        sys.exit(0)
    if end == "os._exit":
        os._exit(0)
    if end == "del loader":
        del loader
    if end == "del batches":
        del batches
    if end == "two epochs":
        others = iter(loader)
        kept = [next(others), next(batches)]
"""


@pytest.mark.slow
def test_interpreter_exits_a_hundred_times():
    """In forks of one process, which need not import torch again."""
    done = run_program(_EXITS, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"failed 0\n", b"")


_INTERRUPTS = """
    import os, random, signal, threading, time
    from conftest import random_data, random_seed
    from gnomon.pyg import NeighborLoader
    data, draws = random_data(3000, 60000), random.Random(random_seed(3))
    for _ in NeighborLoader(data, [10, 10], batch_size=200, num_workers=0):  # torch starts its own threads
        pass
    threads = len(os.listdir("/proc/self/task"))
    interrupted = 0
    for number in range(100):
        loader = NeighborLoader(data, [10, 10], batch_size=200, num_workers=number % 3, seed=number)
        timer = threading.Timer(draws.uniform(0, 0.03), os.kill, (os.getpid(), signal.SIGINT))
        deadline = time.monotonic() + 10
        try:
            timer.start()
            while time.monotonic() < deadline:
                for batch in loader:
                    assert batch.x.shape[0] == batch.n_id.numel()
        except KeyboardInterrupt:
            interrupted += 1
        timer.join()
        assert next(iter(loader)).batch_size == 200
    batch = loader = None
    print("interrupted", interrupted, "more threads", len(os.listdir("/proc/self/task")) - threads)
"""


@pytest.mark.slow
def test_interrupts_at_any_time():
    done = run_program(_INTERRUPTS)
    assert done.stdout == b"interrupted 100 more threads 0\n", done.stderr


@pytest.mark.slow  # imports torch anew
def test_interrupt_ends_the_wait():
    text = (
        _STARTED
        + """
    import os, signal, threading
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            list(loader)
    except KeyboardInterrupt:
        print("interrupted", next(iter(loader)).batch_size)
    """
    )
    done = run_program(text)
    assert done.stdout == b"interrupted 500\n", done.stderr


def test_a_fork_is_told(data):
    loader = NeighborLoader(data, [5, 5], batch_size=10, num_workers=2)
    iterator = iter(loader)
    batch = next(iterator)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        messages = []
        for call in (lambda: next(iterator), lambda: iter(loader)):
            try:
                call()
                messages.append("no error")
            except ForkedError as error:
                messages.append(str(error))
        del batch, iterator, loader
        gc.collect()
        os.write(write, "|".join(messages).encode())
        os._exit(0)
    os.close(write)
    message = os.read(read, 4096).decode()
    assert os.waitpid(child, 0)[1] == 0
    assert message.count("fork") == 2 and "spawn" in message
    assert next(iterator).n_id.numel() > 0


def test_a_forked_child_may_make_its_own(data):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply(count_batches) == 6


def count_batches() -> int:
    return len(list(NeighborLoader(random_data(60, 100), [2], batch_size=10, num_workers=1)))


def test_loaders_on_several_threads(data):
    expected = [batch.n_id for batch in NeighborLoader(data, [5, 5], batch_size=100, seed=1)]
    failures = []

    def load() -> None:
        found = [batch.n_id for batch in NeighborLoader(data, [5, 5], batch_size=100, num_workers=2, seed=1)]
        if not all(map(torch.equal, expected, found)):
            failures.append(1)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_threads_may_share_an_iteration(data):
    expected = [batch.input_id.tolist() for batch in NeighborLoader(data, [5, 5], batch_size=50, num_workers=0)]
    batches, found = iter(NeighborLoader(data, [5, 5], batch_size=50, num_workers=2)), []
    threads = [threading.Thread(target=lambda: found.extend(each.input_id.tolist() for each in batches)) for _ in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == expected


def timeouts(loader, tries: int) -> int:
    """Count the iterations whose first batch was not waited for."""
    found = 0
    for _ in range(tries):
        try:
            next(iter(loader))
        except GnomonError as error:
            assert "timeout" in str(error)
            found += 1
    return found


def test_timeout_is_kept():
    data = random_data(200000, 4000000)
    loader = NeighborLoader(data, [-1], batch_size=200000, num_workers=1, timeout=1e-3)
    # A batch takes more than a hundred timeouts. This thread may get no core for as long as that, but not every time.
    assert timeouts(loader, tries=10) > 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
