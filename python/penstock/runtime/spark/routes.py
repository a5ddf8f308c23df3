"""Which INT to put into a row so that Spark's hash partitioning sends it to a given partition.

``repartition(P, column)`` puts a row into partition ``pmod(hash(column), P)``, with Spark's Murmur3 of 32 bits and
seed 42. For each partition the smallest non-negative integer that lands there stands for it. Receivers check where
they are, so a Spark that hashed otherwise would fail loudly.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["routes", "spark_hash"]

_SEED = 42
_MASK = 0xFFFFFFFF


def spark_hash(value: int) -> int:
    """Spark's ``hash`` of an INT.

    >>> spark_hash(0), spark_hash(1)
    (933211791, -559580957)
    """
    block = _rotated(value * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    digest = _rotated(_SEED ^ block, 13) * 5 + 0xE6546B64 & _MASK
    digest ^= 4  # the length in bytes
    digest = (digest ^ digest >> 16) * 0x85EBCA6B & _MASK
    digest = (digest ^ digest >> 13) * 0xC2B2AE35 & _MASK
    digest ^= digest >> 16
    return digest - (1 << 32) if digest >> 31 else digest


@lru_cache(maxsize=64)
def routes(partitions: int) -> tuple[int, ...]:
    """For each partition the INT that leads to it.

    >>> [spark_hash(route) % 3 for route in routes(3)]
    [0, 1, 2]
    """
    found: dict[int, int] = {}
    value = 0
    while len(found) < partitions:
        found.setdefault(spark_hash(value) % partitions, value)
        value += 1
    return tuple(found[partition] for partition in range(partitions))


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK
