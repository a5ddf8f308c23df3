"""Keyed state as plain dicts, and a process function that does with real state what it is told by its elements.

A *step* is an element ``(key, state, method, arguments)``; what the call returned comes out as ``(key, state, method, result)``,
a KeyError as the text "KeyError". Timers are steps too: ``(key, "timers", method, (time,))``; one that fires comes out as
``(key, "timers", domain, time)``.

The time to live is Flink's with NeverReturnExpired: an entry expires ``ttl`` milliseconds after it was last written, or with
``on_read`` read. It belongs to the value, to the element of a list, to the entry of a map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock import Time, Types
from penstock.common import TypeInformation
from penstock.datastream import AggregateFunction, KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

Step = tuple[str, str, str, tuple[Any, ...]]
Result = tuple[str, str, str, Any]


class Mean(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Interpreter(KeyedProcessFunction):
    """Does the steps on real state whose values are of ``type_info``."""

    def __init__(self, type_info: TypeInformation | None, ttl: int | None, on_read: bool) -> None:
        self.type_info = type_info
        self.ttl = ttl
        self.on_read = on_read

    def open(self, runtime_context: RuntimeContext) -> None:
        context, pair = runtime_context, Types.TUPLE([Types.LONG(), Types.LONG()])
        value = ValueStateDescriptor("value", self.type_info)
        elements = ListStateDescriptor("list", self.type_info)
        entries = MapStateDescriptor("map", Types.STRING(), self.type_info)
        total = ReducingStateDescriptor("reducing", lambda a, b: a + b, Types.LONG())
        mean = AggregatingStateDescriptor("aggregating", Mean(), pair)
        for descriptor in (value, elements, entries, total, mean):
            if self.ttl is not None:
                descriptor.enable_time_to_live(self._ttl_config())
        self.states: dict[str, Any] = {
            "value": context.get_state(value),
            "list": context.get_list_state(elements),
            "map": context.get_map_state(entries),
            "reducing": context.get_reducing_state(total),
            "aggregating": context.get_aggregating_state(mean),
        }

    def _ttl_config(self) -> StateTtlConfig:
        assert self.ttl is not None
        builder = StateTtlConfig.new_builder(Time.milliseconds(self.ttl))
        if self.on_read:
            builder.update_ttl_on_read_and_write()
        return builder.build()

    def process_element(self, value: Step, ctx: Any) -> Iterator[Result]:
        key, name, method, arguments = value
        state = ctx.timer_service() if name == "timers" else self.states[name]
        yield key, name, method, outcome(getattr(state, method), *arguments)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Result]:
        yield ctx.get_current_key(), "timers", ctx.time_domain().name, timestamp


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """What a call returned; a copy where it returns something that can be gone through."""
    try:
        found = call(*arguments)
    except KeyError:
        return "KeyError"
    if hasattr(found, "__next__") or type(found).__name__.startswith("dict_"):
        return list(found)
    return found


class Model:
    """The same with dicts. Of each entry it keeps (value, time of the last touch)."""

    def __init__(self, ttl: int | None, on_read: bool) -> None:
        self.ttl = ttl
        self.on_read = on_read
        self.now = 0
        self.watermark = -(1 << 63)
        self._kept: dict[tuple[str, str], Any] = {}
        self._timers: dict[str, set[tuple[int, str]]] = {"event": set(), "processing": set()}

    def do(self, step: Step) -> Result:
        key, name, method, arguments = step
        if name == "timers":
            return key, name, method, self._timer(key, method, *arguments)
        self._place = key, name
        found = outcome(getattr(self, f"_{name}_{method.strip('_')}"), *arguments)
        return key, name, method, found

    def advance_watermark(self, timestamp: int) -> list[Result]:
        """What fires, by time and key."""
        if timestamp <= self.watermark:
            return []
        self.watermark = timestamp
        return self._fire("event", timestamp)

    def set_time(self, now: int) -> list[Result]:
        self.now = now
        return self._fire("processing", now)

    # --- timers ---

    def _timer(self, key: str, method: str, *arguments: int) -> int | None:
        if method == "current_watermark":
            return self.watermark
        if method == "current_processing_time":
            return self.now
        verb, kind = method.split("_")[:2]
        change = set.add if verb == "register" else set.discard
        change(self._timers[kind], (arguments[0], key))
        return None

    def _fire(self, kind: str, until: int) -> list[Result]:
        due = sorted(timer for timer in self._timers[kind] if timer[0] <= until)
        self._timers[kind].difference_update(due)
        return [(key, "timers", f"{kind.upper()}_TIME", time) for time, key in due]

    # --- entries ---

    def _live(self, entry: tuple[Any, int] | None) -> bool:
        return entry is not None and (self.ttl is None or entry[1] + self.ttl > self.now)

    def _touched(self, entry: tuple[Any, int]) -> tuple[Any, int]:
        return (entry[0], self.now) if self.on_read else entry

    def _single(self) -> Any:
        """The value of a state that has one per key."""
        entry = self._kept.get(self._place)
        if not self._live(entry):
            self._kept.pop(self._place, None)
            return None
        self._kept[self._place] = self._touched(entry)
        return entry[0]

    def _set(self, value: Any) -> None:
        self._kept[self._place] = value, self.now

    def _clear(self) -> None:
        self._kept.pop(self._place, None)

    # --- value ---

    def _value_value(self) -> Any:
        return self._single()

    def _value_update(self, value: Any) -> None:
        if value is None:
            self._clear()
        else:
            self._set(value)

    _value_clear = _clear

    # --- reducing and aggregating ---

    def _reducing_get(self) -> Any:
        return self._single()

    def _reducing_add(self, value: int) -> None:
        entry = self._kept.get(self._place)
        self._set(entry[0] + value if self._live(entry) else value)

    _reducing_clear = _clear

    def _aggregating_get(self) -> Any:
        found = self._single()
        return None if found is None else found[0] / found[1]

    def _aggregating_add(self, value: int) -> None:
        entry = self._kept.get(self._place)
        total, count = entry[0] if self._live(entry) else (0, 0)
        self._set((total + value, count + 1))

    _aggregating_clear = _clear

    # --- list ---

    def _list_get(self) -> list[Any]:
        live = [entry for entry in self._kept.get(self._place, []) if self._live(entry)]
        self._kept[self._place] = [self._touched(entry) for entry in live]
        return [value for value, _ in live]

    def _list_iter(self) -> Iterator[Any]:
        return iter(self._list_get())

    def _list_add(self, value: Any) -> None:
        self._list_add_all([value])

    def _list_add_all(self, values: list[Any]) -> None:
        self._kept.setdefault(self._place, []).extend((value, self.now) for value in values)

    def _list_update(self, values: list[Any]) -> None:
        self._kept[self._place] = [(value, self.now) for value in values]

    _list_clear = _clear

    # --- map ---

    def _entries(self) -> dict[str, tuple[Any, int]]:
        """The live entries by their keys; without those that have expired."""
        entries = self._kept.setdefault(self._place, {})
        for key in [key for key, entry in entries.items() if not self._live(entry)]:
            del entries[key]
        found: dict[str, tuple[Any, int]] = entries
        return found

    def _read_all(self) -> dict[str, Any]:
        entries = self._entries()
        for key in entries:
            entries[key] = self._touched(entries[key])
        return {key: entries[key][0] for key in sorted(entries)}

    def _map_getitem(self, key: str) -> Any:
        entries = self._entries()
        entries[key] = self._touched(entries[key])
        return entries[key][0]

    def _map_get(self, key: str) -> Any:
        return self._map_getitem(key) if key in self._entries() else None

    def _map_contains(self, key: str) -> bool:
        return self._map_get(key) is not None

    def _map_put(self, key: str, value: Any) -> None:
        self._entries()[key] = value, self.now

    _map_setitem = _map_put

    def _map_put_all(self, values: dict[str, Any]) -> None:
        for key, value in values.items():
            self._map_put(key, value)

    def _map_remove(self, key: str) -> None:
        self._entries().pop(key, None)

    def _map_delitem(self, key: str) -> None:
        del self._entries()[key]

    def _map_items(self) -> list[tuple[str, Any]]:
        return list(self._read_all().items())

    def _map_keys(self) -> list[str]:
        return list(self._read_all())

    def _map_values(self) -> list[Any]:
        return list(self._read_all().values())

    def _map_iter(self) -> Iterator[str]:
        return iter(self._read_all())

    def _map_len(self) -> int:
        return len(self._read_all())

    def _map_is_empty(self) -> bool:
        return not self._read_all()

    _map_clear = _clear
