"""The commands of the program gnomon as functions; skipped where the program was not built."""

from __future__ import annotations

import json

import pytest

import gnomon
from gnomon import Cancelled, InvalidInput
from gnomon._program import run

try:
    run("catalog")
except gnomon.GnomonError as error:
    pytest.skip(str(error), allow_module_level=True)

WORKLOAD = "neutronorch/Reddit"


def test_explore_gives_a_row_for_each_combination():
    rows = gnomon.explore(WORKLOAD, ["device", "dgl"], changes={"machine.cpu.cores": [4, 8]}, jobs=1)
    assert [(row["plan"], row["machine.cpu.cores"]) for row in rows] == [
        ("device", 4),
        ("dgl", 4),
        ("device", 8),
        ("dgl", 8),
    ]
    assert any(row["epoch_s"] for row in rows)
    for row in rows:
        assert row["why_not"] if row["epoch_s"] is None else row["epoch_s"] >= row["lower_bound_s"] > 0
    assert rows.document["schema"] == "gnomon.exploration/1"


def test_profiles_are_files_or_documents(tmp_path):
    document = run("catalog", [WORKLOAD])
    (tmp_path / "profile.json").write_text(json.dumps(document))
    by_name, by_document, by_file = (
        gnomon.explore(profile, "device") for profile in (WORKLOAD, document, tmp_path / "profile.json")
    )
    assert by_name == by_document == by_file


def test_tune_finds_a_plan_that_explore_predicts_alike(tmp_path):
    steps = []
    found = gnomon.tune(WORKLOAD, budget=5, processes=1, progress=lambda *report: steps.append(report))
    best = found[0]
    assert best["plan"] == found.document["best"] and best["document"]["name"] == best["plan"]
    assert best["exact"] in ("bits", "order") and best["device_memory_bytes"] > 0
    assert steps and all(step and done >= 0 for step, done, _ in steps)
    (tmp_path / "plan.json").write_text(json.dumps(best["document"]))
    (row,) = gnomon.explore(WORKLOAD, str(tmp_path / "plan.json"))
    assert row["epoch_s"] == pytest.approx(best["epoch_s"])


def test_reproduce_gives_the_cells_of_the_tables():
    rows = gnomon.reproduce("joestar")
    assert {row["paper"] for row in rows} == {"joestar"}
    assert all(row["predicted"] > 0 for row in rows)


def test_records_are_tables_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = gnomon.explore(WORKLOAD, ["device", "dgl"]).to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["plan"]) == ["device", "dgl"]


def test_errors_name_what_is_wrong():
    for wrong, named in (
        (lambda: gnomon.explore("nothing"), "nothing"),
        (lambda: gnomon.explore(WORKLOAD, "no_such_plan"), "no_such_plan"),
        (lambda: gnomon.explore(WORKLOAD, changes={"machine.wings": [2]}), "machine.wings"),
        (lambda: gnomon.tune(WORKLOAD, budget="soon"), "budget"),
        (lambda: gnomon.tune(WORKLOAD, no_such=1), "no_such"),
        (lambda: gnomon.tune(WORKLOAD, exact=True), "exact: true not in {bits,order,batches}"),
        (lambda: gnomon.tune(WORKLOAD, exact="some"), "exact: some not in {bits,order,batches}"),
        (lambda: gnomon.tune(WORKLOAD, device_memory=True), "device_memory: .*true"),
        (lambda: gnomon.tune(WORKLOAD, exact="bits", allow_approximate=True), "exact excludes allow_approximate"),
        (lambda: gnomon.tune(WORKLOAD, journal={1}), "journal"),
        (lambda: gnomon.reproduce("nobody"), "nobody"),
    ):
        with pytest.raises(InvalidInput, match=named):
            wrong()


def test_progress_cancels():
    def stop(step, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gnomon.tune(WORKLOAD, budget="60s", progress=stop)
    assert issubclass(Cancelled, gnomon.GnomonError)


def test_profiles_and_validations_are_those_of_this_machine(tmp_path):
    store = gnomon.generate("sbm", tmp_path / "store", vertices=400, classes=3, feature_columns=8)
    try:
        document = gnomon.profile(store, fanouts="3", batch_size=64, hidden=8, time_limit=0.2)
    except InvalidInput as error:
        pytest.skip(str(error))  # a build without LibTorch
    assert document["schema"] == "gnomon.profile/1"
    (row,) = gnomon.validate(store, document, "device", epochs=1)
    assert row["plan"] == "device" and row["measured_s"] > 0 and row["predicted_s"] > 0
