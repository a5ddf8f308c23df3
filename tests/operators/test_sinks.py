"""Sinks: a function per batch, printing, collecting, discarding."""

from __future__ import annotations

import io
import sys
import threading
from typing import Any

import pyarrow as pa
import pytest

from penstock._core import operators
from penstock._core.operators import (
    ResultQueue,
    batch_sink,
    collect_sink,
    function_sink,
    print_sink,
)
from penstock.errors import UserCodeError

pytestmark = pytest.mark.native


# --- functions -----------------------------------------------------------------------


def test_function_sink_gets_each_element(chain: Any, numbers: pa.RecordBatch) -> None:
    got: list[Any] = []
    chain(function_sink(got.append)).rows([1, "x"]).columns(numbers)
    assert got == [1, "x", 1, None, 3]


def test_batch_sink_of_columns_gets_record_batches(chain: Any) -> None:
    got: list[Any] = []
    chain(batch_sink(got.append)).columns({"a": [1, None]})
    assert isinstance(got[0], pa.RecordBatch)
    assert got[0].to_pydict() == {"a": [1, None]}


def test_batch_sink_of_columns_refuses_rows(chain: Any) -> None:
    with pytest.raises(TypeError, match="a sink of Arrow batches got rows"):
        chain(batch_sink(print)).rows([1])


def test_error_of_a_sink_function_is_chained(chain: Any) -> None:
    def fail(_: Any) -> None:
        raise OSError("disk full")

    with pytest.raises(UserCodeError, match="raised on record 1: OSError: disk full") as caught:
        chain(function_sink(fail)).rows([1, 2])
    assert isinstance(caught.value.__cause__, OSError)


# --- print ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "subtask", "parallelism", "start"),
    [("", 0, 1, ""), ("p", 0, 1, "p> "), ("", 1, 2, "2> "), ("p", 1, 2, "p:2> ")],
)
def test_print_starts_lines_as_flink_does(
    chain: Any, capsys: Any, prefix: str, subtask: int, parallelism: int, start: str
) -> None:
    chain(print_sink(prefix, False), subtask=subtask, parallelism=parallelism).rows([1, "two"])
    assert capsys.readouterr().out == f"{start}1\n{start}two\n"


def test_print_goes_to_stderr_when_asked(chain: Any, capsys: Any) -> None:
    chain(print_sink("", True)).rows([1])
    assert capsys.readouterr() == ("", "1\n")


def test_print_shows_columns_as_rows(chain: Any, capsys: Any) -> None:
    chain(print_sink("", False)).columns({"a": [1, None], "b": ["x", "ä"]})
    assert capsys.readouterr().out == "Row(a=1, b='x')\nRow(a=None, b='ä')\n"


def test_print_writes_to_whatever_stdout_is_at_that_moment(
    chain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = chain(print_sink("", False))
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    out.rows(["\udc80", "\0"])
    assert stream.getvalue() == "\udc80\n\0\n"
    monkeypatch.setattr(sys, "stdout", None)
    out.rows(["nobody sees this"])


def test_print_error_names_the_record(chain: Any) -> None:
    class NoText:
        def __str__(self) -> str:
            raise ValueError("no text")

        def __repr__(self) -> str:
            return "NoText()"

    with pytest.raises(
        UserCodeError, match=r"print raised on record NoText\(\): ValueError: no text"
    ):
        chain(print_sink("", False)).rows([NoText()])


# --- collect and discard ----------------------------------------------------------------------


def test_collected_rows_come_out_in_order_and_then_the_end(
    chain: Any, numbers: pa.RecordBatch
) -> None:
    queue = ResultQueue()
    out = chain(collect_sink(queue)).rows(["a", None]).columns(numbers)
    assert queue.pop(0) == ["a", None]
    assert queue.pop(0) == [1, None, 3]
    assert queue.pop(1) is None
    out.driver.close()
    assert queue.pop(0) is False


def test_pop_waits_without_the_gil(chain: Any) -> None:
    queue = ResultQueue()
    out = chain(collect_sink(queue))
    results: list[Any] = []
    reader = threading.Thread(target=lambda: results.append(queue.pop(60_000)))
    reader.start()
    out.rows([1])
    reader.join()
    assert results == [[1]]


def test_a_closed_queue_drops_what_is_sent(chain: Any) -> None:
    queue = ResultQueue(1)
    out = chain(collect_sink(queue))
    queue.close()
    out.rows([1]).rows([2]).rows([3])
    assert queue.pop(0) is False


def test_discard_sends_nothing_on_but_counts(chain: Any) -> None:
    out = chain(operators.map(str), operators.discard_sink()).rows([1, 2])
    assert out.batches() == []
    assert out.driver.metrics()[1]["records_in"] == 2
