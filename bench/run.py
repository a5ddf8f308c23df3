"""Whole jobs, measured beside DuckDB in the same run, every answer checked: ``python bench/run.py [--quick]``.

=======================  ==================================================================================
window, 10 k keys        tumbling windows of 10 s, count and sum per int key
window, 5 M keys         the same with 5 M keys: almost every row is a new one
pass-through             source to sink, in one task / through an exchange / through an exchange by key
map, ...                 a Python lambda over ints, the same over rows of columns, a column expression
memory                   resident memory of a job without end
=======================  ==================================================================================

Both engines have the rows in memory (Penstock as Arrow data, DuckDB as its own table where that is faster) and as many
threads as there are cores. Times are the best of three runs that take turns. "per core s" counts the time of all cores
and so depends less on what else the machine does. Results go to the screen and to bench/results/latest.json.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
from about import machine
from memory import sample
from rich import box
from rich.console import Console
from rich.table import Table
from workloads import THREADS, WORKLOADS, Workload

RESULTS = Path(__file__).parent / "results" / "latest.json"
QUICKLY = 20  # times fewer rows


@dataclass(frozen=True)
class Outcome:
    """One line of the table. Speeds are rows per second; None: there is no such target."""

    name: str
    question: str
    rows: int
    seconds: float
    cpu_seconds: float
    duckdb_seconds: float
    duckdb_cpu_seconds: float
    target: float | None
    least_ratio: float | None

    @property
    def speed(self) -> float:
        return self.rows / self.seconds

    @property
    def ratio(self) -> float:
        return self.duckdb_seconds / self.seconds

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.speed >= self.target and self.ratio >= (self.least_ratio or 0)


def measure(kind: type[Workload], rows: int, repeats: int) -> Outcome:
    workload = kind(rows)
    streams, batches = [], []
    for _ in range(repeats):
        streams.append(workload.stream())
        batches.append(workload.batch())
    workload.check()
    return Outcome(
        kind.name,
        kind.question,
        workload.rows,
        min(timing.seconds for timing in streams),
        min(timing.cpu_seconds for timing in streams),
        min(timing.seconds for timing in batches),
        min(timing.cpu_seconds for timing in batches),
        kind.target,
        kind.least_ratio,
    )


def show(outcomes: list[Outcome], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Job", no_wrap=True)
    for name in ("Rows", "Rows/s", "per core s", "DuckDB", "Ratio", "Target", ""):
        table.add_column(name, justify="right", no_wrap=True)
    for outcome in outcomes:
        rows = outcome.rows / 1e6
        target = "" if outcome.target is None else f"{outcome.target / 1e6:.0f} M"
        if outcome.least_ratio is not None:
            target += f", {outcome.least_ratio:.2f}"
        table.add_row(
            outcome.name,
            f"{rows:g} M",
            f"[bold]{outcome.speed / 1e6:,.1f} M[/]",
            f"{rows / outcome.cpu_seconds:,.1f} M",
            f"{rows / outcome.duckdb_seconds:,.1f} M",
            f"[bold]{outcome.ratio:.2f}[/]",
            target,
            {None: "", True: "[green]met[/]", False: "[red]missed[/]"}[outcome.met],
        )
    console.print(table)


def _report(outcome: Outcome) -> dict[str, object]:
    derived = {"rows_per_second": outcome.speed, "ratio": outcome.ratio, "met": outcome.met}
    return asdict(outcome) | derived


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a twentieth of the rows, one run")
    parser.add_argument("--only", default="", help="only jobs whose name contains this")
    arguments = parser.parse_args()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    about = machine() | {"duckdb": duckdb.__version__}
    console.print(
        f"{about['cpu']}, {THREADS} cores, load {about['load_before']:.1f}; DuckDB {duckdb.__version__}"
    )
    outcomes = []
    for kind in WORKLOADS:
        if arguments.only in kind.name:
            rows = kind.full_rows // (QUICKLY if arguments.quick else 1)
            with console.status(f"{kind.name}: {kind.question} ..."):
                outcomes.append(measure(kind, rows, 1 if arguments.quick else 3))
    show(outcomes, console)
    memory = None
    if arguments.only in "memory":
        with console.status("memory of a job without end ..."):
            memory = sample(4 if arguments.quick else 20)
        console.print(
            f"Memory of a job without end: {memory.settled:.0f} MB, then {memory.last:.0f} MB: "
            + ("[green]flat[/]" if memory.flat else "[red]growing[/]")
        )
    RESULTS.parent.mkdir(exist_ok=True)
    found = {
        "machine": about,
        "quick": arguments.quick,
        "jobs": [_report(outcome) for outcome in outcomes],
        "memory_mb": None if memory is None else memory.megabytes,
    }
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    return 0 if memory is None or memory.flat else 1


if __name__ == "__main__":
    sys.exit(main())
