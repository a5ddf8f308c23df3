"""docs/snapshot-format.md as data: its tables, definitions and example."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["Field", "definition", "example", "fields", "table", "text"]

Field = tuple[str, str]

text = (Path(__file__).parents[2] / "docs" / "snapshot-format.md").read_text("utf-8")


def table(*columns: str) -> list[dict[str, str]]:
    """The rows of the one table that has these columns and no others."""
    found = [rows for header, rows in _tables() if header == columns]
    assert len(found) == 1, f"the page has {len(found)} tables with the columns {columns}"
    return found[0]


def definition(name: str) -> str:
    """What stands behind ``name :=``."""
    found = re.findall(rf"^    {re.escape(name)} +:= (.*)$", text, re.MULTILINE)
    assert len(found) == 1, f"the page defines {name} {len(found)} times"
    return str(found[0])


def fields(spec: str) -> list[Field]:
    """("name", "type") of each part of "name: type, name: type"; the type of a bare name is empty."""
    parts = (part.partition(":") for part in re.split(r", (?:then )?", spec) if part)
    return [(name.strip(), kind.strip()) for name, _, kind in parts]


def example() -> bytes:
    """The bytes of the page's hexdump."""
    found = re.search(r"```hexdump\n(.*?)```", text, re.DOTALL)
    assert found, "the page has no hexdump"
    return b"".join(bytes.fromhex(line[6:53]) for line in found[1].splitlines())


def _tables() -> list[tuple[tuple[str, ...], list[dict[str, str]]]]:
    tables = []
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, _, *rows = [_cells(line) for line in block.splitlines()]
        tables.append((tuple(header), [dict(zip(header, row, strict=True)) for row in rows]))
    return tables


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
