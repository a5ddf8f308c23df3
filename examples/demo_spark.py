"""The demo's program on a local Spark: the stream becomes a DataFrame."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from demo_view import View

from penstock import Configuration, StreamExecutionEnvironment
from penstock.connectors.datagen import DataGen
from penstock.datastream import DataStream
from penstock.spark import to_dataframe

Program = Callable[[StreamExecutionEnvironment, DataGen], DataStream]


def run_on_spark(source: DataGen, program: Program, view: View) -> tuple[pa.Table, int, float]:
    """The windows, the number of late clicks and the seconds it took, without the start of Spark."""
    master = f"local[{len(os.sched_getaffinity(0))}]"
    settings = {
        "execution.target": "spark",
        "penstock.spark.master": master,
        "spark.sql.session.timeZone": "UTC",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    stream = program(env, source)
    with view.busy("Spark starts"):
        dataframe = to_dataframe(stream)
    with view.busy(f"The job runs on {master}"):
        begin = time.perf_counter()
        found = dataframe.toArrow()
        seconds = time.perf_counter() - begin
    dataframe.sparkSession.stop()
    found = found.cast(stream.get_schema())  # Spark's times are in microseconds.
    late = (source.count or 0) - (pc.sum(found["clicks"]).as_py() or 0)
    return found, late, seconds
