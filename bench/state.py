"""State, measured beside hand-written tables in the same run, every answer checked: ``python bench/state.py [--quick]``.

======================  ===================================================================================
hand-written loop       count and sum per int key in one flat table, batch by batch, each thread its keys
std::unordered_map      the same; Python dict: the same in one thread
window operator         the native count and sum that windows use, two subtasks; on RocksDB until it has fired
value state             get and put of a count and a sum, hashmap and RocksDB (its tier has 64 MiB)
Python function         a KeyedProcessFunction with value(), update() and a timer per row, in a whole job
memory, snapshots, ...  bytes per key, the synchronous part, speed meanwhile, what is shipped, rescaling
======================  ===================================================================================

The workloads are programs of build/release/bench/state_bench (bench/state/). They take turns; the figures are the best of
three. Ratios are to what stands beside them in the same run, per second of processor time, so that they mean something on
a busy machine as well; speeds are by the clock. Every result is compared with numpy's. Results go to the screen and to bench/results/state.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from about import machine
from keyed_function import KeyedFunction
from rich import box
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "build" / "release" / "bench" / "state_bench"
RESULTS = Path(__file__).parent / "results" / "state.json"
QUICKLY = 20  # times fewer rows and keys
HAND, MAP, DICT, HEAP = (
    "hand-written loop",
    "std::unordered_map",
    "Python dict",
    "value state, hashmap",
)


@dataclass(frozen=True)
class Workload:
    """``target`` is in rows per second; ``least`` of the speed of another workload with as many keys."""

    name: str
    program: list[str]  # of state_bench; empty: measured in this process
    keys: int
    rows: int
    target: float | None = None
    least: tuple[str, float] | None = None
    repeats: int = 3


FEW, MANY = 10_000, 5_000_000
WORKLOADS = [
    Workload(HAND, ["hand-written"], FEW, 20_000_000),
    Workload(MAP, ["unordered-map"], FEW, 20_000_000),
    Workload(DICT, [], FEW, 2_000_000),
    Workload("window operator", ["window"], FEW, 20_000_000, 40e6, (HAND, 1 / 4)),
    Workload(HEAP, ["value-state"], FEW, 10_000_000),
    Workload(
        "value state, RocksDB",
        ["value-state", "--backend", "rocksdb"],
        FEW,
        10_000_000,
        least=(HEAP, 1 / 2),
    ),
    Workload(
        "window operator, RocksDB",
        ["window", "--backend", "rocksdb"],
        FEW,
        20_000_000,
        least=("window operator", 1 / 2),
    ),
    Workload("Python function", [], FEW, 1_000_000, 2e6),
    Workload(HAND, ["hand-written"], MANY, 20_000_000),
    Workload(MAP, ["unordered-map"], MANY, 20_000_000),
    Workload(DICT, [], MANY, 10_000_000, repeats=1),
    Workload("window operator", ["window"], MANY, 20_000_000, 12e6),
    Workload(
        "window operator, RocksDB",
        ["window", "--backend", "rocksdb"],
        MANY,
        20_000_000,
        0.8e6,
        repeats=1,
    ),
    Workload(HEAP, ["value-state"], MANY, 20_000_000),
    Workload(
        "value state, RocksDB",
        ["value-state", "--backend", "rocksdb"],
        MANY,
        10_000_000,
        0.3e6,
        repeats=1,
    ),
]


@dataclass
class Outcome:
    workload: Workload
    rows: int
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return self.rows / min(self.seconds)

    @property
    def speed_per_core(self) -> float:
        return self.rows / min(self.cpu_seconds)


def mix(x: np.ndarray) -> np.ndarray:
    """splitmix64, as in bench/state/bench.h."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def rows_of(rows: int, keys: int) -> tuple[np.ndarray, np.ndarray]:
    number = np.arange(rows, dtype=np.uint64)
    values = (mix(number + np.uint64(1 << 40)) % np.uint64(2001)).astype(np.int64) - 1000
    return (mix(number) % np.uint64(keys)).astype(np.int64), values


def digest(keys: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> int:
    inner = mix(mix(keys.astype(np.uint64)) + counts.astype(np.uint64))
    return int(mix(inner + sums.astype(np.uint64)).sum(dtype=np.uint64))


@cache
def expected(rows: int, keys: int) -> int:
    """The digest of count and sum per key, from numpy."""
    key, value = rows_of(rows, keys)
    counts = np.bincount(key, minlength=keys)
    sums = np.rint(np.bincount(key, weights=value, minlength=keys)).astype(np.int64)
    there = np.flatnonzero(counts)
    return digest(there, counts[there], sums[there])


def native(arguments: list[str], **options: int) -> dict[str, Any]:
    """One run of state_bench."""
    command = [str(PROGRAM), *arguments]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run_native(workload: Workload, rows: int, keys: int) -> tuple[float, float]:
    found = native(workload.program, rows=rows, keys=keys)
    assert int(found["digest"]) == expected(rows, keys), f"{workload.name}: a wrong answer"
    return found["seconds"], found["cpu_seconds"]


def run_dict(rows: int, keys: int) -> tuple[float, float]:
    key_column, value_column = rows_of(rows, keys)
    pairs = list(zip(key_column.tolist(), value_column.tolist(), strict=True))
    began, cpu_began = time.perf_counter(), time.process_time()
    table: dict[int, tuple[int, int]] = {}
    for key, value in pairs:
        count, total = table.get(key, (0, 0))
        table[key] = (count + 1, total + value)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    found = np.array([(key, *value) for key, value in table.items()])
    assert digest(found[:, 0], found[:, 1], found[:, 2]) == expected(rows, keys)
    return seconds, cpu_seconds


def run_once(workload: Workload, quick: bool) -> tuple[int, float, float]:
    """Rows, seconds, seconds of all cores."""
    rows, keys = (workload.rows // QUICKLY if quick else workload.rows), workload.keys
    if quick and keys == MANY:
        keys //= QUICKLY
    if workload.program:
        return rows, *run_native(workload, rows, keys)
    if workload.name == DICT:
        return rows, *run_dict(rows, keys)
    return rows, *KeyedFunction(rows, keys).run()


def measure(workloads: list[Workload], quick: bool) -> list[Outcome]:
    """All of them in turn, then all of them again: what else the machine does meets each alike."""
    outcomes = [Outcome(workload, 0) for workload in workloads]
    for turn in range(1 if quick else 3):
        for outcome in outcomes:
            if turn >= outcome.workload.repeats:
                continue
            outcome.rows, seconds, cpu_seconds = run_once(outcome.workload, quick)
            outcome.seconds.append(seconds)
            outcome.cpu_seconds.append(cpu_seconds)
    return outcomes


def reference(outcomes: list[Outcome], outcome: Outcome, name: str) -> Outcome | None:
    same = (o for o in outcomes if o.workload.name == name)
    return next((o for o in same if o.workload.keys == outcome.workload.keys), None)


def ratio(outcomes: list[Outcome], outcome: Outcome, name: str) -> float | None:
    other = reference(outcomes, outcome, name)
    return None if other is None else outcome.speed_per_core / other.speed_per_core


def met(outcomes: list[Outcome], outcome: Outcome) -> bool | None:
    workload = outcome.workload
    if workload.target is None and workload.least is None:
        return None
    fast = outcome.speed >= (workload.target or 0)
    if workload.least is None:
        return fast
    found = ratio(outcomes, outcome, workload.least[0])
    return None if found is None else fast and found >= workload.least[1]


def verdict(good: bool | None) -> str:
    return {None: "", True: "[green]met[/]", False: "[red]missed[/]"}[good]


def show(outcomes: list[Outcome], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Count and sum", no_wrap=True)
    for name in ("Keys", "Rows/s", "per core s", "of hand", "of map", "of dict", "Target", ""):
        table.add_column(name, justify="right", no_wrap=True)
    for outcome in outcomes:
        workload = outcome.workload
        target = [] if workload.target is None else [f"{workload.target / 1e6:g} M"]
        if workload.least is not None:
            short = "of hand" if workload.least[0] == HAND else "of hashmap"
            target.append(f"{workload.least[1]:.2f} {short}")
        found = [ratio(outcomes, outcome, name) for name in (HAND, MAP, DICT)]
        table.add_row(
            workload.name,
            "10 k" if workload.keys == FEW else "5 M",
            f"[bold]{outcome.speed / 1e6:,.2f} M[/]",
            f"{outcome.speed_per_core / 1e6:,.2f} M",
            *("" if one is None else f"{one:.2g}" for one in found),
            ", ".join(target),
            verdict(met(outcomes, outcome)),
        )
    console.print(table)


@dataclass(frozen=True)
class Figure:
    """Something else than a speed. ``good`` None: there is no target."""

    name: str
    value: str
    target: str
    good: bool | None


def memory_figures(keys: int) -> list[Figure]:
    found = native(["memory"], keys=keys)
    return [
        Figure(f"bytes per key, {name}", f"{found[member]:.1f}", "<= 64", found[member] <= 64)
        for name, member in (
            ("window operator", "window_bytes"),
            ("value state, hashmap", "value_state_bytes"),
        )
    ]


def snapshot_figures(backend: str, keys: int) -> list[Figure]:
    found = native(["snapshots", "--backend", backend], keys=keys)
    kept = found["busy_rows_per_second"] / found["quiet_rows_per_second"]
    per_core = found["busy_rows_per_cpu_second"] / found["quiet_rows_per_cpu_second"]
    sync = f"p50 {found['sync_p50_ms']:.2f} ms, p99 {found['sync_p99_ms']:.2f} ms"
    return [
        Figure(
            f"synchronous part, {backend}",
            f"{sync} (of the processor {found['sync_cpu_p99_ms']:.2f} ms)",
            "<= 10 ms",
            found["sync_p99_ms"] <= 10,
        ),
        Figure(
            f"speed during a snapshot, {backend}",
            f"{kept:.0%} (of a processor's second {per_core:.0%})",
            ">= 70 %",
            kept >= 0.7,
        ),
    ]


def incremental_figures(keys: int) -> list[Figure]:
    found = native(["incremental"], keys=keys)
    key, counts = np.arange(keys, dtype=np.int64), np.ones(keys, dtype=np.int64)
    touched = rows_of(keys // 100, keys)[0]
    sums = rows_of(keys, keys)[1]  # the value of row i went to key i
    np.add.at(counts, touched, 1)
    np.add.at(sums, touched, 1)
    assert int(found["digest"]) == digest(key, counts, sums), "incremental: a wrong answer"
    share = found["shipped_bytes"] / found["full_bytes"]
    size = f"{found['shipped_bytes'] / 1e6:.2f} MB of {found['full_bytes'] / 1e6:.1f} MB"
    return [Figure("shipped when 1 % changed", f"{share:.2%} ({size})", "<= 5 %", share <= 0.05)]


def rescale_figures(keys: int) -> list[Figure]:
    """state_bench itself compares what is there after each step with what was put in."""
    found = native(["rescale"], keys=keys)
    slow = found["key_by_key_seconds"]
    return [
        Figure(
            f"rescale 2 -> 3 -> 1 -> 4, {way}",
            f"{seconds:.2f} s, key by key {slow:.2f} s: {slow / seconds:.1f} times faster",
            "faster",
            seconds < slow,
        )
        for way, seconds in (
            ("files", found["files_seconds"]),
            ("savepoint", found["savepoint_seconds"]),
        )
    ]


FIGURES: dict[str, Callable[[int], list[Figure]]] = {
    "memory": memory_figures,
    "snapshots, hashmap": lambda keys: snapshot_figures("hashmap", keys),
    "snapshots, RocksDB": lambda keys: snapshot_figures("rocksdb", keys),
    "incremental": incremental_figures,
    "rescale": rescale_figures,
}


def show_figures(figures: list[Figure], console: Console) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("5 M keys", no_wrap=True)
    for name in ("", "Target", ""):
        table.add_column(name, no_wrap=True)
    for figure in figures:
        table.add_row(figure.name, figure.value, figure.target, verdict(figure.good))
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a twentieth of rows and keys, one run"
    )
    parser.add_argument("--only", default="", help="only what has this in its name")
    arguments = parser.parse_args()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 130)
    about = machine()
    console.print(f"{about['cpu']}, {about['cores']} cores, load {about['load_before']:.1f}")
    chosen = [workload for workload in WORKLOADS if arguments.only in workload.name]
    with console.status("rows per second ..."):
        outcomes = measure(chosen, arguments.quick)
    show(outcomes, console)
    figures: list[Figure] = []
    keys = MANY // (QUICKLY if arguments.quick else 1)
    for name, make in FIGURES.items():
        if arguments.only in name:
            with console.status(f"{name} ..."):
                figures += make(keys)
    show_figures(figures, console)
    RESULTS.parent.mkdir(exist_ok=True)
    found = {
        "machine": about,
        "quick": arguments.quick,
        "speeds": [
            asdict(o.workload)
            | {"rows_per_second": o.speed, "per_core_second": o.speed_per_core}
            | {"met": met(outcomes, o)}
            for o in outcomes
        ],
        "figures": [asdict(figure) for figure in figures],
    }
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
