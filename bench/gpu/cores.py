"""Rows of epochs on more cores than a profile was measured on: predicted by the law of cores beside measured."""

import json
import os

import epochs

PLANS = ["salient", "gnomon"]  # whose preparation takes the host's cores
COUNTS = [2, 4, 8, 16]


def usable():
    return sorted(os.sched_getaffinity(0))


def limited_to(count):
    """What a command begins with that may only use so many cores."""
    return ["taskset", "-c", ",".join(map(str, usable()[:count]))]


def add_rows(options, rows):
    """The epoch of plans on 2, 4, 8 … cores, predicted from a profile on two (on one where there are only two), beside measurements."""
    share, cores = options.memory, len(usable())
    known = 2 if cores > 2 else 1
    profile = options.work / "few_cores.json"
    profile.unlink(missing_ok=True)
    counts = [count for count in COUNTS if known < count <= cores] or [known]
    try:
        epochs.gnomon(options, "profile", options.store, *epochs.JOB, *epochs.device_of(options, share), "--time-limit",
                      options.profile_seconds, "-o", profile, seconds=max(1, options.left()), prefix=limited_to(known))  # fmt: skip
        epochs.keep(options, "profile_few_cores", json.loads(profile.read_text()))
    except epochs.Refused as why:
        rows.add("cores_vs_measured", None, plan=None, cores=None, memory=share, why_not=str(why))
        return
    for count in counts:
        for plan in options.plans or PLANS:
            add_row(options, rows, profile, plan, count)


def add_row(options, rows, profile, plan, count):
    case = {"plan": plan, "cores": count, "memory": options.memory}
    try:
        if options.left() < epochs.SHORTEST_S:
            raise epochs.OutOfTime("the phase was over")
        predicted = epochs.gnomon(options, "explore", profile, "--plan", plan, "--set", f"machine.cpu.cores={count}", seconds=max(1, options.left()))
        measured, _ = epochs.train(options, plan, options.memory, prefix=limited_to(count))
        rows.add("cores_vs_measured", predicted["rows"][0]["epoch_s"], measured, **case)
    except epochs.Refused as why:
        rows.add("cores_vs_measured", None, why_not=str(why), **case)
