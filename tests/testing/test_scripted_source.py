"""ScriptedSource plays in a job exactly what was written."""

import pytest

from penstock import StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock.datastream import DataStream, TumblingEventTimeWindows
from penstock.testing import ScriptedSource

pytestmark = pytest.mark.native


def stream_of(source: ScriptedSource, parallelism: int) -> DataStream:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(parallelism)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "script")


@pytest.mark.parametrize("parallelism", [1, 3])
def test_script_is_played_once_and_in_order(parallelism: int) -> None:
    source = ScriptedSource().element(1).elements([2, 3]).watermark(5).element(4)
    stream = stream_of(source, parallelism)
    assert sorted(stream.execute_and_collect()) == [1, 2, 3, 4]


def test_watermarks_of_the_script_decide_what_is_late() -> None:
    source = ScriptedSource().element(1, 3).watermark(9).element(2, 4).element(3, 12)
    windows = stream_of(source, 1).window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    assert list(windows.reduce(lambda a, b: a + b).execute_and_collect()) == [1, 3]


def test_each_step_gives_a_new_script() -> None:
    source = ScriptedSource()
    source.element(1).idle().active()
    assert source.script == ()
