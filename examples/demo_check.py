"""The demo's second opinion: DuckDB computes the windows from the same clicks, as a batch."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa

from penstock.connectors.datagen import DataGen

_CHUNK = 1_000_000
_WINDOWS = """
    SELECT campaign, time_bucket(INTERVAL 10 SECONDS, ts) AS window_start,
           count(*) AS clicks, sum(cents)::BIGINT AS cents
    FROM clicks WHERE ts >= $first GROUP BY ALL
"""


@dataclass(frozen=True)
class Reference:
    """DuckDB's answer. A click before ``first`` is late; all others are in time."""

    windows: pa.Table
    first: datetime
    late: int
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """What the comparison found; ``early`` are late clicks that came before the first watermark."""

    windows: int
    differing: int
    late: int
    early: int
    expected_late: int

    @property
    def agree(self) -> bool:
        return self.differing == 0 and self.late + self.early == self.expected_late


def batch_answer(source: DataGen, first_ms: int) -> Reference:
    """DuckDB's windows over the clicks from ``first_ms`` on; its time does not count making the clicks."""
    rows = source.count or 0
    clicks = pa.Table.from_batches(
        [source.rows(n, min(_CHUNK, rows - n)) for n in range(0, rows, _CHUNK)], source.schema()
    )
    first = datetime.fromtimestamp(first_ms / 1000, UTC).replace(tzinfo=None)
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {len(os.sched_getaffinity(0))}")
        connection.register("clicks", clicks)
        begin = time.perf_counter()
        windows = connection.sql(_WINDOWS, params={"first": first}).to_arrow_table()
        seconds = time.perf_counter() - begin
        late = connection.sql(
            "SELECT count(*) FROM clicks WHERE ts < $first", params={"first": first}
        ).fetchall()[0][0]
    # The first window holds the first clicks, which may be a little older than its start is round.
    return Reference(windows, first - timedelta(seconds=10), late, seconds)


def compare(found: pa.Table, late: int, reference: Reference) -> Verdict:
    """Each window must be DuckDB's. Late clicks are dropped, but for those that came before the first watermark:
    their windows, an hour back, were still open, and how many they are depends on which subtask was first."""
    in_time, early = {}, 0
    for row in found.to_pylist():
        if row["window_start"] >= reference.first:
            in_time[_key(row)] = (row["clicks"], row["cents"])
        else:
            early += row["clicks"]
    expected = {_key(row): (row["clicks"], row["cents"]) for row in reference.windows.to_pylist()}
    differing = sum(
        in_time.get(key) != expected.get(key) for key in in_time.keys() | expected.keys()
    )
    return Verdict(len(expected), differing, late, early, reference.late)


def _key(row: dict[str, Any]) -> tuple[str, datetime]:
    return row["campaign"], row["window_start"]
