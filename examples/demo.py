"""Clicks per campaign in event-time windows, live, and checked against DuckDB: ``make demo``.

Millions of clicks are made in the engine. They arrive up to three seconds out of order, and a few come from phones
that were offline for an hour: by then their windows have fired, so they are dropped and counted. The same program
runs in this process or, with ``--target spark``, on a local Spark.

demo_view.py draws, demo_check.py asks DuckDB.
"""

from __future__ import annotations

import argparse
import sys
import time

import pyarrow as pa
from demo_check import batch_answer, compare
from demo_view import View

from penstock import Duration, StreamExecutionEnvironment, Time, WatermarkStrategy
from penstock import functions as F
from penstock.connectors.datagen import DataGen
from penstock.datastream import DataStream, TumblingEventTimeWindows

START_MS = 1_798_761_600_000  # 2027-01-01 00:00:00 UTC
CLICKS_PER_SECOND = 50_000  # of event time
OUT_OF_ORDER_MS = 3_000
OFFLINE_MS = 3_600_000
# Names that stand here more often are clicked more often.
CAMPAIGNS = [
    name
    for weight, names in [
        (12, ["alpine-lake", "blue-harvest"]),
        (7, ["copper-moon", "desert-rose", "early-bird"]),
        (4, ["forest-walk", "golden-hour", "harbour-light", "indigo-night"]),
        (2, ["jade-river", "kite-season", "lemon-grove", "misty-peak", "north-star"]),
        (1, ["ocean-drive", "paper-plane", "quiet-storm", "red-lantern", "silver-birch"]),
    ]
    for name in names
    for _ in range(weight)
]


def clicks(rows: int) -> DataGen:
    """The clicks: row n is a function of the seed and n, so they can be made again for the check."""
    return (
        DataGen(count=rows, seed=2027)
        .timestamp(
            "ts",
            start=START_MS,
            step=1000 / CLICKS_PER_SECOND,
            disorder=OUT_OF_ORDER_MS,
            late=OFFLINE_MS,
            late_fraction=0.002,
        )
        .choice("campaign", CAMPAIGNS)
        .int("cents", 1, 250)
    )


def windows(env: StreamExecutionEnvironment, source: DataGen) -> DataStream:
    """The program: clicks and revenue per campaign in windows of ten seconds."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(OUT_OF_ORDER_MS))
    return (
        env.from_source(source, strategy.with_timestamp_column("ts"), "Clicks")
        .key_by("campaign")
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(F.count().alias("clicks"), F.sum("cents").alias("cents"))
    )


def run_local(source: DataGen, view: View) -> tuple[pa.Table, int, float]:
    """The windows, the number of late clicks and the seconds it took, on the cores of this machine."""
    env = StreamExecutionEnvironment.get_execution_environment()
    batches: list[pa.RecordBatch] = []
    stream = windows(env, source)
    stream.for_each_batch(batches.append)
    begin = time.perf_counter()
    client = env.execute_async("Demo")
    with view.progress(source.count or 0) as progress:
        while not client.wait(0.05):
            progress.update(client.metrics(), time.perf_counter() - begin)
        seconds = time.perf_counter() - begin
        result = client.result()
        progress.update(result.metrics, seconds)
    return (
        pa.Table.from_batches(batches, stream.get_schema()),
        result.total("late_records_dropped"),
        seconds,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--target", choices=["local", "spark"], default="local")
    parser.add_argument("--rows", type=int, help="clicks to make (local: 50 million, Spark: 10)")
    parser.add_argument("--svg", help="write a picture of the output to this file as well")
    arguments = parser.parse_args()
    on_spark = arguments.target == "spark"
    rows = arguments.rows or (10_000_000 if on_spark else 50_000_000)
    if rows > 170_000_000:
        parser.error("at most 170 million rows: beyond an hour, late clicks meet clicks in time")

    source = clicks(rows)
    view = View(picture=arguments.svg)
    view.title(rows, len(set(CAMPAIGNS)), arguments.target)
    if on_spark:
        from demo_spark import run_on_spark

        found, late, seconds = run_on_spark(source, windows, view)
    else:
        found, late, seconds = run_local(source, view)
    with view.busy("DuckDB computes the same windows from the same clicks, as a batch"):
        reference = batch_answer(source, START_MS - OUT_OF_ORDER_MS)
    verdict = compare(found, late, reference)
    view.results(found.filter(pa.compute.greater_equal(found["window_start"], reference.first)))
    view.verdict(rows, seconds, reference.seconds, verdict)
    view.close()
    return 0 if verdict.agree else 1


if __name__ == "__main__":
    sys.exit(main())
