"""What the binary operators of column expressions compute, as pyarrow kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["KERNELS"]


def _are_integers(left: Any, right: Any) -> bool:
    return bool(pa.types.is_integer(left.type) and pa.types.is_integer(right.type))


def _is_text(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_string(data_type) or pa.types.is_large_string(data_type))


def _add(left: Any, right: Any) -> Any:
    if not (_is_text(left.type) and _is_text(right.type)):
        return pc.add_checked(left, right)
    large = pa.types.is_large_string(left.type) or pa.types.is_large_string(right.type)
    kind = pa.large_string() if large else pa.string()
    return pc.binary_join_element_wise(left.cast(kind), right.cast(kind), pa.scalar("", kind))


def _true_divide(left: Any, right: Any) -> Any:
    if _are_integers(left, right):
        left = left.cast(pa.float64(), safe=False)
    return pc.divide(left, right)


def _floor_divide(left: Any, right: Any) -> Any:
    if _are_integers(left, right):
        # Arrow truncates towards zero; one less where that rounded up.
        truncated = pc.divide_checked(left, right)
        rest = pc.subtract(left, pc.multiply(truncated, right))
        one = pa.scalar(1, truncated.type)
        return pc.if_else(_signs_differ(rest, right), pc.subtract(truncated, one), truncated)
    if _has_floats(left, right):
        return _with_numpy(np.floor_divide, left, right)
    return pc.floor(pc.divide(left, right))


def _modulo(left: Any, right: Any) -> Any:
    if _are_integers(left, right):
        divisor = right
        if pa.types.is_signed_integer(right.type):  # x % -1 is 0 as x % 1 is, and cannot overflow
            one, minus_one = (pa.scalar(n, right.type) for n in (1, -1))
            divisor = pc.if_else(pc.equal(right, minus_one), one, right)
        rest = pc.subtract(left, pc.multiply(pc.divide(left, divisor), divisor))
        return pc.if_else(_signs_differ(rest, right), pc.add(rest, right), rest)
    if _has_floats(left, right):
        return _with_numpy(np.mod, left, right)
    return pc.subtract(left, pc.multiply(_floor_divide(left, right), right))


def _signs_differ(rest: Any, divisor: Any) -> Any:
    """Whether a division left a rest on the other side of zero than its divisor."""
    zero, zero_divisor = pa.scalar(0, rest.type), pa.scalar(0, divisor.type)
    differ = pc.not_equal(pc.less(rest, zero), pc.less(divisor, zero_divisor))
    return pc.and_(pc.not_equal(rest, zero), differ)


def _has_floats(left: Any, right: Any) -> bool:
    return bool(pa.types.is_floating(left.type) or pa.types.is_floating(right.type))


def _with_numpy(function: Any, left: Any, right: Any) -> Any:
    """A function of two float arrays; NumPy rounds as Python does, which Arrow has no kernel for."""
    if isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar):
        return _with_numpy(function, pa.repeat(left, 1), right)[0]
    kind = pc.divide(pa.scalar(None, left.type), pa.scalar(None, right.type)).type
    with np.errstate(all="ignore"):
        values = function(_to_numpy(left, kind), _to_numpy(right, kind))
    valid = pc.and_(pc.is_valid(left), pc.is_valid(right))
    return pa.array(values, kind, mask=pc.invert(valid).to_numpy(zero_copy_only=False))


def _to_numpy(value: Any, kind: pa.DataType) -> Any:
    value = value.cast(kind, safe=False)
    if not isinstance(value, pa.Scalar):
        return value.to_numpy(zero_copy_only=False)
    number = value.as_py()
    return np.array(np.nan if number is None else number, kind.to_pandas_dtype())


KERNELS: dict[str, Callable[[Any, Any], Any]] = {
    "+": _add,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
    "/": _true_divide,
    "//": _floor_divide,
    "%": _modulo,
    "==": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
    "&": pc.and_kleene,
    "|": pc.or_kleene,
}
