"""Configuration: values as they were given, converted by the getter."""

from typing import Any

import pytest

from penstock.common import Configuration


def test_values_are_converted_by_the_getter() -> None:
    configuration = Configuration({"n": "4", "t": " TRUE ", "f": "2.5", "d": "10 s", "s": 7})
    assert configuration.get_integer("n", 0) == 4
    assert configuration.get_boolean("t", False) is True
    assert configuration.get_float("f", 0.0) == 2.5
    assert configuration.get_duration_ms("d", 0) == 10_000
    assert configuration.get_string("s", "") == "7"
    assert configuration.get("s") == 7


def test_defaults_stand_for_what_is_not_set() -> None:
    configuration = Configuration()
    assert configuration.get_integer("n", 3) == 3
    assert configuration.get_boolean("t", True) is True
    assert configuration.get_string("s", "x") == "x"
    assert configuration.get_float("f", 0.5) == 0.5
    assert configuration.get_duration_ms("d", 5) == 5
    assert configuration.get_bytearray("b", bytearray(b"x")) == b"x"
    assert configuration.get("other") is None


def test_none_is_a_default_too() -> None:
    assert Configuration().get_string("s", None) is None


@pytest.mark.parametrize(
    ("getter", "default", "message"),
    [
        ("get_integer", 0, "k: 'x' is not an integer"),
        ("get_float", 0.0, "k: 'x' is not a number"),
        ("get_boolean", False, "k: 'x' is not true or false"),
        ("get_duration_ms", 0, "k: 'x' is not a duration"),
    ],
)
def test_a_value_that_does_not_convert_names_its_key(
    getter: str, default: Any, message: str
) -> None:
    configuration = Configuration().set_string("k", "x")
    with pytest.raises(ValueError, match=message):
        getattr(configuration, getter)("k", default)


def test_keys_are_texts() -> None:
    with pytest.raises(TypeError, match="a configuration key is a str, not 7"):
        Configuration().set(7, "x")  # type: ignore[arg-type]


def test_configurations_are_copied_merged_and_compared() -> None:
    one = Configuration().set_integer("a", 1).set_bytearray("b", bytearray(b"\x00"))
    copy = Configuration(one)
    copy.set_integer("a", 2)
    assert one.get_integer("a", 0) == 1
    assert one != copy
    merged = Configuration().add_all(one, "p.")
    assert merged.key_set() == {"p.a", "p.b"}
    assert merged.contains_key("p.a")
    assert merged.remove_config("p.a") is True
    assert merged.remove_config("p.a") is False
    assert merged == Configuration({"p.b": b"\x00"})
    target: dict[str, Any] = {}
    merged.add_all_to_dict(target)
    assert target == merged.to_dict() == {"p.b": b"\x00"}


@pytest.mark.parametrize("wrong", [2.5, True, None, [1]])
def test_an_integer_is_not_cut_out_of_something_else(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"n: .* is not an integer"):
        Configuration().set("n", wrong).get_integer("n", 1)


def test_dicts_are_taken_as_configurations_and_other_things_are_not() -> None:
    assert Configuration().add_all({"a": 1}, "p.") == Configuration({"p.a": 1})
    with pytest.raises(TypeError, match="a Configuration or a dict is needed, not 'a=1'"):
        Configuration("a=1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a configuration key is a str, not 1"):
        Configuration({1: "x"})  # type: ignore[dict-item]
