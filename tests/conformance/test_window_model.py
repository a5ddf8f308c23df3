"""Scenarios made up at random: windows agree with a brute-force model, also across a snapshot."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.builders.experiment import Experiment
from conformance.builders.sliced import applies, build_sliced, expected_rows, flinks_rows
from conformance.builders.window import build_window
from conformance.compare import Answer, assert_same, assert_same_rows
from conformance.corpus import Scenario, load
from conformance.model import answer_of
from conformance.not_yet import blockers, listed
from conformance.script import play_items

pytestmark = pytest.mark.native

TIMES = st.integers(-150, 150)
ITEMS = st.one_of(
    st.tuples(st.just("e"), st.sampled_from("abc"), st.integers(-20, 20), TIMES),
    st.tuples(st.just("w"), TIMES),
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    size = draw(st.sampled_from([1, 5, 20, 100]))
    scenario = {
        "kind": "window",
        "assigner": {
            "type": "tumbling",
            "size": size,
            "offset": draw(st.integers(-size + 1, size - 1)),
        },
        "all": draw(st.booleans()),
        "trigger": None,
        "evictor": None,
        "allowed_lateness": draw(st.sampled_from([0, 0, 1, 10, 50])),
        "late_output": draw(st.booleans()),
        "function": draw(st.sampled_from(["reduce_sum", "avg", "sum", "min", "max"])),
        "window_info": draw(st.booleans()),
        # Without a key in the output there is no order per key to compare.
        "order_stable": False,
        "input": [list(item) for item in draw(st.lists(ITEMS, max_size=40))],
    }
    return {**scenario, "expected": answer_of(scenario)}


batch_rows = st.sampled_from([1, 7, 8192])


def test_model_gives_flinks_answers() -> None:
    running = [s for s in load() if s["kind"] == "window" and not blockers(s, listed())]
    for scenario in running:
        assert_same(answer_of(scenario), {**scenario, "order_stable": False})


@settings(max_examples=150)
@given(scenarios(), batch_rows)
def test_general_window_equals_the_model(scenario: Scenario, rows: int) -> None:
    assert_same(build_window(scenario).run(rows), scenario)


@settings(max_examples=150)
@given(scenarios().filter(applies), batch_rows, st.booleans())
def test_sliced_window_equals_the_model(scenario: Scenario, rows: int, late_output: bool) -> None:
    answer = build_sliced(scenario, late_output).run(rows)
    assert_same_rows(expected_rows(scenario, answer["out"]), flinks_rows(scenario))


def run_in_two_parts(experiment: Experiment, cut: int, rows: int) -> Answer:
    """The answer when the operators are replaced by restored ones before item ``cut``."""
    script = experiment.scenario["input"]
    with experiment.harness() as first:
        play_items(first, script[:cut], rows)
        snapshot = first.snapshot()
        before = experiment.answer(first)
    second = experiment.harness()
    second.initialize_state(snapshot)
    with second:
        # A watermark is no state: the source sends it again.
        seen = [item[1] for item in script[:cut] if item[0] == "w"]
        if seen:
            second.process_watermark(0, max(seen))
        play_items(second, script[cut:], rows, sum(item[0] == "e" for item in script[:cut]))
        second.end_input(0)
        after = experiment.answer(second)
    return {channel: before[channel] + after[channel] for channel in before}


@settings(max_examples=150)
@given(scenarios(), batch_rows, st.integers(0, 40))
def test_general_window_goes_on_from_a_snapshot(scenario: Scenario, rows: int, cut: int) -> None:
    assert_same(run_in_two_parts(build_window(scenario), cut, rows), scenario)


@settings(max_examples=150)
@given(scenarios().filter(applies), batch_rows, st.integers(0, 40), st.booleans())
def test_sliced_window_goes_on_from_a_snapshot(
    scenario: Scenario, rows: int, cut: int, late_output: bool
) -> None:
    answer = run_in_two_parts(build_sliced(scenario, late_output), cut, rows)
    assert_same_rows(expected_rows(scenario, answer["out"]), flinks_rows(scenario))
