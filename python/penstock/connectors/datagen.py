"""Rows made in the engine: row n is a pure function of the seed and n, so a job can be repeated and checked.

The kinds of columns, with their parameters (as in ``GeneratorSourceSpec``). ``random(k)`` is the column's k-th
stream of random 64-bit integers; ``below(k, n)`` and ``unit(k)`` make of it an integer in [0, n) and a float in [0, 1).

=========  =============================  ==========================================================================
kind       parameters                     value in row n
=========  =============================  ==========================================================================
sequence   start, step                    ``start + n * step`` (int64)
int        min, max                       ``min + below(0, max - min + 1)`` (int64)
float      min, max                       ``min + unit(0) * (max - min)`` (float64)
bool       probability                    ``unit(0) < probability``
choice     values                         ``values[below(0, len(values))]`` (string, int64 or float64)
string     prefix, cardinality            ``prefix + str(below(0, cardinality))``
timestamp  start, step, disorder,         ``start + floor(n * step) - below(0, disorder + 1)``, and ``late`` less where
           late, late_fraction            ``unit(1) < late_fraction`` (timestamp[ms])
=========  =============================  ==========================================================================

The random numbers are part of the contract: ``random(k)`` of column number c in row n is
``mix(mix(seed ^ mix(8 * c + k)) + n)`` in unsigned 64-bit arithmetic, with the output function of SplitMix64 as ``mix``.
``below(n)`` is ``((r >> 32) * n) >> 32``, or ``r % n`` for n over 2**32; ``unit`` is ``(r >> 11) * 2**-53``.
``penstock.connectors.datagen_rows`` computes the same with numpy.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.connectors.base import Source
from penstock.graph.specs import GeneratorSourceSpec

__all__ = ["DataGen"]

Column = tuple[str, str, dict[str, Any]]


@dataclass(frozen=True)
class DataGen(Source):
    """A generated table; each column method gives a new one with that column added.

    >>> clicks = (
    ...     DataGen(count=1000, seed=7)
    ...     .timestamp("ts", step=10, disorder=500)
    ...     .string("campaign", prefix="c", cardinality=20)
    ...     .float("price", 0.0, 5.0)
    ... )
    >>> clicks.schema().names
    ['ts', 'campaign', 'price']
    >>> clicks.rows(0, 3).num_rows
    3

    ``count`` None: without end. ``rate``: rows per second over all subtasks; None: as fast as possible.
    """

    count: int | None = None
    seed: int = 0
    rate: float | None = None
    columns: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        if self.count is not None and not isinstance(self.count, builtins.int):
            raise TypeError(f"count must be an int, not {self.count!r}")
        if self.count is not None and self.count < 0:
            raise ValueError(f"count must not be negative, but is {self.count}")
        if self.rate is not None and not self.rate > 0:
            raise ValueError(f"rate must be positive, but is {self.rate}")
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"seed must be an integer of 64 bits, not {self.seed}")

    def sequence(self, name: str, start: builtins.int = 0, step: builtins.int = 1) -> DataGen:
        """Integers that go up (or down) by ``step``."""
        return self._with(name, "sequence", start=start, step=step)

    def int(self, name: str, min: builtins.int = 0, max: builtins.int = (1 << 31) - 1) -> DataGen:
        """Random integers, both bounds included."""
        if min > max:
            raise ValueError(f"column {name!r}: min {min} is greater than max {max}")
        return self._with(name, "int", min=min, max=max)

    def float(self, name: str, min: builtins.float = 0.0, max: builtins.float = 1.0) -> DataGen:
        """Random floats from ``min`` to below ``max``."""
        if not min <= max:
            raise ValueError(f"column {name!r}: min {min} is greater than max {max}")
        return self._with(name, "float", min=min, max=max)

    def bool(self, name: str, probability: builtins.float = 0.5) -> DataGen:
        """True with ``probability``."""
        if not 0 <= probability <= 1:
            raise ValueError(
                f"column {name!r}: a probability is between 0 and 1, not {probability}"
            )
        return self._with(name, "bool", probability=probability)

    def choice(
        self, name: str, values: Sequence[str] | Sequence[builtins.int] | Sequence[builtins.float]
    ) -> DataGen:
        """One of ``values``, all equally often."""
        kinds = {type(value) for value in values}
        if len(kinds) != 1 or not kinds <= {str, int, float}:
            raise ValueError(
                f"column {name!r}: values must be all str, all int or all float: {values!r}"
            )
        return self._with(name, "choice", values=tuple(values))

    def string(self, name: str, prefix: str = "", cardinality: builtins.int = 1 << 31) -> DataGen:
        """``prefix`` and a random number below ``cardinality``."""
        if cardinality < 1:
            raise ValueError(
                f"column {name!r}: cardinality must be at least 1, but is {cardinality}"
            )
        return self._with(name, "string", prefix=prefix, cardinality=cardinality)

    def timestamp(
        self,
        name: str,
        start: builtins.int = 0,
        step: builtins.float = 1.0,
        disorder: builtins.int = 0,
        late: builtins.int = 0,
        late_fraction: builtins.float = 0.0,
    ) -> DataGen:
        """Event times, ``step`` ms apart and up to ``disorder`` ms out of order; some are ``late`` ms later still."""
        if disorder < 0 or late < 0 or not 0 <= late_fraction <= 1:
            raise ValueError(
                f"column {name!r}: disorder ({disorder}) and late ({late}) must not be negative, and late_fraction "
                f"({late_fraction}) is between 0 and 1"
            )
        return self._with(
            name,
            "timestamp",
            start=start,
            step=step,
            disorder=disorder,
            late=late,
            late_fraction=late_fraction,
        )

    def spec(self) -> GeneratorSourceSpec:
        if not self.columns:
            raise ValueError("a DataGen needs at least one column, such as .sequence('id')")
        return GeneratorSourceSpec(self.columns, self.count, self.seed, self.rate)

    def schema(self) -> Any:
        from penstock.connectors.datagen_rows import generated_schema

        return generated_schema(self.columns)

    def rows(self, first: builtins.int, count: builtins.int) -> Any:
        """Rows ``first`` to ``first + count`` as a pyarrow.RecordBatch, made outside of any job."""
        from penstock.connectors.datagen_rows import generate_rows

        return generate_rows(self.columns, self.seed, first, count)

    def _with(self, name: str, kind: str, **parameters: Any) -> DataGen:
        if not name or not isinstance(name, str):
            raise TypeError(f"a column's name is a text that is not empty: {name!r}")
        if any(name == known for known, _, _ in self.columns):
            raise ValueError(f"there is a column {name!r} already")
        return replace(self, columns=(*self.columns, (name, kind, parameters)))
