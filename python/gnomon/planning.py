"""Measure, predict and search plans: the commands of ``gnomon`` as functions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from gnomon._program import Progress, run
from gnomon.graph import Store
from gnomon.records import Records

Profile = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A file, the name of a paper's workload, or the document itself."""


def _source(profile: Profile) -> Any:
    return dict(profile) if isinstance(profile, Mapping) else os.fspath(profile)


def _listed(values: str | Sequence[str] | None) -> str | None:
    return values if values is None or isinstance(values, str) else ",".join(map(str, values))


def _sweep(path: str, values: Any) -> str:
    """``PATH=v1,v2``; a string is passed on, for ranges such as ``"2:32:*2"``."""
    return f"{path}={values if isinstance(values, str) else ','.join(map(str, values))}"


def _directory(store: str | os.PathLike[str] | Store) -> str:
    return os.fspath(store.directory if isinstance(store, Store) else store)


def explore(
    profiles: Profile | Sequence[Profile],
    plans: str | Sequence[str] = "all",
    machines: str | Sequence[str] | None = None,
    changes: Mapping[str, Any] | None = None,
    seed: int = 0,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Records:
    """Predict plans on profiles, changed machines and changed plans.

    Parameters
    ----------
    profiles : str, path or dict, or a list of these
        One or more: files of ``gnomon profile``, documents, or papers' workloads such as ``"neutronorch/Reddit"``.
    plans : str or list of str
        Presets and plan files, or ``"all"``.
    machines : str or list of str, optional
        Scale the profiles to these machines of ``gnomon catalog``, or ``"all"``.
    changes : dict, optional
        Fields of the profile, or of the plan as ``"plan.FIELD"``, and the values to try, as a list or a range such as
        ``"2:32:*2"``; all combinations are predicted.
    seed : int
        Random seed of the variation between mini-batches.
    jobs : int, optional
        Number of processes; None: one for each core.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.

    Returns
    -------
    Records
        A row for each plan and combination: ``plan``, ``epoch_s``, ``lower_bound_s``, ``bound_by``, memory, the
        changed fields and more. ``epoch_s`` is None if there is no prediction; ``why_not`` is then the reason.

    Examples
    --------
    >>> rows = gnomon.explore("neutronorch/Reddit", ["device", "gnomon"], changes={"machine.cpu.cores": [2, 8, 32]})
    >>> pandas.DataFrame(rows).pivot(index="machine.cpu.cores", columns="plan", values="epoch_s")
    """
    several = [profiles] if isinstance(profiles, (str, os.PathLike, Mapping)) else list(profiles)
    options = {
        "plan": _listed(plans),
        "machine": _listed(machines),
        "set": [_sweep(path, values) for path, values in (changes or {}).items()],
        "seed": seed,
        "jobs": jobs,
    }
    document = run("explore", [_source(each) for each in several], options, progress)
    return Records(document["rows"], document)


def tune(
    profile: Profile,
    machine: str | None = None,
    budget: int | str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Records:
    """Search the best plan for a profile.

    Parameters
    ----------
    profile : str, path or dict
        A file of ``gnomon profile``, a document, or a paper's workload.
    machine : str, optional
        Scale the profile to this machine of ``gnomon catalog``.
    budget : int
        Maximum number of simulated epochs (``200``) or seconds (``"2.5s"``).
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.
    **options
        Those of ``gnomon tune --help``, with underscores: ``exact="bits"``, ``device_memory="8GiB"``,
        ``allow_approximate=True``, ``front=True``.

    Returns
    -------
    Records
        The candidates: the best plan first, then the fastest plan of each other name and level of exactness. A row's
        ``document`` is the plan's document; ``Records.document`` is the document of the whole search.
    """
    document = run("tune", [_source(profile)], {"machine": machine, "budget": budget, **options}, progress)
    return Records([_candidate(each) for each in document["candidates"]], document)


def _candidate(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """A flat row of a candidate."""
    prediction = dict(candidate["prediction"])
    memory = prediction.pop("memory", {})
    return {
        "plan": candidate["plan"]["name"],
        "exact": candidate["exact"],
        **prediction,
        "host_memory_bytes": sum(memory.get("host", {}).values()),
        "device_memory_bytes": sum(memory.get("device", {}).values()),
        "document": candidate["plan"],
    }


def reproduce(paper: str = "all", baselines: Profile | None = None, progress: Progress | None = None) -> Records:
    """Predict the tables of published papers.

    Parameters
    ----------
    paper : str
        ``"morphgl"``, ``"neutronorch"``, ``"gnnlab"`` and others, or ``"all"``.
    baselines : path, optional
        Take the baselines from this file or document instead of the paper's.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.

    Returns
    -------
    Records
        A row for each cell: ``paper``, ``table``, ``machine``, ``cell``, ``unit``, ``printed``, ``predicted``, ``error``.
    """
    options = {"baselines": None if baselines is None else _source(baselines)}
    document = run("reproduce", [paper], options, progress)
    reports = document.get("reports", [document])
    return Records([{"paper": report["paper"], **row} for report in reports for row in report["rows"]], document)


def profile(store: str | os.PathLike[str] | Store, progress: Progress | None = None, **options: Any) -> dict[str, Any]:
    """Measure a job on this machine, with gnomon's own models. Needs a build with LibTorch.

    Parameters
    ----------
    store : path or Store
        A graph store.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.
    **options
        Those of ``gnomon profile --help``, with underscores: ``model="gcn"``, ``fanouts="10,5"``, ``time_limit=5``.

    Returns
    -------
    dict
        The profile's document, for :func:`explore`, :func:`tune` and :func:`validate`.
    """
    return run("profile", [_directory(store)], options, progress)


def validate(
    store: str | os.PathLike[str] | Store,
    profile: Profile,
    plans: str | Sequence[str] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Records:
    """Run plans and compare predicted with measured times. Needs a build with LibTorch.

    Parameters
    ----------
    store : path or Store
        A graph store.
    profile : str, path or dict
        The profile of this store, measured on this machine.
    plans : str or list of str
        Presets and plan files; None: at least eight different plans.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.
    **options
        Those of ``gnomon validate --help``, with underscores: ``epochs=3``.

    Returns
    -------
    Records
        A row for each plan, with predicted and measured seconds.
    """
    given = {"plans": _listed(plans), **options}
    document = run("validate", [_directory(store), _source(profile)], given, progress)
    rows = [{**each, "plan": each["plan"]["name"], "document": each["plan"]} for each in document["plans"]]
    return Records(rows, document)
