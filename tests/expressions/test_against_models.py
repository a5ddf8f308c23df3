"""Random expressions over random rows: the same as Python computes row by row, and as DuckDB does."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Expression, col, lit

Row = dict[str, Any]
DUCKDB = duckdb.connect()
INTS = st.integers(-50, 50)
FLOATS = st.integers(-400, 400).map(lambda n: n / 8)  # exact in binary, so sums are exact too
SCHEMA = pa.schema(
    [
        ("i", pa.int64()),
        ("j", pa.int64()),
        ("x", pa.float64()),
        ("y", pa.float64()),
        ("p", pa.bool_()),
        ("q", pa.bool_()),
        ("s", pa.string()),
        ("t", pa.string()),
    ]
)
VALUES = {"i": INTS, "x": FLOATS, "p": st.booleans(), "s": st.text("ab", max_size=2)}
VALUES |= {"j": INTS, "y": FLOATS, "q": st.booleans(), "t": VALUES["s"]}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}),
    max_size=12,
)


@dataclass
class Case:
    """One expression written three times: for Penstock, for DuckDB, and as a Python function of a row."""

    expression: Expression
    sql: str
    python: Callable[[Row], Any]


def null_aware(function: Callable[..., Any]) -> Callable[..., Any]:
    """None when an operand is None."""
    return lambda *values: None if any(v is None for v in values) else function(*values)


def kleene_and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def kleene_or(a: bool | None, b: bool | None) -> bool | None:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


def binary(
    left: Case, right: Case, sql: str, build: Callable[[Any, Any], Any], compute: Callable[..., Any]
) -> Case:
    return Case(
        build(left.expression, right.expression),
        f"({left.sql} {sql} {right.sql})",
        lambda row: compute(left.python(row), right.python(row)),
    )


def column(name: str) -> Case:
    return Case(col(name), name, lambda row: row[name])


def literal(value: Any) -> Case:
    return Case(lit(value), f"({value!r})", lambda row: value)


ARITHMETIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def arithmetic(children: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    def build(sign: str, left: Case, right: Case) -> Case:
        return binary(left, right, sign, ARITHMETIC[sign], null_aware(ARITHMETIC[sign]))

    def negate(case: Case) -> Case:
        compute = null_aware(lambda value: -value)
        return Case(-case.expression, f"(-{case.sql})", lambda row: compute(case.python(row)))

    pairs = st.builds(build, st.sampled_from(list(ARITHMETIC)), children, children)
    return pairs | children.map(negate)


def numbers(names: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Case]:
    base = st.sampled_from(names).map(column) | values.map(literal)
    return st.recursive(base, arithmetic, max_leaves=4)


INTEGERS = numbers(["i", "j"], INTS)
NUMBERS = INTEGERS | numbers(["x", "y"], FLOATS)
TEXTS = st.sampled_from(["s", "t"]).map(column) | st.text("ab", max_size=2).map(literal)


def comparison(sign: str, left: Case, right: Case) -> Case:
    return binary(left, right, sign, COMPARISONS[sign], null_aware(COMPARISONS[sign]))


def is_null(case: Case) -> Case:
    return Case(
        case.expression.is_null(), f"({case.sql} IS NULL)", lambda row: case.python(row) is None
    )


def conjunction(left: Case, right: Case, both: bool) -> Case:
    if both:
        return binary(left, right, "AND", lambda a, b: a & b, kleene_and)
    return binary(left, right, "OR", lambda a, b: a | b, kleene_or)


def invert(case: Case) -> Case:
    compute = null_aware(lambda value: not value)
    return Case(~case.expression, f"(NOT {case.sql})", lambda row: compute(case.python(row)))


SIGNS = st.sampled_from(list(COMPARISONS))
CONDITIONS = st.recursive(
    st.one_of(
        st.sampled_from(["p", "q"]).map(column),
        st.builds(comparison, SIGNS, NUMBERS, NUMBERS),
        st.builds(comparison, SIGNS, TEXTS, TEXTS),
        (NUMBERS | TEXTS).map(is_null),
    ),
    lambda inner: st.builds(conjunction, inner, inner, st.booleans()) | inner.map(invert),
    max_leaves=6,
)


def evaluate(case: Case, rows: list[Row]) -> list[Any]:
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
    found = case.expression.evaluate(batch)
    assert found.type == case.expression.output_type(SCHEMA)
    assert len(found) == len(rows)
    values: list[Any] = found.to_pylist()
    return values


def same(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float | int):
        return math.isclose(found, expected, rel_tol=1e-12)
    return bool(found == expected)


@settings(max_examples=300)
@given(CONDITIONS | NUMBERS, ROWS)
def test_expressions_compute_what_python_computes_row_by_row(case: Case, rows: list[Row]) -> None:
    expected = [case.python(row) for row in rows]
    found = evaluate(case, rows)
    assert all(map(same, found, expected)), (case.sql, found, expected)


@settings(max_examples=100)
@given(CONDITIONS | NUMBERS, ROWS)
def test_expressions_compute_what_duckdb_computes(case: Case, rows: list[Row]) -> None:
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    expected = DUCKDB.register("rows", table).execute(f"SELECT {case.sql} AS v FROM rows")
    plain = [v if v is None else _plain(v) for (v,) in expected.fetchall()]
    found = evaluate(case, rows)
    assert all(map(same, found, plain)), (case.sql, found, plain)


def _plain(value: Any) -> Any:
    """DuckDB's decimals (it has decimal literals) as floats."""
    return value if isinstance(value, bool | int | str) else float(value)


@given(CONDITIONS, ROWS, st.integers(0, 12))
def test_results_do_not_depend_on_where_a_batch_ends(case: Case, rows: list[Row], cut: int) -> None:
    whole = evaluate(case, rows)
    assert evaluate(case, rows[:cut]) + evaluate(case, rows[cut:]) == whole
