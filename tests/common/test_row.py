"""Row: a tuple with names, as PyFlink has it."""

import copy
import pickle

import cloudpickle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Row

NAMES = st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5, unique=True)


def test_fields_are_reached_by_position_name_and_attribute() -> None:
    row = Row(name="Alice", age=11)
    assert (row[0], row["name"], row.name) == ("Alice",) * 3
    assert row[-1] == row["age"] == row.age == 11
    assert row[:1] == ("Alice",)
    assert list(row) == ["Alice", 11]
    assert len(row) == 2


def test_a_row_without_names_is_a_plain_tuple() -> None:
    row = Row("Alice", 11)
    assert row == ("Alice", 11)
    assert repr(row) == "Row('Alice', 11)"
    with pytest.raises(KeyError, match="Row has no field 'name'; its fields have no names"):
        row["name"]
    with pytest.raises(TypeError, match="has no field names"):
        row.as_dict()


def test_a_row_of_names_makes_rows() -> None:
    person = Row("name", "age")
    assert repr(person("Alice", 11)) == "Row(name='Alice', age=11)"
    with pytest.raises(ValueError, match=r"expected 2 values for \('name', 'age'\), got 1"):
        person("Alice")
    with pytest.raises(TypeError, match="only a Row of field names can make rows"):
        Row(1, 2)(3, 4)


def test_positional_and_named_values_do_not_mix() -> None:
    with pytest.raises(ValueError, match="either positional or named"):
        Row(1, x=2)


def test_names_do_not_take_part_in_comparison_and_hashing() -> None:
    assert Row(a=1, b=2) == Row(x=1, y=2) == Row(1, 2) == (1, 2)
    assert hash(Row(a=1, b=2)) == hash((1, 2))
    assert Row(a=1) < Row(b=2)
    assert len({Row(a=1), Row(1), (1,)}) == 1


def test_unknown_fields_list_the_known_ones() -> None:
    row = Row(name="Alice", age=11)
    with pytest.raises(AttributeError, match="Row has no field 'mame'; its fields are name, age"):
        _ = row.mame
    with pytest.raises(KeyError, match="Row has no field 'mame'; its fields are name, age"):
        row["mame"]


def test_rows_are_immutable_and_say_what_to_do() -> None:
    row = Row(a=1)
    for change in (
        lambda: row.__setitem__(0, 2),
        lambda: row.set_field(0, 2),
    ):
        with pytest.raises(TypeError, match="a Row is immutable; make a new one"):
            change()
    with pytest.raises(AttributeError):
        row.a = 2


def test_field_names_can_be_given_later() -> None:
    row = Row(1, 2)
    row.set_field_names(["a", "b"])
    assert row.as_dict() == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match="1 names for 2 fields"):
        row.set_field_names(["a"])


def test_dicts_of_rows_inside_rows() -> None:
    row = Row(k=1, inner=Row(x=[Row(y=2)], z={"a": Row(b=3)}))
    assert row.as_dict()["inner"] == Row(x=[Row(y=2)], z={"a": Row(b=3)})
    assert row.as_dict(recursive=True) == {"k": 1, "inner": {"x": [{"y": 2}], "z": {"a": {"b": 3}}}}


def test_fields_by_names_come_in_the_order_asked_for() -> None:
    assert Row(a=1, b=2, c=3).get_fields_by_names(["c", "a"]) == (3, 1)


@pytest.mark.parametrize("name", ["count", "index"])
def test_fields_hide_the_methods_of_tuple(name: str) -> None:
    assert getattr(Row(**{name: 7}), name) == 7


@pytest.mark.parametrize("name", ["as_dict", "set_field", "_fields", "__len__", "__class__"])
def test_fields_named_like_the_row_s_own_methods_are_reached_by_name_only(name: str) -> None:
    row = Row(**{name: 7, "x": 1})
    assert row[name] == 7
    assert len(row) == 2
    assert dict(zip(row._fields or (), row, strict=True)) == {name: 7, "x": 1}


@pytest.mark.parametrize("module", [pickle, cloudpickle, copy])
@pytest.mark.parametrize("row", [Row(), Row(1, "a"), Row(a=1, b=Row(c=[2]))], ids=repr)
def test_rows_pickle_and_copy(module: object, row: Row) -> None:
    again = copy.deepcopy(row) if module is copy else pickle.loads(module.dumps(row))  # type: ignore[attr-defined]
    assert again == row
    assert repr(again) == repr(row)
    assert type(again) is type(row)


@given(NAMES, st.data())
def test_rows_of_any_names_keep_values_and_names(names: list[str], data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(), min_size=len(names), max_size=len(names)))
    row = Row(*names)(*values)
    assert tuple(row) == tuple(values)
    assert row.as_dict() == dict(zip(names, values, strict=True))
    assert [row[name] for name in names] == values
    assert pickle.loads(pickle.dumps(row)).as_dict() == row.as_dict()
