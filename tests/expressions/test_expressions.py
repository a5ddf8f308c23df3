"""Column expressions: names, texts, methods, and the errors they raise before anything runs."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock import Expression, Types, call_function, col, lit
from penstock import functions as F
from penstock.expressions import check_columns
from penstock.runtime.expression_functions import FilterByExpression, SelectExpressions

BATCH = pa.record_batch(
    {
        "price": pa.array([1, 2, None], pa.int64()),
        "name": ["a", None, "c"],
        "good": [True, None, False],
        "at": pa.array([0, 1000, None], pa.timestamp("ms")),
    }
)


def values(expression: Expression) -> list[Any]:
    found: list[Any] = expression.evaluate(BATCH).to_pylist()
    return found


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (col("price"), "price"),
        (lit("x"), "'x'"),
        (col("price") * 2 > 10, "(price * 2) > 10"),
        (10 - col("price"), "10 - price"),
        (~(col("a") & col("b")), "~(a & b)"),
        (-col("a"), "-a"),
        (abs(col("a")), "abs_checked(a)"),
        ((col("a") + 1).alias("b"), "(a + 1) AS b"),
        (col("a").cast("int32"), "CAST(a AS int32)"),
        (col("a").between(1, 2), "(a >= 1) & (a <= 2)"),
        (col("a").is_null(), "is_null(a)"),
        (col("a") % 2 == 0, "(a % 2) == 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_expressions_are_written_as_they_were_built(expression: Expression, text: str) -> None:
    assert expression.text() == text
    assert repr(expression) == f"<Expression {text}>"


def test_names_are_the_alias_the_column_or_the_text() -> None:
    assert col("a").name == "a"
    assert (col("a") + 1).name == "a + 1"
    assert (col("a") + 1).alias("b").name == "b"
    assert col("a").alias("x").alias("y").name == "y"


def test_columns_are_listed_once_in_order() -> None:
    assert (col("b") + col("a") * col("b") + 1).columns() == ("b", "a")
    assert lit(1).columns() == ()


def test_constants_stand_for_all_rows() -> None:
    assert values(lit(7)) == [7, 7, 7]
    assert values(lit(None)) == [None] * 3
    assert lit(7).evaluate(BATCH.slice(0, 0)).to_pylist() == []
    assert values(lit(1) + lit(2)) == [3, 3, 3]
    assert lit(col("price")).text() == "price"


def test_methods_on_nulls() -> None:
    price = col("price")
    assert values(price.is_null()) == [False, False, True]
    assert values(price.is_not_null()) == [True, True, False]
    assert values(price.fill_null(0)) == [1, 2, 0]
    assert values(col("name").fill_null(col("price").cast("string"))) == ["a", "2", "c"]
    assert values(price.is_in([1, 5])) == [True, False, False]
    assert values(price.is_in([1, None])) == [True, False, True]
    assert values(price.is_in([])) == [False, False, False]
    assert values(price.is_in(x for x in (2,))) == [False, True, False]
    assert values(price.between(2, 3)) == [False, True, None]
    assert values(price == None) == [None] * 3  # builds an expression


def test_conditions_are_three_valued() -> None:
    good = col("good")
    assert values(good & False) == [False, False, False]
    assert values(good | True) == [True, True, True]
    assert values(good & True) == [True, None, False]
    assert values(True & good) == [True, None, False]
    assert values(False | good) == [True, None, False]
    assert values(~good) == [False, None, True]


def test_times_compare_with_python_s_datetimes() -> None:
    assert values(col("at") >= dt.datetime(1970, 1, 1, 0, 0, 1)) == [False, True, None]


def test_values_of_numpy_and_decimals_are_constants_too() -> None:
    assert values(col("price") + np.int64(1)) == [2, 3, None]
    assert values(np.int64(1) + col("price")) == [2, 3, None]
    assert values(col("price") + Decimal("0.5")) == [Decimal("1.5"), Decimal("2.5"), None]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("int32", pa.int32()),
        (pa.float32(), pa.float32()),
        (Types.STRING(), pa.string()),
        (Types.BIG_DEC(), pa.decimal128(38, 18)),
    ],
)
def test_casts_take_names_arrow_types_and_declared_types(target: Any, expected: Any) -> None:
    assert col("price").cast(target).output_type(BATCH.schema) == expected


def test_casts_lose_nothing_unless_told_so() -> None:
    with pytest.raises(pa.ArrowInvalid, match="truncated"):
        (col("price") / 2).cast("int64").evaluate(BATCH)
    assert values((col("price") / 2).cast("int64", safe=False)) == [0, 1, None]


def test_any_scalar_function_of_pyarrow_can_be_called() -> None:
    assert values(call_function("utf8_upper", col("name"))) == ["A", None, "C"]
    options = pc.StrftimeOptions("%S")
    assert values(call_function("strftime", col("at"), options=options))[1].startswith("01")
    assert values(call_function("max_element_wise", col("price"), 2)) == [2, 2, 2]


def test_functions_that_look_at_several_rows_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'cumulative_sum' is a vector function.*batch bound"):
        call_function("cumulative_sum", col("price"))
    with pytest.raises(ValueError, match="'sum' is a scalar_aggregate function"):
        call_function("sum", col("price"))


def test_unknown_functions_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(
        ValueError, match=r"no function 'utf8_uper' \(did you mean 'utf8_upper'\?\)"
    ):
        call_function("utf8_uper", col("name"))


def test_unknown_columns_are_refused_with_the_nearest_name_and_the_list() -> None:
    message = r"no column 'prize' \(did you mean 'price'\?\); the columns are \['price', 'name', "
    with pytest.raises(KeyError, match=message):
        (col("prize") * 2).output_type(BATCH.schema)
    with pytest.raises(KeyError, match="no column 'zzz'; the columns are"):
        col("zzz").output_type(BATCH.schema)


def test_a_column_that_is_there_twice_is_ambiguous() -> None:
    schema = pa.schema([("a", pa.int64()), ("a", pa.string())])
    with pytest.raises(KeyError, match="the column name 'a' is ambiguous"):
        check_columns(["a"], schema)


@pytest.mark.parametrize(
    "expression",
    [
        col("name") + 1,
        -col("name"),
        col("good") * 2,
        ~col("price"),
        col("price") & col("good"),
        col("at") > 5,
        col("name") // 2,
        call_function("utf8_upper", col("price")),
    ],
    ids=lambda expression: expression.text(),
)
def test_types_that_do_not_go_together_are_refused_when_the_job_is_built(
    expression: Expression,
) -> None:
    with pytest.raises(TypeError, match=r"the expression .* cannot be computed") as caught:
        expression.output_type(BATCH.schema)
    assert expression.text() in str(caught.value)


def test_a_column_of_any_type_does_not_hinder_expressions_on_others() -> None:
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    batch = pa.record_batch([union, pa.array([5])], names=["u", "n"])
    assert (col("n") + 1).output_type(batch.schema) == pa.int64()


@pytest.mark.parametrize("operation", ["+", "-", "*"])
def test_integers_that_overflow_are_an_error(operation: str) -> None:
    big = pa.record_batch({"a": [2**63 - 1]})
    expressions = {"+": col("a") + 1, "-": -2 - col("a"), "*": col("a") * 2}
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        expressions[operation].evaluate(big)


def test_an_expression_has_no_truth_value() -> None:
    message = r"the expression a > 1 has no truth value: use & \| ~ instead of and, or, not"
    with pytest.raises(TypeError, match=message):
        bool(col("a") > 1)
    with pytest.raises(TypeError, match="has no truth value"):
        _ = col("a") > 1 and col("a") < 5
    with pytest.raises(TypeError, match="has no truth value"):
        _ = 1 < col("a") < 5


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="a column is given by its name, not 3"):
        col(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot be a constant of a column expression"):
        col("a") + object()
    with pytest.raises(TypeError, match="cannot be a constant of a column expression"):
        lit(2**70)
    for wrong in ("", 7, None):
        with pytest.raises(TypeError, match="an alias is a name"):
            col("a").alias(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'integer' is not the name of an Arrow type"):
        col("a").cast("integer")
    with pytest.raises(TypeError, match="cannot cast to PICKLED_BYTE_ARRAY"):
        col("a").cast(Types.PICKLED_BYTE_ARRAY())


def test_expressions_can_be_keys_of_dicts_by_identity() -> None:
    one, other = col("a"), col("a")
    assert {one: 1, other: 2}[one] == 1


def test_texts_are_put_together() -> None:
    name = col("name")
    assert values(name + "-" + name) == ["a-a", None, "c-c"]
    assert values("<" + name.cast("large_string")) == ["<a", None, "<c"]
    assert (name.cast("large_string") + name).output_type(BATCH.schema) == pa.large_string()


def test_is_in_takes_a_list_of_values_of_one_type() -> None:
    with pytest.raises(
        TypeError, match=r"is_in\(\) takes a list of values; write is_in\(\['ab'\]\)"
    ):
        col("name").is_in("ab")
    with pytest.raises(TypeError, match=r"is_in\(\) takes values of one type, not \['ab', 1\]"):
        col("name").is_in(["ab", 1])


def test_functions_without_a_column_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'random' of pyarrow\.compute takes no column"):
        call_function("random")


def test_methods_of_other_libraries_are_answered_with_the_function_to_call() -> None:
    with pytest.raises(
        AttributeError, match=r"no attribute 'upper'; write call_function\('utf8_up"
    ):
        _ = col("a").upper  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'hour'; write call_function\('hour'"):
        _ = (col("a") + 1).hour  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"an expression has no attribute 'isin'$"):
        _ = col("a").isin  # type: ignore[attr-defined]


def test_errors_in_a_running_job_name_the_expression() -> None:
    batch = pa.record_batch({"a": [1, 2]})
    with pytest.raises(pa.ArrowInvalid, match="a // 0: divide by zero"):
        SelectExpressions([("b", col("a")), ("c", col("a") // 0)])(batch)
    with pytest.raises(pa.ArrowInvalid, match=r"\(a // 0\) > 1: divide by zero"):
        FilterByExpression(col("a") // 0 > 1)(batch)


def test_spark_users_find_columns_and_constants_among_the_functions() -> None:
    assert (F.col, F.lit, F.call_function) == (col, lit, call_function)
