"""Rows of epochs by gnomon: presets, the plan of `gnomon autotune`, and predictions beside measurements."""

import json
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from rows import is_rehearsal, write_json

# In the kit beside this program, else in the sources.
PRESETS = next(path for path in [Path(__file__).parent / "presets", Path(__file__).resolve().parents[2] / "plan/presets"] if path.exists())
BATCH_SIZE = 1024
JOB = ["--fanouts", "15,10,5", "--hidden", "256", "--batch-size", str(BATCH_SIZE)]
SHORTEST_S = 5  # no training on a GPU is shorter, so none is begun with less time left
# What the papers compare first, should the time not suffice for all.
FIRST = ["device", "dgl-uva", "gnnlab", "quiver", "pagraph", "ducati", "dgl", "pyg", "salient", "gnomon", "dsp", "morphgl", "sota"]
TOO_LONG = ["gas"]  # trains all vertices in each epoch, which takes longer than a phase: by --plans only


class Refused(Exception):
    """Why a command gave nothing."""


class OutOfTime(Refused):
    """A command that may give something when there is more time."""

    beginning = "no time: "

    def __init__(self, why):
        super().__init__(self.beginning + why)


def gnomon(options, *arguments, seconds=None, prefix=()):
    """The JSON that a command prints, which `prefix` runs. Throws Refused when it ends with an error, or takes longer."""
    command = [*prefix, str(options.gnomon), *map(str, arguments), "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=seconds)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
            raise Refused(lines[-1].removeprefix("gnomon: "))
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise OutOfTime(f"not done after {seconds:.0f} s") from None
    except (OSError, json.JSONDecodeError) as error:
        raise Refused(str(error)) from None


def fresh(directory):
    shutil.rmtree(directory, ignore_errors=True)
    return directory


def presets():
    names = sorted(path.stem for path in PRESETS.glob("*.json"))
    others = [name for name in names if name not in FIRST + TOO_LONG]
    return [name for name in [*FIRST, *others] if name in names]


def plan_file(options, preset, graphs):
    """A preset, or a file of it with recorded steps; no emulated device records any, so a rehearsal leaves them out."""
    if not graphs:
        return preset
    return variant_of(options, preset, "graphs", graphs=not is_rehearsal())


def variant_of(options, preset, suffix, **fields):
    """A file of a preset with other fields."""
    path = options.work / f"{preset}-{suffix}.json"
    write_json(path, json.loads((PRESETS / f"{preset}.json").read_text()) | {"name": path.stem, **fields})
    return path


def batches_of(options):
    return -(-gnomon(options, "info", options.store)["train"] // BATCH_SIZE)


def train(options, plan, share, first=1, prefix=()):
    """The seconds of an epoch, as the median of three from the epoch `first` on, and the hash of the final weights, with a share
    of the memory that all data take. What the command prints and the last epoch's timeline are kept beside the record."""
    limit = min(options.epoch_seconds, options.left())
    name = f"{Path(plan).stem}_{share:g}"
    done = gnomon(options, "train", options.store, *JOB, "--epochs", first + 3, "--evaluate-every", "never", *device_of(options, share),
                  "--plan", plan, "--run", fresh(options.work / "run"), "--trace", options.output.parent / f"trace_{name}.json", seconds=limit, prefix=prefix)
    keep(options, f"train_{name}", done)
    return statistics.median(epoch["epoch_s"] for epoch in done["epochs"][first:]), done["weights_hash"]


def keep(options, name, document):
    """Writes a document of gnomon beside the record."""
    write_json(options.output.parent / "documents" / f"{name}.json", document)


def device_of(options, share):
    """The device with that share of the memory that the graph, its features and half a GiB take."""
    needed = sum(file.stat().st_size for file in options.store.glob("*.npy")) + (512 << 20)
    return ["--device", options.device, "--device-memory", int(share * needed)]


def measured(rows, share):
    """Epochs of presets without recorded steps, by their names."""
    found = rows.find("preset_epoch", memory=share, graphs=False)
    return {row["plan"]: row["value"] for row in found if row["value"] is not None}


def settled(rows, share):
    """Presets that were measured or refused, but for those for which there was no time."""
    found = rows.find("preset_epoch", memory=share, graphs=False)
    return {row["plan"] for row in found if row["value"] is not None or not row["why_not"].startswith(OutOfTime.beginning)}


def add_presets(options, rows):
    """Every preset, held against the fastest; those that an earlier phase has settled are kept."""
    for plan in options.plans or presets():
        if plan in settled(rows, options.memory):
            continue
        case = {"plan": plan, "memory": options.memory, "graphs": False}
        try:
            if options.left() < SHORTEST_S:
                raise OutOfTime("the phase was over")
            seconds, weights = train(options, plan, options.memory)
            rows.add("preset_epoch", seconds, weights=weights, **case)
            rows.hold_against_smallest("preset_epoch", memory=options.memory, graphs=False)
        except Refused as why:
            rows.add("preset_epoch", None, why_not=str(why), **case)


def add_autotune(options, rows):
    """The plan of autotune beside the best preset: the medians of processes that take turns, as epochs of one plan differ by up to
    20 % from one process to the next."""
    share, tuned = options.memory, fresh(options.work / "tuned")
    known = measured(rows, share)
    best = min(known, key=known.get) if known else None
    case = {"memory": share, "best": best}
    try:
        # So many epochs that a profile is worth its time.
        done = gnomon(options, "autotune", options.store, *JOB, "--epochs", 40, "--evaluate-every", 20, "--profile-share", 0.5, "--time-limit",
               options.profile_seconds, *device_of(options, share), "--run", tuned, seconds=max(1, options.left()))
        keep(options, "autotuning", done)
        evaluations = [json.loads(line).get("evaluation_s") for line in (tuned / "log.jsonl").read_text().splitlines()]
        rows.add("evaluation", [seconds for seconds in evaluations if seconds][-1], plan="autotuned", memory=share)
        epochs = {"tuned": [], "best": []}
        for _ in range(options.turns):
            epochs["tuned"].append(train(options, tuned / "plan.json", share)[0])
            epochs["best"].append(train(options, best, share)[0] if best else None)
        keep(options, "autotune_turns", epochs)
        rows.add("autotune_vs_best", statistics.median(epochs["tuned"]), statistics.median(epochs["best"]) if best else None, **case)
    except Refused as why:
        rows.add("autotune_vs_best", None, known.get(best), why_not=str(why), **case)


def add_predictions(options, rows):
    """What a new profile says of every preset that was measured."""
    share, profile = options.memory, options.work / "profile.json"
    profile.unlink(missing_ok=True)
    try:
        gnomon(options, "profile", "--all", options.store, *JOB, *device_of(options, share), "--time-limit", options.profile_seconds, "-o", profile,
               seconds=max(1, options.left()))
        keep(options, f"profile_{share:g}", json.loads(profile.read_text()))
        known = measured(rows, share)
        if not known:
            raise Refused("no preset was measured")
        predicted = gnomon(options, "explore", profile, "--plan", ",".join(known), seconds=max(1, options.left()))
        rows.drop("predicted_vs_measured", memory=share)
        for row in predicted["rows"]:
            rows.add("predicted_vs_measured", row["epoch_s"], known[row["plan"]], plan=row["plan"], memory=share)
    except Refused as why:
        rows.add("predicted_vs_measured", None, plan=None, memory=share, why_not=str(why))


def add_shares(options, rows):
    """The epoch of a preset that prepares beside training, with other shares of the GPU for preparing."""
    for preset in options.plans or ["dsp", "pytorch-direct"]:
        for prepare_share in (0.03, 0.06, 0.15, 0.3, 0.6):
            case = {"plan": preset, "memory": options.memory, "prepare_share": prepare_share}
            path = variant_of(options, preset, f"{prepare_share:g}", prepare_share=prepare_share)
            try:
                if options.left() < SHORTEST_S:
                    raise OutOfTime("the phase was over")
                seconds, weights = train(options, path, options.memory)
                rows.add("preset_epoch", seconds, measured(rows, options.memory).get(preset), weights=weights, **case)
            except Refused as why:
                rows.add("preset_epoch", None, why_not=str(why), **case)


def add_graphs(options, rows):
    """The fastest preset that goes with recorded steps, from the third epoch on, as they are recorded in the second."""
    known = measured(rows, options.memory)
    why = "no preset was measured"
    for plan in sorted(known, key=known.get):
        try:
            if options.left() < SHORTEST_S:
                why = "the time of the phase was over"
                break
            seconds, weights = train(options, plan_file(options, plan, graphs=True), options.memory, first=2)
            rows.drop("preset_epoch", plan=None, memory=options.memory, graphs=True)
            rows.add("preset_epoch", seconds, known[plan], weights=weights, plan=plan, memory=options.memory, graphs=True)
            return
        except Refused as refusal:
            why = str(refusal)
    rows.add("preset_epoch", None, plan=None, memory=options.memory, graphs=True, why_not=why)


def limit_time(options):
    end = time.monotonic() + options.seconds
    options.left = lambda: end - time.monotonic()
