"""Descriptors: the name, the kind and the types of a keyed state.

A name stands for one state of an operator, in all its runs: what is asked for under the same name must be of the same kind
and of the same types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from penstock.common.state_ttl_config import StateTtlConfig
from penstock.common.typeinfo import ListTypeInfo, MapTypeInfo, TypeInformation, Types

__all__ = [
    "AggregatingStateDescriptor",
    "ListStateDescriptor",
    "MapStateDescriptor",
    "ReducingStateDescriptor",
    "StateDescriptor",
    "ValueStateDescriptor",
]

_AGGREGATE_METHODS = ("create_accumulator", "add", "get_result", "merge")


class StateDescriptor(ABC):
    """Base of all descriptors. Values without a declared type are pickled.

    >>> descriptor = ValueStateDescriptor("last seen", Types.LONG())
    >>> descriptor.get_name(), descriptor.type_info
    ('last seen', LONG)
    """

    # The method of RuntimeContext that takes it.
    _getter: ClassVar[str] = ""

    def __init__(self, name: str, type_info: TypeInformation | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a state is a str, not {name!r}")
        if not name:
            raise ValueError("the name of a state must not be empty")
        self.name = name
        self.type_info = _declared(type_info, type(self).__name__)
        self._ttl_config: StateTtlConfig | None = None

    def get_name(self) -> str:
        return self.name

    def enable_time_to_live(self, ttl_config: StateTtlConfig) -> None:
        """What has not been touched for some time expires."""
        if not isinstance(ttl_config, StateTtlConfig):
            raise TypeError(
                f"enable_time_to_live() takes a StateTtlConfig, not {ttl_config!r}; "
                "build one: StateTtlConfig.new_builder(Time.hours(1)).build()"
            )
        self._ttl_config = ttl_config

    @abstractmethod
    def _open(self, store: Any) -> Any:
        """The state, from the KeyedStateStore of the core."""

    @property
    def _ttl(self) -> tuple[Any, ...] | None:
        return None if self._ttl_config is None else self._ttl_config._to_native()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.type_info!r})"


class ValueStateDescriptor(StateDescriptor):
    """One value per key, for ``RuntimeContext.get_state``."""

    _getter = "get_state"

    def __init__(self, name: str, value_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, value_type_info)

    def _open(self, store: Any) -> Any:
        return store.value_state(self.name, repr(self.type_info), self._ttl)


class ListStateDescriptor(StateDescriptor):
    """A list per key, for ``RuntimeContext.get_list_state``."""

    _getter = "get_list_state"

    def __init__(self, name: str, elem_type_info: TypeInformation | None = None) -> None:
        super().__init__(name, ListTypeInfo(_declared(elem_type_info, type(self).__name__)))

    def _open(self, store: Any) -> Any:
        assert isinstance(self.type_info, ListTypeInfo)
        return store.list_state(self.name, repr(self.type_info.element_type), self._ttl)


class MapStateDescriptor(StateDescriptor):
    """A map per key, for ``RuntimeContext.get_map_state``."""

    _getter = "get_map_state"

    def __init__(
        self,
        name: str,
        key_type_info: TypeInformation | None = None,
        value_type_info: TypeInformation | None = None,
    ) -> None:
        types = (_declared(one, type(self).__name__) for one in (key_type_info, value_type_info))
        super().__init__(name, MapTypeInfo(*types))

    def _open(self, store: Any) -> Any:
        assert isinstance(self.type_info, MapTypeInfo)
        key_type, value_type = self.type_info.key_type, self.type_info.value_type
        return store.map_state(self.name, repr(key_type), repr(value_type), self._ttl)


class ReducingStateDescriptor(StateDescriptor):
    """One value per key, made of all added ones by a ReduceFunction or a callable of two values."""

    _getter = "get_reducing_state"

    def __init__(
        self, name: str, reduce_function: Any, type_info: TypeInformation | None = None
    ) -> None:
        super().__init__(name, type_info)
        self._reduce: Callable[[Any, Any], Any] = _method(reduce_function, "reduce")
        self._reduce_function = reduce_function

    def get_reduce_function(self) -> Any:
        return self._reduce_function

    def _open(self, store: Any) -> Any:
        return store.reducing_state(self.name, repr(self.type_info), self._reduce, self._ttl)


class AggregatingStateDescriptor(StateDescriptor):
    """What an AggregateFunction makes of all added values; the type is that of its accumulator."""

    _getter = "get_aggregating_state"

    def __init__(
        self, name: str, agg_function: Any, state_type_info: TypeInformation | None = None
    ) -> None:
        super().__init__(name, state_type_info)
        methods = [getattr(agg_function, name, None) for name in _AGGREGATE_METHODS]
        if isinstance(agg_function, type) or not all(map(callable, methods)):
            raise TypeError(
                f"AggregatingStateDescriptor takes an AggregateFunction object, not {agg_function!r}"
            )
        self._agg_function = agg_function

    def get_agg_function(self) -> Any:
        return self._agg_function

    def _open(self, store: Any) -> Any:
        methods = (getattr(self._agg_function, name) for name in _AGGREGATE_METHODS)
        return store.aggregating_state(self.name, repr(self.type_info), *methods, self._ttl)


def _declared(type_info: Any, what: str) -> TypeInformation:
    if type_info is None:
        return Types.PICKLED_BYTE_ARRAY()
    if not isinstance(type_info, TypeInformation):
        raise TypeError(f"{what}: a type is one of Types, such as Types.LONG(), not {type_info!r}")
    return type_info


def _method(function: Any, name: str) -> Callable[[Any, Any], Any]:
    """The method of a ReduceFunction object, or the callable itself."""
    found = function if isinstance(function, type) else getattr(function, name, function)
    if isinstance(function, type) or not callable(found):
        raise TypeError(
            f"ReducingStateDescriptor takes a ReduceFunction object or a callable, not {function!r}"
        )
    checked: Callable[[Any, Any], Any] = found
    return checked
