"""``/``, ``//`` and ``%``: rounding, types, zero and the smallest integer, as in Python."""

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Expression, col, lit

INT_TYPES = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]


def bounds(kind: pa.DataType) -> tuple[int, int]:
    return -(1 << (kind.bit_width - 1)), (1 << (kind.bit_width - 1)) - 1


def compute(expression: Expression, a: list[Any], b: list[Any], kind: pa.DataType) -> pa.Array:
    batch = pa.record_batch({"a": pa.array(a, kind), "b": pa.array(b, kind)})
    found = expression.evaluate(batch)
    assert found.type == expression.output_type(batch.schema)
    return found


@pytest.mark.parametrize("kind", INT_TYPES, ids=str)
@given(data=st.data())
def test_integers_divide_as_in_python(kind: pa.DataType, data: st.DataObject) -> None:
    low, high = bounds(kind)
    numbers = st.none() | st.integers(low, high)
    pairs = data.draw(
        st.lists(
            st.tuples(numbers, numbers).filter(lambda p: p[1] != 0 and p != (low, -1)), max_size=10
        )
    )
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    floor = [None if x is None or y is None else x // y for x, y in pairs]
    modulo = [None if x is None or y is None else x % y for x, y in pairs]
    assert compute(col("a") // col("b"), a, b, kind).to_pylist() == floor
    assert compute(col("a") % col("b"), a, b, kind).to_pylist() == modulo


@pytest.mark.parametrize("kind", INT_TYPES, ids=str)
def test_dividing_integers_keeps_their_type(kind: pa.DataType) -> None:
    schema = pa.schema([("a", kind), ("b", kind)])
    assert (col("a") // col("b")).output_type(schema) == kind
    assert (col("a") % col("b")).output_type(schema) == kind
    assert (col("a") / col("b")).output_type(schema) == pa.float64()


@pytest.mark.parametrize("kind", INT_TYPES, ids=str)
def test_the_smallest_integer_by_minus_one(kind: pa.DataType) -> None:
    low, _ = bounds(kind)
    assert compute(col("a") % col("b"), [low], [-1], kind).to_pylist() == [0]
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        compute(col("a") // col("b"), [low], [-1], kind)


def test_unsigned_integers_divide_as_in_python() -> None:
    big = 2**64 - 1
    found = compute(col("a") // col("b"), [big, 7], [2, big], pa.uint64())
    assert found.to_pylist() == [big // 2, 0]
    found = compute(col("a") % col("b"), [big, 7], [10, big], pa.uint64())
    assert found.to_pylist() == [big % 10, 7]


@pytest.mark.parametrize("expression", [col("a") // col("b"), col("a") % col("b")])
def test_integers_by_zero_are_an_error_unless_null(expression: Expression) -> None:
    with pytest.raises(pa.ArrowInvalid, match="divide by zero"):
        compute(expression, [1], [0], pa.int64())
    assert compute(expression, [None], [0], pa.int64()).to_pylist() == [None]


@given(st.lists(st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)), max_size=10))
def test_floats_divide_as_in_python(pairs: list[tuple[float, float]]) -> None:
    pairs = [(x, y) for x, y in pairs if y != 0]
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    floor = compute(col("a") // col("b"), a, b, pa.float64()).to_pylist()
    modulo = compute(col("a") % col("b"), a, b, pa.float64()).to_pylist()
    assert repr(floor) == repr([x // y for x, y in pairs])
    assert repr(modulo) == repr([x % y for x, y in pairs])


@pytest.mark.parametrize(("x", "y"), [(0.9, 0.1), (-7.5, 2.0), (7.5, -2.0), (5.0, math.inf)])
def test_floats_that_naive_rounding_gets_wrong(x: float, y: float) -> None:
    assert compute(col("a") // col("b"), [x], [y], pa.float64()).to_pylist() == [x // y]
    assert compute(col("a") % col("b"), [x], [y], pa.float64()).to_pylist() == [x % y]


def test_floats_by_zero_follow_ieee() -> None:
    assert compute(col("a") / col("b"), [1.0, -1.0], [0.0, 0.0], pa.float64()).to_pylist() == [
        math.inf,
        -math.inf,
    ]
    assert compute(col("a") / col("b"), [1], [0], pa.int64()).to_pylist() == [math.inf]
    (found,) = compute(col("a") % col("b"), [1.0], [0.0], pa.float64()).to_pylist()
    assert math.isnan(found)


def test_nulls_stay_null_whatever_lies_beneath() -> None:
    found = compute(col("a") // col("b"), [None, 1.0, None], [1.0, None, None], pa.float64())
    assert found.to_pylist() == [None, None, None]
    assert found.null_count == 3
    found = compute(col("a") % lit(None), [1.0, 2.0], [1.0, 1.0], pa.float64())
    assert found.to_pylist() == [None, None]


def test_constants_on_either_side() -> None:
    assert compute(7.5 // col("a"), [2.0, -2.0], [0.0, 0.0], pa.float64()).to_pylist() == [3, -4]
    assert compute(col("a") % 4, [-1, 9], [0, 0], pa.int64()).to_pylist() == [3, 1]
    assert compute(-7 // col("a"), [2], [0], pa.int64()).to_pylist() == [-4]
    assert compute(lit(7.5) % lit(2), [1, 2], [0, 0], pa.int64()).to_pylist() == [1.5, 1.5]


def test_float32_stays_float32() -> None:
    found = compute(col("a") % col("b"), [5.5], [2.0], pa.float32())
    assert (found.type, found.to_pylist()) == (pa.float32(), [1.5])


def test_decimals_round_down() -> None:
    a, b = [Decimal("-7.50"), Decimal("7.50")], [Decimal("2.00")] * 2
    kind = pa.decimal128(10, 2)
    assert compute(col("a") // col("b"), a, b, kind).to_pylist() == [-4, 3]
    assert compute(col("a") % col("b"), a, b, kind).to_pylist() == [Decimal("0.5"), Decimal("1.5")]
