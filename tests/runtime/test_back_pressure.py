"""A slow sink slows the source down: what waits between them does not grow."""

import subprocess
import sys

import pytest

# Not marked native: under a sanitizer the memory measured would be the sanitizer's.
pytestmark = pytest.mark.slow

# An endless generator could make hundreds of millions of rows in this time; the sink takes a batch per 10 ms.
PROGRAM = """
import os, time
from penstock import StreamExecutionEnvironment
from penstock.connectors.datagen import DataGen

def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
rows = env.from_generator(DataGen().sequence("id").string("text", "a longer text ", 10**9))
rows.{exchange}.for_each_batch(lambda batch: time.sleep(0.01))
client = env.execute_async()
time.sleep(1.5)
early = memory()
made = sum(m["records_out"] for m in client.metrics() if m["name"].startswith("Source"))
time.sleep(3)
late = memory()
client.cancel().result()
print(early, late, made)
"""


@pytest.mark.parametrize("exchange", ["rebalance()", "key_by('id')"])
def test_memory_stays_flat_behind_a_slow_sink(exchange: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(exchange=exchange)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    early, late, made = map(float, done.stdout.split())
    assert made > 0
    assert late - early < 16, f"{early:.0f} MB grew to {late:.0f} MB"
    assert late < 400


def test_client_that_reads_slowly_slows_the_job() -> None:
    program = PROGRAM.replace(
        "rows.{exchange}.for_each_batch(lambda batch: time.sleep(0.01))\nclient = env.execute_async()",
        "results = rows.execute_and_collect(); next(results)\nclient = results",
    )
    program = program.replace("client.cancel().result()", "results.close()")
    program = program.replace(
        'made = sum(m["records_out"] for m in client.metrics() if m["name"].startswith("Source"))',
        "made = 1",
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    early, late, _ = map(float, done.stdout.split())
    assert late - early < 16, f"{early:.0f} MB grew to {late:.0f} MB"
