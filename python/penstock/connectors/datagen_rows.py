"""The rows of a ``DataGen``, computed with numpy: the reference for the native generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["generate_rows", "generated_schema"]

Unsigned = npt.NDArray[np.uint64]


def generated_schema(columns: Sequence[tuple[str, str, dict[str, Any]]]) -> pa.Schema:
    """The columns that a generator emits."""
    return pa.schema(
        [pa.field(name, _type(kind, how), nullable=False) for name, kind, how in columns]
    )


def generate_rows(
    columns: Sequence[tuple[str, str, dict[str, Any]]], seed: int, first: int, count: int
) -> pa.RecordBatch:
    """Rows ``first`` to ``first + count``."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    arrays = [
        pa.array(_values(kind, how, _Randoms(seed, index, numbers)), _type(kind, how))
        for index, (_, kind, how) in enumerate(columns)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=generated_schema(columns))


def _mix(x: Unsigned) -> Unsigned:
    with np.errstate(over="ignore"):
        z = x + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


class _Randoms:
    """The random numbers of one column for the rows ``numbers``."""

    def __init__(self, seed: int, column: int, numbers: Unsigned) -> None:
        self.numbers = numbers
        self._seed = np.array([seed], np.uint64)
        self._column = column

    def random(self, stream: int) -> Unsigned:
        start = _mix(self._seed ^ _mix(np.array([8 * self._column + stream], np.uint64)))
        with np.errstate(over="ignore"):
            return _mix(start + self.numbers)

    def below(self, stream: int, bound: int) -> Unsigned:
        found = self.random(stream)
        if bound > 1 << 32:
            # All of 64 bits: nothing to fold.
            return found if bound == 1 << 64 else found % np.uint64(bound)
        return ((found >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32)

    def unit(self, stream: int) -> npt.NDArray[np.float64]:
        return (self.random(stream) >> np.uint64(11)) * np.float64(2.0**-53)


def _type(kind: str, how: dict[str, Any]) -> pa.DataType:
    if kind == "choice":
        return {str: pa.string(), int: pa.int64(), float: pa.float64()}[type(how["values"][0])]
    return {
        "sequence": pa.int64(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "string": pa.string(),
        "timestamp": pa.timestamp("ms"),
    }[kind]


def _values(kind: str, how: dict[str, Any], randoms: _Randoms) -> Any:
    numbers = randoms.numbers.astype(np.int64)
    if kind == "sequence":
        return how["start"] + numbers * how["step"]
    if kind == "int":
        spread = randoms.below(0, how["max"] - how["min"] + 1)
        with np.errstate(over="ignore"):
            return (spread + np.array([how["min"]], np.int64).astype(np.uint64)).astype(np.int64)
    if kind == "float":
        return how["min"] + randoms.unit(0) * (how["max"] - how["min"])
    if kind == "bool":
        return randoms.unit(0) < how["probability"]
    if kind == "choice":
        return pa.array(how["values"]).take(pa.array(randoms.below(0, len(how["values"]))))
    if kind == "string":
        return _strings(how, randoms.below(0, how["cardinality"]))
    return _times(how, randoms, numbers)


def _strings(how: dict[str, Any], numbers: Unsigned) -> Any:
    """Each text is made once, however often it occurs."""
    found, places = np.unique(numbers, return_inverse=True)
    return pa.array([f"{how['prefix']}{i}" for i in found.tolist()], pa.string()).take(
        pa.array(places)
    )


def _times(how: dict[str, Any], randoms: _Randoms, numbers: npt.NDArray[np.int64]) -> Any:
    times = how["start"] + np.floor(numbers * float(how["step"])).astype(np.int64)
    times = times - randoms.below(0, how["disorder"] + 1).astype(np.int64)
    return times - np.where(randoms.unit(1) < how["late_fraction"], how["late"], 0)
