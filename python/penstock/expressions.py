"""Column expressions: ``col("price") * 2 > 10``, evaluated by pyarrow.compute once per batch.

An expression describes a column; it holds no data, pickles, and is checked against a stream's schema when the
job is built. Only scalar kernels are allowed, so a result never depends on where batch boundaries fall.

* ``/`` is true division, ``//`` and ``%`` round down as Python's do. Dividing integers by zero with ``//`` or ``%``
  raises; floats (and ``/``) give infinity or NaN.
* ``+``, ``-``, ``*``, ``//`` on integers raise on overflow. ``+`` puts texts together; with a null it gives null.
* ``&``, ``|``, ``~`` are three-valued: ``null & false`` is false.
"""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.common.arrow_types import arrow_type
from penstock.common.typeinfo import TypeInformation
from penstock.expression_kernels import KERNELS

__all__ = ["Expression", "call_function", "check_columns", "col", "lit"]


class Expression(ABC):
    """A column that is computed from the columns of a batch.

    >>> expression = (col("price") * 2).alias("double")
    >>> expression.evaluate(pa.record_batch({"price": [1, 2]})).to_pylist()
    [2, 4]
    >>> expression
    <Expression (price * 2) AS double>
    """

    # Higher than numpy's, so that `array * col("x")` asks the expression and not each element.
    __array_priority__ = 1000

    @abstractmethod
    def _compute(self, batch: pa.RecordBatch) -> Any:
        """The value over ``batch``: a pyarrow Array, or a Scalar that stands for all its rows."""

    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns it reads, each once."""

    @abstractmethod
    def text(self) -> str:
        """The expression as it would be written; the name of its column unless it has an alias."""

    @property
    def name(self) -> str:
        """The name of its column: the alias, the column itself, or its text."""
        return self.text()

    def evaluate(self, record_batch: pa.RecordBatch) -> pa.Array:
        """The column for ``record_batch``, one value per row."""
        value = self._compute(record_batch)
        if isinstance(value, pa.Scalar):
            value = pa.repeat(value, record_batch.num_rows)
        if isinstance(value, pa.ChunkedArray):
            value = value.combine_chunks()
        return value

    def output_type(self, schema: pa.Schema) -> pa.DataType:
        """The type of its column on a stream with ``schema``; errors in it show here.

        >>> (col("a") / 2).output_type(pa.schema([("a", pa.int32())]))
        DataType(double)
        """
        check_columns(self.columns(), schema)
        fields = [schema.field(name) for name in self.columns()]
        try:
            return self.evaluate(_empty(pa.schema(fields))).type
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TypeError(f"the expression {self.text()} cannot be computed: {error}") from error

    def alias(self, name: str) -> Expression:
        """The same column under another name."""
        if not name or not isinstance(name, str):
            raise TypeError(f"an alias is a name, not {name!r}")
        return _Alias(self, name)

    def cast(
        self, target_type: TypeInformation | pa.DataType | str, safe: bool = True
    ) -> Expression:
        """Converted to a type of ``Types``, a pyarrow type or its name; ``safe``: no value may be lost.

        >>> col("x").cast("int32").evaluate(pa.record_batch({"x": ["1", "2"]})).to_pylist()
        [1, 2]
        """
        return _Cast(self, _data_type(target_type), safe)

    def is_null(self) -> Expression:
        return _Call("is_null", (self,))

    def is_not_null(self) -> Expression:
        return _Call("is_valid", (self,))

    def is_in(self, values: Iterable[Any]) -> Expression:
        """Whether the value is one of ``values``."""
        if isinstance(values, (str, bytes)):
            raise TypeError(f"is_in() takes a list of values; write is_in([{values!r}])")
        items = list(values)
        try:
            value_set = pa.array(items)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TypeError(f"is_in() takes values of one type, not {items!r}: {error}") from None
        return _Call("is_in", (self,), pc.SetLookupOptions(value_set))

    def between(self, lower: Any, upper: Any) -> Expression:
        """``lower <= value <= upper``."""
        return _Binary("&", self >= lower, self <= upper)

    def fill_null(self, value: Any) -> Expression:
        """``value`` where it is null."""
        return _Call("coalesce", (self, _expression(value)))

    def __add__(self, other: Any) -> Expression:
        return _Binary("+", self, _expression(other))

    def __radd__(self, other: Any) -> Expression:
        return _Binary("+", _expression(other), self)

    def __sub__(self, other: Any) -> Expression:
        return _Binary("-", self, _expression(other))

    def __rsub__(self, other: Any) -> Expression:
        return _Binary("-", _expression(other), self)

    def __mul__(self, other: Any) -> Expression:
        return _Binary("*", self, _expression(other))

    def __rmul__(self, other: Any) -> Expression:
        return _Binary("*", _expression(other), self)

    def __truediv__(self, other: Any) -> Expression:
        return _Binary("/", self, _expression(other))

    def __rtruediv__(self, other: Any) -> Expression:
        return _Binary("/", _expression(other), self)

    def __floordiv__(self, other: Any) -> Expression:
        return _Binary("//", self, _expression(other))

    def __rfloordiv__(self, other: Any) -> Expression:
        return _Binary("//", _expression(other), self)

    def __mod__(self, other: Any) -> Expression:
        return _Binary("%", self, _expression(other))

    def __rmod__(self, other: Any) -> Expression:
        return _Binary("%", _expression(other), self)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        return _Binary("==", self, _expression(other))

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _Binary("!=", self, _expression(other))

    def __lt__(self, other: Any) -> Expression:
        return _Binary("<", self, _expression(other))

    def __le__(self, other: Any) -> Expression:
        return _Binary("<=", self, _expression(other))

    def __gt__(self, other: Any) -> Expression:
        return _Binary(">", self, _expression(other))

    def __ge__(self, other: Any) -> Expression:
        return _Binary(">=", self, _expression(other))

    def __and__(self, other: Any) -> Expression:
        return _Binary("&", self, _expression(other))

    def __rand__(self, other: Any) -> Expression:
        return _Binary("&", _expression(other), self)

    def __or__(self, other: Any) -> Expression:
        return _Binary("|", self, _expression(other))

    def __ror__(self, other: Any) -> Expression:
        return _Binary("|", _expression(other), self)

    def __invert__(self) -> Expression:
        return _Unary("~", "invert", self)

    def __neg__(self) -> Expression:
        return _Unary("-", "negate_checked", self)

    def __abs__(self) -> Expression:
        return _Call("abs_checked", (self,))

    # == builds an expression, so equality cannot be asked; identity is what dicts and sets may use.
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError(
            f"the expression {self.text()} has no truth value: use & | ~ instead of and, or, not, "
            "with each comparison in parentheses, and not in `if` or `in`"
        )

    if not TYPE_CHECKING:  # A type checker is to find such names missing.

        def __getattr__(self, name: str) -> Any:
            """Reached only by names that are no attribute: a method that other libraries have."""
            text = f"an expression has no attribute {name!r}"
            known = () if name.startswith("_") else (name, f"utf8_{name}")
            if found := [function for function in known if function in pc.list_functions()]:
                text += f"; write call_function({found[0]!r}, ...)"
            # With the name and the object, tracebacks suggest a method that is alike.
            raise AttributeError(text, name=name, obj=self)

    def __repr__(self) -> str:
        return f"<Expression {self.text()}>"


class _Column(Expression):
    def __init__(self, column: str) -> None:
        self.column = column

    def _compute(self, batch: pa.RecordBatch) -> Any:
        return batch.column(self.column)

    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def text(self) -> str:
        return self.column


class _Literal(Expression):
    def __init__(self, value: pa.Scalar) -> None:
        self.value = value

    def _compute(self, batch: pa.RecordBatch) -> Any:
        return self.value

    def columns(self) -> tuple[str, ...]:
        return ()

    def text(self) -> str:
        return repr(self.value.as_py())


class _Compound(Expression):
    """An expression made of others."""

    arguments: tuple[Expression, ...]

    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.arguments for name in part.columns()))


class _Binary(_Compound):
    def __init__(self, operator: str, left: Expression, right: Expression) -> None:
        self.operator = operator
        self.arguments = (left, right)

    def _compute(self, batch: pa.RecordBatch) -> Any:
        left, right = self.arguments
        return KERNELS[self.operator](left._compute(batch), right._compute(batch))

    def text(self) -> str:
        left, right = map(_operand, self.arguments)
        return f"{left} {self.operator} {right}"


class _Unary(_Compound):
    def __init__(self, sign: str, function: str, argument: Expression) -> None:
        self.sign = sign
        self.function = function
        self.arguments = (argument,)

    def _compute(self, batch: pa.RecordBatch) -> Any:
        return pc.call_function(self.function, [self.arguments[0]._compute(batch)])

    def text(self) -> str:
        return f"{self.sign}{_operand(self.arguments[0])}"


class _Call(_Compound):
    def __init__(
        self, function: str, arguments: tuple[Expression, ...], options: Any = None
    ) -> None:
        self.function = function
        self.arguments = arguments
        self.options = options

    def _compute(self, batch: pa.RecordBatch) -> Any:
        values = [argument._compute(batch) for argument in self.arguments]
        return pc.call_function(self.function, values, self.options)

    def text(self) -> str:
        return f"{self.function}({', '.join(argument.text() for argument in self.arguments)})"

    def __reduce__(self) -> Any:
        options = None if self.options is None else self.options.serialize().to_pybytes()
        return _restored_call, (self.function, self.arguments, options)


class _Cast(_Compound):
    def __init__(self, argument: Expression, target_type: pa.DataType, safe: bool) -> None:
        self.arguments = (argument,)
        self.target_type = target_type
        self.safe = safe

    def _compute(self, batch: pa.RecordBatch) -> Any:
        return self.arguments[0]._compute(batch).cast(self.target_type, safe=self.safe)

    def text(self) -> str:
        return f"CAST({self.arguments[0].text()} AS {self.target_type})"


class _Alias(_Compound):
    def __init__(self, argument: Expression, name: str) -> None:
        self.arguments = (argument,)
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def _compute(self, batch: pa.RecordBatch) -> Any:
        return self.arguments[0]._compute(batch)

    def text(self) -> str:
        return f"{_operand(self.arguments[0])} AS {self._name}"


def col(name: str) -> Expression:
    """The column called ``name``."""
    if not isinstance(name, str):
        raise TypeError(f"a column is given by its name, not {name!r}")
    return _Column(name)


def lit(value: Any) -> Expression:
    """A constant: anything pyarrow has a type for, None too."""
    if isinstance(value, Expression):
        return value
    try:
        return _Literal(value if isinstance(value, pa.Scalar) else pa.scalar(value))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise TypeError(f"{value!r} cannot be a constant of a column expression: {error}") from None


def call_function(name: str, *arguments: Any, options: Any = None) -> Expression:
    """Any scalar function of pyarrow.compute over columns and constants.

    >>> upper = call_function("utf8_upper", col("x"))
    >>> upper.evaluate(pa.record_batch({"x": ["a", None]})).to_pylist()
    ['A', None]
    """
    known = pc.list_functions()
    if name not in known:
        raise ValueError(f"pyarrow.compute has no function {name!r}{_did_you_mean(name, known)}")
    kind = pc.get_function(name).kind
    if kind != "scalar":
        raise ValueError(
            f"{name!r} is a {kind} function of pyarrow.compute: it looks at several rows, so its result would "
            "depend on batch boundaries; only scalar functions can be called"
        )
    if pc.get_function(name).arity == 0:
        raise ValueError(
            f"{name!r} of pyarrow.compute takes no column: its values would not be those of the rows"
        )
    return _Call(name, tuple(_expression(argument) for argument in arguments), options)


def check_columns(names: Iterable[str], schema: pa.Schema) -> None:
    """Raises KeyError for the first name that is not a column of ``schema``, listing those that are."""
    for name in names:
        found = schema.get_all_field_indices(name)
        if not found:
            raise KeyError(
                f"no column {name!r}{_did_you_mean(name, schema.names)}; the columns are {schema.names}"
            )
        if len(found) > 1:
            raise KeyError(f"the column name {name!r} is ambiguous; the columns are {schema.names}")


def _did_you_mean(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _expression(value: Any) -> Expression:
    return value if isinstance(value, Expression) else lit(value)


def _operand(expression: Expression) -> str:
    text = expression.text()
    return f"({text})" if isinstance(expression, (_Binary, _Alias)) else text


def _data_type(target: TypeInformation | pa.DataType | str) -> pa.DataType:
    if isinstance(target, pa.DataType):
        return target
    if isinstance(target, str):
        try:
            return pa.type_for_alias(target)
        except ValueError:
            raise TypeError(
                f"{target!r} is not the name of an Arrow type, such as 'int64', 'string' or 'timestamp[ms]'"
            ) from None
    if isinstance(target, TypeInformation):
        found = arrow_type(target)
        if found is not None:
            return found
    raise TypeError(f"cannot cast to {target!r}: give a type of Types or of pyarrow")


def _restored_call(
    function: str, arguments: tuple[Expression, ...], options: bytes | None
) -> _Call:
    restored = None if options is None else pc.FunctionOptions.deserialize(pa.py_buffer(options))
    return _Call(function, arguments, restored)
