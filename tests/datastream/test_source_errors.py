"""Sources: what they take, and the errors they raise when the job is built."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from penstock import Row, StreamExecutionEnvironment, Types, WatermarkStrategy
from penstock.connectors.datagen import DataGen
from penstock.graph.specs import CollectionSourceSpec


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment()


def items(env: StreamExecutionEnvironment, collection: Any, declared: Any) -> Any:
    stream = env.from_collection(collection, declared)
    spec = stream._transformation.spec  # type: ignore[attr-defined]
    assert isinstance(spec, CollectionSourceSpec)
    return spec.items


@pytest.mark.parametrize("wrong", [5, "text", b"bytes", None])
def test_a_collection_is_something_to_iterate_over(
    env: StreamExecutionEnvironment, wrong: Any
) -> None:
    with pytest.raises(TypeError, match=r"from_collection\(\) takes a collection of elements, not"):
        env.from_collection(wrong)


@pytest.mark.parametrize(
    ("collection", "declared", "message"),
    [
        ([1, "2", 3], Types.LONG(), "element 1: '2' is of type str, declared is LONG"),
        ([1, 2.5], Types.INT(), "element 1: 2.5 is of type float, declared is INT"),
        ([1 << 40], Types.INT(), r"element 0: 1099511627776 does not fit into INT \(32 bits\)"),
        (
            [("a", 1), ("b", "2")],
            Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.LONG()]),
            "element 1: field 'v': '2' is of type str, declared is LONG",
        ),
        (
            [("a", 1), ("b",)],
            Types.TUPLE([Types.STRING(), Types.LONG()]),
            r"element 1: \('b',\) has 1 fields, declared is TUPLE<STRING, LONG>",
        ),
        ([{"k": "a"}, {"q": 1}], Types.ROW_NAMED(["k"], [Types.STRING()]), "element 1: .*'k'"),
        ([[1], [1, None, "x"]], Types.LIST(Types.LONG()), "element 1: item 2: 'x' is of type str"),
        ([None], Types.ROW([Types.LONG()]), "element 0: None is not a ROW"),
    ],
)
def test_mixed_types_in_a_typed_collection_are_named_by_element(
    env: StreamExecutionEnvironment, collection: Any, declared: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=rf"from_collection\(\): {message}"):
        env.from_collection(collection, declared)


@pytest.mark.parametrize("wrong", ["LONG", int, pa.int64()])
def test_a_declared_type_is_one_of_types(env: StreamExecutionEnvironment, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"type_info must be one of Types, such as Types.LONG\(\)"):
        env.from_collection([1], wrong)


def test_rows_of_a_declared_row_type_are_rows(env: StreamExecutionEnvironment) -> None:
    declared = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.LONG()])
    found = items(env, [("a", 1), ["b", 2], {"v": 3, "k": "c"}, Row(k="d", v=4)], declared)
    assert [repr(item) for item in found] == [
        f"Row(k={k!r}, v={v})" for k, v in zip("abcd", (1, 2, 3, 4), strict=True)
    ]


def test_an_untyped_collection_takes_anything(env: StreamExecutionEnvironment) -> None:
    things = [1, "a", None, object()]
    stream = env.from_collection(things)
    assert stream.get_schema() is None
    assert stream.get_type() == Types.PICKLED_BYTE_ARRAY()
    assert items(env, things, None) == things


@pytest.mark.parametrize("wrong", [[1, 2], {"a": [1]}, None, 7, "text"])
def test_arrow_data_is_needed_by_from_arrow(env: StreamExecutionEnvironment, wrong: Any) -> None:
    message = rf"from_arrow\(\) takes Arrow data .*, not {type(wrong).__name__}"
    with pytest.raises(TypeError, match=message):
        env.from_arrow(wrong)


def test_columns_of_one_name_are_refused(env: StreamExecutionEnvironment) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ValueError, match=r"from_arrow\(\): the column 'a' is there twice"):
        env.from_arrow(table)


def test_dictionaries_and_views_have_the_type_of_their_values(
    env: StreamExecutionEnvironment,
) -> None:
    table = pa.table(
        {
            "d": pa.array(["a", "b"]).dictionary_encode(),
            "v": pa.array(["a", "b"], pa.string_view()),
            "n": pa.array(
                [{"v": "a", "d": "b"}] * 2,
                pa.struct([("v", pa.string_view()), ("d", pa.dictionary(pa.int8(), pa.string()))]),
            ),
        }
    )
    schema = env.from_arrow(table).get_schema()
    assert schema.field("d").type == pa.string()
    assert schema.field("v").type == pa.large_string()
    assert schema.field("n").type == pa.struct([("v", pa.large_string()), ("d", pa.string())])


@pytest.mark.parametrize(
    "nest",
    [
        lambda kind: kind,
        pa.list_,
        pa.large_list,
        lambda kind: pa.list_(kind, 1),
        lambda kind: pa.map_(pa.string(), kind),
        lambda kind: pa.struct([("inner", pa.list_(kind))]),
    ],
)
def test_dictionaries_are_decoded_however_deep_they_lie(
    env: StreamExecutionEnvironment, nest: Any
) -> None:
    encoded, plain = nest(pa.dictionary(pa.int8(), pa.string())), nest(pa.string())
    stream = env.from_arrow(pa.schema([("x", encoded)]).empty_table())
    assert stream.get_schema().field("x").type == plain


@pytest.mark.parametrize(
    "array",
    [
        pa.RunEndEncodedArray.from_arrays([1], [5]),
        pa.array([[1]], pa.list_view(pa.int8())),
        pa.array([[1]], pa.large_list_view(pa.int8())),
    ],
    ids=lambda array: str(array.type),
)
def test_types_that_are_not_carried_are_refused_by_column(
    env: StreamExecutionEnvironment, array: pa.Array
) -> None:
    for column in (array, pa.StructArray.from_arrays([array], ["inner"])):
        with pytest.raises(TypeError, match=r"column 'x'.*is not supported; cast it"):
            env.from_arrow(pa.table({"x": column}))


@pytest.mark.parametrize(
    "data",
    [
        pl.DataFrame({"a": [1], "b": ["x"]}),
        pd.DataFrame({"a": [1], "b": ["x"]}),
        pa.table({"a": [1], "b": ["x"]}).to_reader(),
        pa.record_batch({"a": [1], "b": ["x"]}),
    ],
    ids=lambda data: type(data).__module__.partition(".")[0] + "." + type(data).__name__,
)
def test_arrow_data_of_any_library_is_taken(env: StreamExecutionEnvironment, data: Any) -> None:
    assert env.from_arrow(data).get_schema().names == ["a", "b"]


def test_an_empty_table_is_a_stream_with_columns(env: StreamExecutionEnvironment) -> None:
    schema = pa.schema([("a", pa.int64())])
    assert env.from_arrow(schema.empty_table()).get_schema() == schema


def test_sources_of_other_kinds_are_refused(env: StreamExecutionEnvironment) -> None:
    strategy = WatermarkStrategy.no_watermarks()
    with pytest.raises(TypeError, match=r"from_source\(\) takes a Source, not \[1\]"):
        env.from_source([1], strategy, "mine")  # type: ignore[arg-type]
    source = DataGen(count=1).sequence("i")
    with pytest.raises(TypeError, match="a WatermarkStrategy is needed, not None"):
        env.from_source(source, None, "mine")  # type: ignore[arg-type]


def test_a_generator_checks_its_columns() -> None:
    with pytest.raises(ValueError, match="a DataGen needs at least one column"):
        DataGen(count=1).spec()
    with pytest.raises(ValueError, match="there is a column 'i' already"):
        DataGen().sequence("i").int("i")
    with pytest.raises(ValueError, match="column 'x': min 5 is greater than max 1"):
        DataGen().int("x", 5, 1)
    with pytest.raises(ValueError, match="values must be all str, all int or all float"):
        DataGen().choice("x", ["a", 1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="count must not be negative, but is -1"):
        DataGen(count=-1)
    with pytest.raises(ValueError, match="rate must be positive, but is 0"):
        DataGen(rate=0)
    with pytest.raises(TypeError, match="a column's name is a text that is not empty"):
        DataGen().sequence("")


@pytest.mark.parametrize(
    "data", [pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), pa.table({"a": [1]})]
)
def test_tables_are_no_collections_of_elements(env: StreamExecutionEnvironment, data: Any) -> None:
    with pytest.raises(TypeError, match=r"takes elements, not a \w+; use from_arrow\(\)"):
        env.from_collection(data)


@pytest.mark.parametrize("data", [pd.Series([1]), pl.Series([1]), pa.array([1])])
def test_a_single_column_is_no_table(env: StreamExecutionEnvironment, data: Any) -> None:
    with pytest.raises(TypeError, match=r"from_arrow\(\) takes rows, not a single column"):
        env.from_arrow(data)


@pytest.mark.native
@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["x", "y"])])
def test_categories_of_polars_are_texts(env: StreamExecutionEnvironment, kind: Any) -> None:
    data = pl.DataFrame({"a": pl.Series(["x", None, "y", "x"], dtype=kind)})
    stream = env.set_parallelism(1).from_arrow(data)
    assert stream.get_schema().field("a").type == pa.large_string()
    assert [row.a for row in stream.execute_and_collect()] == ["x", None, "y", "x"]


def test_rows_of_a_collection_are_read_by_name(env: StreamExecutionEnvironment) -> None:
    declared = Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.LONG()])
    assert repr(items(env, [Row(b=2, a=1)], declared)) == "[Row(a=1, b=2)]"


def test_the_count_of_a_generator_is_a_whole_number() -> None:
    with pytest.raises(TypeError, match=r"count must be an int, not 5\.5"):
        DataGen(count=5.5)  # type: ignore[arg-type]
