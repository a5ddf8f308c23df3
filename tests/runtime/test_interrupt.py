"""Ctrl-C ends a running job promptly and cleanly, wherever the program waits for it."""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = [pytest.mark.native, pytest.mark.faults]

PREPARATION = """
import sys
from penstock import StreamExecutionEnvironment
from penstock.connectors.datagen import DataGen
from penstock.datastream import MapFunction

class Closing(MapFunction):
    def map(self, value):
        return value
    def close(self):
        sys.stdout.write("closed\\n")  # in one piece, whoever else writes

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
stream = env.from_generator(DataGen(rate=1000).sequence("id")).map(Closing()).rebalance()
print("running", flush=True)
"""

WAITS = {
    "execute": "stream.discard(); env.execute()",
    "collect": "print(sum(1 for _ in stream.execute_and_collect()))",
    "result": "stream.discard(); env.execute_async().get_job_execution_result().result()",
}

CAUGHT = """
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def interrupted(program: str) -> tuple[int, list[str], float]:
    """The exit code, the lines printed, and how many seconds the end took after Ctrl-C."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        started = time.monotonic()
        try:
            output, _ = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, output.split(), time.monotonic() - started


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_cancels_closes_functions_and_is_raised_again(wait: str) -> None:
    code, lines, seconds = interrupted(PREPARATION + CAUGHT.format(wait=WAITS[wait]))
    assert code == 0
    # Both subtasks have been closed before the program goes on.
    assert lines == ["closed", "closed", "interrupted"]
    assert seconds < 5


def test_program_that_ends_while_a_job_runs_ends_the_job() -> None:
    program = (
        PREPARATION + "stream.discard(); client = env.execute_async(); import time; time.sleep(0.5)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["running", "closed", "closed"]


def test_job_without_a_client_goes_on() -> None:
    program = PREPARATION + (
        "seen = []; stream.add_sink(seen.append); env.execute_async(); import gc, time; gc.collect(); "
        "before = len(seen); time.sleep(1.0); print('went' if len(seen) > before else 'stopped')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["running", "went", "closed", "closed"]
