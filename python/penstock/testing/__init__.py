"""For tests of your own: operators driven by hand, and a source that plays a script.

A harness takes a function that builds a pipeline on a stream, and runs its operators on the test's own thread. Nothing
happens but what the test does: elements, watermarks and the clock are moved by hand, and no test ever sleeps.

>>> from penstock import Time
>>> from penstock.datastream import TumblingEventTimeWindows
>>> def sums(numbers):
...     windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
...     return numbers.key_by(lambda n: n % 2).window(windows).reduce(lambda a, b: a + b)
>>> with OneInputStreamOperatorTestHarness(sums) as harness:
...     harness.process_element(1, timestamp=3)
...     harness.process_element(5, timestamp=4)
...     harness.process_watermark(9)
...     harness.get_output()
[StreamRecord(value=6, timestamp=9), Watermark(timestamp=9)]

State goes from one harness to the next as it goes through a checkpoint:

>>> with OneInputStreamOperatorTestHarness(sums) as harness:
...     harness.process_element(1, timestamp=3)
...     snapshot = harness.snapshot()
>>> restored = OneInputStreamOperatorTestHarness(sums)
>>> restored.initialize_state(snapshot)
>>> with restored:
...     restored.process_element(7, timestamp=4)
...     restored.end_input()
...     restored.extract_output_values()
[8]

For whole jobs there is ``ScriptedSource``.
"""

from __future__ import annotations

from penstock.testing.elements import (
    MAX_WATERMARK,
    OperatorSnapshot,
    StreamRecord,
    Watermark,
    WatermarkStatus,
)
from penstock.testing.harness import (
    MultiInputStreamOperatorTestHarness,
    OneInputStreamOperatorTestHarness,
)
from penstock.testing.scripted_source import ScriptedSource

__all__ = [
    "MAX_WATERMARK",
    "MultiInputStreamOperatorTestHarness",
    "OneInputStreamOperatorTestHarness",
    "OperatorSnapshot",
    "ScriptedSource",
    "StreamRecord",
    "Watermark",
    "WatermarkStatus",
]
