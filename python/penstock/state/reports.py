"""What ``penstock state`` prints."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from penstock.state.savepoint_reader import SavepointReader

__all__ = ["list_states", "show_state"]


def list_states(path: str) -> Iterator[str]:
    """The lines of ``penstock state ls``."""
    reader = SavepointReader(path)
    metadata = reader.metadata
    kind = "savepoint" if metadata.get("savepoint") else "checkpoint"
    when = datetime.fromtimestamp(metadata["trigger_millis"] / 1000, UTC)
    yield (
        f"{kind} {metadata['checkpoint_id']} of job {metadata['job_name']!r} ({metadata['job_id']}), "
        f"{when:%Y-%m-%d %H:%M:%S} UTC, format version {metadata['format_version']}"
    )
    for one in reader.operators():
        yield ""
        yield f"{one.uid} ({one.name}), parallelism {one.parallelism} of at most {one.max_parallelism}"
        states = reader.states(one.uid)
        if not states:
            yield "  no state"
            continue
        header = ("state", "kind", "type", "entries", "bytes", "in")
        rows = [
            (
                s.name,
                s.kind,
                s.value_type + (" with TTL" if s.has_ttl else ""),
                f"{s.entries:,}",
                f"{s.bytes:,}",
                s.backend or "entries",
            )
            for s in states
        ]
        yield from ("  " + line for line in _aligned([header, *rows]))


def show_state(path: str, uid: str, name: str, limit: int, style: str) -> Iterator[str]:
    """The lines of ``penstock state show``."""
    table = SavepointReader(path).read(uid, name)
    rows = table.slice(0, limit or None)
    names = rows.column_names
    values = [tuple(row[n] for n in names) for row in rows.to_pylist()]
    if style == "json":
        for row in values:
            yield json.dumps(dict(zip(names, row, strict=True)), default=repr, ensure_ascii=False)
        return
    if style == "csv":
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([names, *values])
        yield from out.getvalue().splitlines()
        return
    yield from _aligned([tuple(names), *(tuple(_shown(value) for value in row) for row in values)])
    if rows.num_rows < table.num_rows:
        yield f"... {table.num_rows - rows.num_rows:,} more of {table.num_rows:,}"


def _shown(value: Any) -> str:
    text = "" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
