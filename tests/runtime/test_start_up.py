"""How long a program takes to start. CPU time is measured: the machine may be busy with other things."""

import resource
import subprocess
import sys

import pytest

# Not marked native: under a sanitizer the time measured would be the sanitizer's.
pytestmark = pytest.mark.slow

TEN_ROWS = """
from penstock import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
print(sorted(env.from_collection(range(10)).map(lambda x: x * 2).execute_and_collect()))
"""


def cpu_seconds(program: str) -> tuple[float, str]:
    """The least of three runs, and what the program printed."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found), done.stdout


def test_import_takes_at_most_a_quarter_of_a_second_and_no_numpy() -> None:
    program = "import penstock, sys; print({'numpy', 'pyarrow', 'pandas'} & set(sys.modules))"
    seconds, printed = cpu_seconds(program)
    assert seconds <= 0.25
    assert printed.strip() == "set()"


def test_ten_row_job_takes_at_most_a_second() -> None:
    seconds, printed = cpu_seconds(TEN_ROWS)
    assert seconds <= 1.0
    assert printed.strip() == str([x * 2 for x in range(10)])
