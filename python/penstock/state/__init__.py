"""State from outside of a job: reading what a checkpoint or savepoint holds, and making savepoints.

>>> from penstock.common import Types
>>> import pyarrow as pa
>>> import tempfile
>>> path = tempfile.mkdtemp() + "/seed"
>>> writer = SavepointWriter.new(max_parallelism=128)
>>> totals = pa.table({"user": ["ann", "bob"], "total": [3, 4]})
>>> writer.with_operator("totals").value_state("total", totals, "user", Types.LONG()).write(path)
>>> reader = SavepointReader(path)
>>> [(state.name, state.kind, state.entries) for state in reader.states("totals")]
[('total', 'value', 2)]
>>> sorted(zip(*reader.read("totals", "total").select(["key", "value"]).to_pydict().values()))
[('ann', 3), ('bob', 4)]

On the command line: ``penstock state ls PATH`` and ``penstock state show PATH UID NAME``.
"""

from __future__ import annotations

from penstock.state.savepoint_reader import OperatorInfo, SavepointReader, StateInfo
from penstock.state.savepoint_writer import SavepointWriter

__all__ = ["OperatorInfo", "SavepointReader", "SavepointWriter", "StateInfo"]


def __dir__() -> list[str]:
    return sorted(__all__)
