"""Frames: what goes in comes out, and nothing that is damaged, missing, doubled or out of order is taken."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Row
from penstock._core.columnar import Batch
from penstock.runtime.spark import channels
from penstock.runtime.spark.channels import ChannelId, FrameGate, FrameWriter
from penstock.runtime.spark.frames import (
    UNNAMED,
    Frame,
    FrameError,
    FrameHeader,
    decode_frame,
    encode_frame,
    frame_rows,
    read_frames,
)

pytestmark = pytest.mark.native

TIMES = st.integers(-(2**63), 2**63 - 1)
SCHEMAS = [
    pa.schema([("n", pa.int64()), ("s", pa.string())]),
    pa.schema([("x", pa.float64()), ("t", pa.timestamp("ms")), ("l", pa.list_(pa.int32()))]),
]
VALUES = {
    "n": st.none() | st.integers(-(2**63), 2**63 - 1),
    "s": st.none() | st.text(max_size=5),
    "x": st.none() | st.floats(allow_nan=False),
    "t": st.none() | st.integers(0, 2**40),
    "l": st.none() | st.lists(st.integers(0, 9), max_size=3),
}
OBJECTS = st.none() | st.integers() | st.text(max_size=3) | st.integers().map(lambda n: Row(a=n))


@st.composite
def columnar_batches(draw: st.DrawFn) -> Batch:
    schema, rows = draw(st.sampled_from(SCHEMAS)), draw(st.integers(0, 5))
    arrays = [
        pa.array(draw(st.lists(VALUES[f.name], min_size=rows, max_size=rows)), f.type)
        for f in schema
    ]
    return draw(dressed(Batch.from_arrow(pa.RecordBatch.from_arrays(arrays, schema=schema))))


@st.composite
def dressed(draw: st.DrawFn, batch: Batch) -> Batch:
    """With or without event times and keys."""
    rows = len(batch)
    if draw(st.booleans()):
        batch = batch.with_timestamps(draw(st.lists(TIMES, min_size=rows, max_size=rows)))
    if draw(st.booleans()):
        keys = st.lists(st.binary(max_size=3), min_size=rows, max_size=rows)
        batch = batch.with_encoded_keys(draw(keys))
    return batch


ROW_BATCHES = st.lists(OBJECTS, max_size=5).flatmap(lambda rows: dressed(Batch.from_rows(rows)))
ELEMENTS = st.lists(
    st.tuples(st.just("batch"), columnar_batches() | ROW_BATCHES)
    | st.tuples(st.just("watermark"), TIMES)
    | st.tuples(st.just("status"), st.booleans())
    | st.tuples(st.just("barrier"), st.integers(0, 2**40)),
    max_size=8,
)
HEADER = FrameHeader(vertex=3, subtask=1, attempt=2**40, edge=7, target=5, sequence=9)


def shown(element: tuple[Any, ...]) -> tuple[Any, ...]:
    """An element in a form that can be compared."""
    if element[0] != "batch":
        return element
    batch = element[1]
    columns = pa.record_batch(batch) if batch.is_columnar else None
    schema = None if columns is None else columns.schema
    rows = batch.to_rows() if columns is None else columns.to_pylist()
    return "batch", schema, rows, [*map(type, rows)], batch.timestamps, batch.encoded_keys


def without_empty(elements: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [e for e in elements if e[0] != "batch" or len(e[1])]


@given(ELEMENTS)
def test_elements_come_out_of_a_frame_as_they_went_in(elements: list[tuple[Any, ...]]) -> None:
    payload, _ = encode_frame(HEADER, elements)
    header, _, decoded = decode_frame(payload)
    assert header == HEADER
    assert list(map(shown, decoded)) == list(map(shown, without_empty(elements)))


@given(ELEMENTS, st.data())
def test_a_changed_byte_is_noticed(elements: list[tuple[Any, ...]], data: st.DataObject) -> None:
    payload = bytearray(encode_frame(HEADER, [*elements, ("end",)])[0])
    position = data.draw(st.integers(0, len(payload) - 1))
    payload[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(FrameError):
        decode_frame(bytes(payload))


@given(st.data())
def test_a_shortened_frame_is_noticed(data: st.DataObject) -> None:
    payload, _ = encode_frame(HEADER, [("watermark", 5), ("end",)])
    length = data.draw(st.integers(0, len(payload) - 1))
    with pytest.raises(FrameError):
        decode_frame(payload[:length])


def test_many_small_batches_travel_as_one_and_come_back_as_they_were() -> None:
    table = pa.record_batch({"n": range(1000), "s": [str(i % 7) for i in range(1000)]})
    batches = [("batch", Batch.from_arrow(table.slice(i, 10))) for i in range(0, 1000, 10)]
    elements = [e for number, batch in enumerate(batches) for e in (batch, ("watermark", number))]
    payload, _ = encode_frame(HEADER, elements)
    assert list(map(shown, decode_frame(payload)[2])) == list(map(shown, elements))
    single, _ = encode_frame(HEADER, [("batch", Batch.from_arrow(table))])
    assert len(payload) < len(single) + 100 * 2 * 9 + 64


def test_objects_of_a_class_that_came_with_the_plan_take_it_along() -> None:
    class Event:
        def __init__(self, name: str) -> None:
            self.name = name

    payload, _ = encode_frame(HEADER, [("batch", Batch.from_rows([Event("a"), Event("b")]))])
    ((_, batch),) = decode_frame(payload)[2]
    assert [event.name for event in batch.to_rows()] == ["a", "b"]


# --- channels ---------------------------------------------------------------------------------------------

CHANNELS = [ChannelId(4, 0), ChannelId(4, 1), ChannelId(6, 0)]


@pytest.fixture(autouse=True, scope="module")
def small_frames() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channels, "_FRAME_OBJECTS", 3)
        yield


def written(channel: int, batches: int, attempt: int = 11) -> list[Frame]:
    """The frames of a channel with ``batches`` batches of two rows."""
    identity = CHANNELS[channel]
    writer = FrameWriter(1, identity.subtask, attempt, identity.edge, 2, channel, route=0)
    elements: list[tuple[Any, ...]] = []
    for number in range(batches):
        elements += [("batch", Batch.from_rows([(channel, number)] * 2)), ("watermark", number)]
    frames = [writer.add(element) for element in [*elements, ("end",)]]
    return [frame for frame in frames if frame is not None]


def sorted_frames(*by_channel: list[Frame]) -> list[Frame]:
    frames = [frame for frames in by_channel for frame in frames]
    return sorted(frames, key=lambda frame: (frame.sequence, frame.channel))


def read(frames: Sequence[Frame], lenient: frozenset[int] = frozenset()) -> list[tuple[int, Any]]:
    return list(FrameGate(2, CHANNELS, lenient).elements(frames))


@given(st.lists(st.integers(0, 12), min_size=3, max_size=3))
def test_a_gate_gives_each_channels_elements_in_order(counts: list[int]) -> None:
    frames = sorted_frames(*(written(c, n) for c, n in enumerate(counts)))
    through_spark = list(read_frames(iter([frame_rows(frames)])))
    found = read(through_spark)
    for channel, count in enumerate(counts):
        rows = [e[1].to_rows() for c, e in found if c == channel and e[0] == "batch"]
        assert rows == [[(channel, n)] * 2 for n in range(count)]
        assert [e for c, e in found if c == channel][-1] == ("end",)


def test_channels_take_turns_frame_by_frame() -> None:
    found = read(sorted_frames(written(0, 4), written(1, 4), written(2, 4)))
    order = [channel for channel, element in found if element[0] == "batch"]
    assert order == [0, 0, 1, 1, 2, 2] * 2


@given(st.integers(1, 12), st.data())
def test_a_missing_frame_is_noticed(batches: int, data: st.DataObject) -> None:
    frames = sorted_frames(*(written(c, batches) for c in range(3)))
    del frames[data.draw(st.integers(0, len(frames) - 1))]
    with pytest.raises(FrameError, match="missing"):
        read(frames)


@given(st.integers(1, 12), st.data())
def test_a_doubled_frame_is_noticed(batches: int, data: st.DataObject) -> None:
    frames = sorted_frames(*(written(c, batches) for c in range(3)))
    position = data.draw(st.integers(0, len(frames) - 1))
    frames.insert(position, frames[position])
    with pytest.raises(FrameError, match="twice or out of order"):
        read(frames)


@given(st.integers(3, 12), st.randoms(use_true_random=False))
def test_reordered_frames_of_a_channel_are_noticed(batches: int, shuffle: random.Random) -> None:
    frames = written(0, batches)
    shuffled = shuffle.sample(frames, len(frames))
    rest = [*written(1, 0), *written(2, 0)]
    if [f.sequence for f in shuffled] == [f.sequence for f in frames]:
        read([*rest, *shuffled])
    else:
        with pytest.raises(FrameError):
            read([*rest, *shuffled])


def test_two_attempts_of_one_producer_cannot_be_mixed() -> None:
    one, other = written(0, 4, attempt=11), written(0, 4, attempt=12)
    mixed = [one[0], *other[1:]]
    with pytest.raises(FrameError, match="mixed with frames of attempt 11"):
        read(sorted_frames(mixed, written(1, 0), written(2, 0)))


def test_a_frame_for_another_subtask_is_refused() -> None:
    with pytest.raises(FrameError, match="arrived at subtask 5"):
        list(FrameGate(5, CHANNELS).elements(written(0, 1)))


def test_a_frame_under_a_wrong_label_is_refused() -> None:
    frame = written(0, 1)[0]
    for wrong in (
        Frame(0, 6, frame.channel, frame.sequence, frame.payload),
        Frame(0, frame.edge, 1, frame.sequence, frame.payload),
        Frame(0, frame.edge, frame.channel, 7, frame.payload),
        Frame(0, frame.edge, 99, frame.sequence, frame.payload),
    ):
        with pytest.raises(FrameError):
            read([wrong])


# --- producers without rows -------------------------------------------------------------------------------


def unnamed(edge: int, attempt: int) -> Frame:
    header = FrameHeader(1, UNNAMED, attempt, edge, target=2, sequence=0)
    return Frame(0, edge, UNNAMED, 0, encode_frame(header, [("end",)])[0])


def test_the_channel_of_an_unnamed_producer_ends_before_the_others_begin() -> None:
    found = read(sorted_frames([unnamed(4, 30)], written(0, 2), written(2, 1)))
    assert found[0] == (1, ("end",))
    assert [c for c, e in found if e[0] == "end"] == [1, 2, 0]


def test_a_silent_channel_without_an_unnamed_producer_is_missing() -> None:
    with pytest.raises(FrameError, match="missing"):
        read(sorted_frames([unnamed(6, 30)], written(0, 2)))
    with pytest.raises(FrameError, match="2 channels along edge 4 are silent, but 1 producers"):
        read(sorted_frames([unnamed(4, 30)], written(2, 2)))


def test_an_unnamed_producer_speaks_once() -> None:
    with pytest.raises(FrameError, match="twice"):
        read(sorted_frames([unnamed(4, 30), unnamed(4, 30)], written(2, 1)))


def test_silent_channels_of_a_lenient_edge_end() -> None:
    found = read(written(2, 1), lenient=frozenset({4}))
    assert [c for c, e in found if e[0] == "end"] == [0, 1, 2]
