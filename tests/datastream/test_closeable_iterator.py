"""CloseableIterator: closing it early stops what makes the results, and only then."""

from collections.abc import Iterator

import pytest

from penstock.datastream import CloseableIterator


class Stopped:
    """Counts how often it was called."""

    times = 0

    def __call__(self) -> None:
        self.times += 1


@pytest.fixture
def stopped() -> Stopped:
    return Stopped()


def failing(error: BaseException) -> Iterator[int]:
    yield 1
    raise error


def test_results_are_iterated_to_their_end_without_a_stop(stopped: Stopped) -> None:
    results = CloseableIterator(iter([1, 2]), stopped)
    assert list(results) == [1, 2]
    results.close()
    assert stopped.times == 0
    with pytest.raises(StopIteration):
        results.next()


def test_closing_early_stops_once(stopped: Stopped) -> None:
    results = CloseableIterator(iter([1, 2]), stopped)
    assert results.next() == 1
    results.close()
    results.close()
    assert stopped.times == 1
    assert list(results) == []


def test_leaving_the_context_stops(stopped: Stopped) -> None:
    with CloseableIterator(iter([1, 2]), stopped) as results:
        assert next(results) == 1
    assert stopped.times == 1


def test_an_error_in_the_context_stops_too(stopped: Stopped) -> None:
    with pytest.raises(KeyError), CloseableIterator(iter([1, 2]), stopped):
        raise KeyError("mine")
    assert stopped.times == 1


def test_a_failure_of_the_job_leaves_nothing_to_stop(stopped: Stopped) -> None:
    results = CloseableIterator(failing(ValueError("broken")), stopped)
    assert next(results) == 1
    with pytest.raises(ValueError, match="broken"):
        next(results)
    results.close()
    assert stopped.times == 0


def test_ctrl_c_stops_the_job(stopped: Stopped) -> None:
    results = CloseableIterator(failing(KeyboardInterrupt()), stopped)
    assert next(results) == 1
    with pytest.raises(KeyboardInterrupt):
        next(results)
    assert stopped.times == 1
