"""A job with every kind of state, for tests of savepoints: what it holds is known for any position of its source."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from penstock import StreamExecutionEnvironment, Types, WatermarkStrategy
from penstock.common import Configuration
from penstock.connectors.datagen import DataGen
from penstock.datastream import KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

KEYS = 13
UID = "everything"


class Everything(KeyedProcessFunction):
    """Keeps, per key (``id % 13``): the number of rows, the last three ids, ids by remainder, their sum, a timer."""

    def open(self, runtime_context: RuntimeContext) -> None:
        ctx = runtime_context
        self.count = ctx.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.last = ctx.get_list_state(ListStateDescriptor("last", Types.LONG()))
        self.by_rest = ctx.get_map_state(
            MapStateDescriptor("by-rest", Types.LONG(), Types.STRING())
        )
        self.total = ctx.get_reducing_state(
            ReducingStateDescriptor("total", lambda a, b: a + b, Types.LONG())
        )
        self.any = ctx.get_state(ValueStateDescriptor("any", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        number = value["id"]
        self.count.update((self.count.value() or 0) + 1)
        self.last.update([*list(self.last.get() or [])[-2:], number])
        self.by_rest.put(number % 4, f"last is {number}")
        self.total.add(number)
        self.any.update({"id": number, "set": {number}})
        ctx.timer_service().register_processing_time_timer(4_000_000_000_000)
        yield from ()


def start(
    folder: Path,
    *,
    rows: int = 1_000_000_000,
    rate: float | None = 20_000,
    parallelism: int = 2,
    backend: str = "hashmap",
    settings: dict[str, str] | None = None,
    uid: str = UID,
    sink: Callable[[Any], Any] | None = None,
) -> Any:
    """Starts the job; its client."""
    configuration = Configuration(
        {
            "state.backend.type": backend,
            "execution.checkpointing.savepoint-dir": str(folder / "savepoints"),
            "penstock.job-id": "everything",
            **(settings or {}),
        }
    )
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism).set_max_parallelism(16)
    source = (
        env.from_source(
            DataGen(count=rows, seed=1, rate=rate).sequence("id", 0, 1),
            WatermarkStrategy.no_watermarks(),
            "Ids",
        )
        .uid("ids")
        .set_parallelism(1)
    )  # so that ids come in order
    keyed = source.key_by(lambda row: row["id"] % KEYS)
    keyed.process(Everything(), output_type=Types.LONG()).uid(uid).add_sink(
        sink or (lambda row: None)
    ).uid("sink")
    return env.execute_async("Everything")


def wait_for_rows(client: Any, rows: int = 500) -> None:
    def seen() -> int:
        return sum(m["records_in"] for m in client.metrics() if m["uid"] == UID)

    wanted = seen() + rows
    deadline = time.monotonic() + 60
    while seen() < wanted:
        assert not client.wait(0.005), client.result()
        assert time.monotonic() < deadline


def number_of_rows(reader: Any) -> int:
    """How many ids the savepoint has seen: always the first so many."""
    return int(sum(reader.read(UID, "count")["value"].to_pylist()))


def contents(reader: Any) -> dict[str, dict[Any, Any]]:
    """What the reader finds, in the form of ``expected``."""
    out: dict[str, dict[Any, Any]] = {}
    for name in ("count", "total", "any", "last", "by-rest"):
        out[name] = {}
        for row in reader.read(UID, name).to_pylist():
            if name == "last":
                out[name].setdefault(row["key"], []).append(row["value"])
            elif name == "by-rest":
                out[name].setdefault(row["key"], {})[row["user_key"]] = row["value"]
            else:
                value = pickle.loads(row["value"]) if name == "any" else row["value"]
                assert row["key"] not in out[name]
                out[name][row["key"]] = value
    return out


def expected(ids: Iterable[int]) -> dict[str, dict[Any, Any]]:
    """Per state and key, what it holds after these ids, in this order."""
    out: dict[str, dict[Any, Any]] = {
        name: {} for name in ("count", "last", "by-rest", "total", "any")
    }
    for number in ids:
        key = number % KEYS
        out["count"][key] = out["count"].get(key, 0) + 1
        out["last"][key] = [*out["last"].get(key, [])[-2:], number]
        out["by-rest"].setdefault(key, {})[number % 4] = f"last is {number}"
        out["total"][key] = out["total"].get(key, 0) + number
        out["any"][key] = {"id": number, "set": {number}}
    return out
