"""The engine gives Apache Flink's answers, wherever batch boundaries fall, on both state backends, across snapshots."""

from dataclasses import replace

import pytest

from conformance.builders import build
from conformance.builders.experiment import Experiment
from conformance.builders.sliced import applies, build_sliced, expected_rows, flinks_rows
from conformance.compare import assert_same, assert_same_rows
from conformance.corpus import VOCABULARY, Scenario, load
from conformance.job import run_as_job
from conformance.not_yet import Item, NotYet, blockers, listed
from conformance.recovery import run_across_a_snapshot

pytestmark = pytest.mark.native

ITEMS = listed()
SCENARIOS = load()
RUNNING = [scenario for scenario in SCENARIOS if not blockers(scenario, ITEMS)]
WINDOWS = [scenario for scenario in RUNNING if scenario["kind"] == "window"]
KEYED = [scenario for scenario in RUNNING if scenario not in WINDOWS]
SLICED = [scenario for scenario in WINDOWS if applies(scenario)]

batches = pytest.mark.parametrize("rows", [1, 7, 8192])
backends = pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])


# The greater one holds all state of a scenario, the other next to nothing. The heap knows no tier.
tiers = pytest.mark.parametrize("tier", ["64 mb", "1 kb"])


def sliced(scenario: Scenario, tier: str, late_output: bool) -> Experiment:
    settings = {"penstock.state.write-back-tier": tier}
    return replace(build_sliced(scenario, late_output), settings=settings)


def scenarios(found: list[Scenario]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("scenario", found, ids=[s["id"] for s in found])


@batches
@backends
@scenarios(RUNNING)
def test_answer_is_flinks(scenario: Scenario, backend: str, rows: int) -> None:
    assert_same(build(scenario).run(rows, backend), scenario)


@batches
@backends
@scenarios(RUNNING)
def test_answer_is_the_same_across_a_snapshot(scenario: Scenario, backend: str, rows: int) -> None:
    answer = run_across_a_snapshot(build(scenario), rows, backend, backend)
    assert_same(answer, scenario)


@pytest.mark.parametrize(
    ("backend", "next_backend"), [("hashmap", "rocksdb"), ("rocksdb", "hashmap")]
)
@scenarios(KEYED)
def test_answer_is_the_same_when_the_other_backend_goes_on(
    scenario: Scenario, backend: str, next_backend: str
) -> None:
    assert_same(run_across_a_snapshot(build(scenario), 7, backend, next_backend), scenario)


@batches
@backends
@tiers
@scenarios(SLICED)
def test_pre_aggregated_sliced_window_gives_the_same_answer(
    scenario: Scenario, tier: str, backend: str, rows: int
) -> None:
    answer = sliced(scenario, tier, late_output=False).run(rows, backend)
    assert_same_rows(expected_rows(scenario, answer["out"]), flinks_rows(scenario))


@batches
@tiers
@pytest.mark.parametrize(
    ("backend", "next_backend"),
    [
        ("hashmap", "hashmap"),
        ("rocksdb", "rocksdb"),
        ("hashmap", "rocksdb"),
        ("rocksdb", "hashmap"),
    ],
)
@scenarios(SLICED)
def test_sliced_window_gives_the_same_answer_across_a_snapshot(
    scenario: Scenario, backend: str, next_backend: str, tier: str, rows: int
) -> None:
    experiment = sliced(scenario, tier, late_output=False)
    answer = run_across_a_snapshot(experiment, rows, backend, next_backend)
    assert_same_rows(expected_rows(scenario, answer["out"]), flinks_rows(scenario))


@batches
@backends
@scenarios(SLICED)
def test_sliced_window_with_late_output_gives_the_same_answer(
    scenario: Scenario, backend: str, rows: int
) -> None:
    answer = build_sliced(scenario, late_output=True).run(rows, backend)
    assert_same_rows(expected_rows(scenario, answer["out"]), flinks_rows(scenario))
    if scenario["late_output"]:
        assert_same_rows(answer["late"], scenario["expected"]["late"])


@scenarios(WINDOWS)
def test_whole_job_gives_the_same_answer(scenario: Scenario) -> None:
    # A job's results come without the timestamps of their records.
    expected = [row[:4] + row[5:] for row in scenario["expected"]["out"]]
    assert_same_rows([row[:4] + row[5:] for row in run_as_job(scenario)], expected)


@pytest.mark.parametrize("item", ITEMS, ids=".".join)
def test_listed_feature_cannot_run_yet(item: Item) -> None:
    for scenario in SCENARIOS:
        if blockers(scenario, ITEMS) == [item]:
            with pytest.raises((NotYet, NotImplementedError)):
                build(scenario).harness()


def test_list_names_features_of_the_format() -> None:
    unknown = [i for i in ITEMS if i.value not in VOCABULARY.get(i.kind, {}).get(i.feature, [])]
    assert unknown == []


def test_tumbling_windows_with_default_trigger_are_not_on_the_list() -> None:
    must_run = {"assigner": "tumbling", "evictor": "none"}
    for trigger in ("default", "event_time"):
        for function in ("reduce_sum", "avg", "sum", "min", "max"):
            asked = {**must_run, "trigger": trigger, "function": function}
            assert not [i for i in ITEMS if i.kind == "window" and asked[i.feature] == i.value]
