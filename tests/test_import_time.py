"""``import penstock`` is cheap: it loads neither numpy nor pyarrow nor the compiled core."""

import json
import subprocess
import sys

import pytest

LIMIT_SECONDS = 0.25

PROGRAM = """
import json, sys, time
before = set(sys.modules)
start = time.perf_counter()
import penstock
seconds = time.perf_counter() - start
print(json.dumps([seconds, sorted(set(sys.modules) - before)]))
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_import_takes_at_most_a_quarter_of_a_second() -> None:
    best = min(json.loads(run(PROGRAM))[0] for _ in range(5))
    assert best <= LIMIT_SECONDS


@pytest.mark.parametrize("heavy", ["numpy", "pyarrow", "pandas", "pyspark", "penstock._core"])
def test_import_loads_nothing_heavy(heavy: str) -> None:
    _, loaded = json.loads(run(PROGRAM))
    assert heavy not in loaded


def test_describing_a_job_does_not_need_the_compiled_core() -> None:
    program = """
import sys
import penstock
from penstock import functions as F
env = penstock.StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).map(lambda v: v).discard()
env.get_execution_plan()
print("penstock._core" in sys.modules)
"""
    assert run(program).strip() == "False"
