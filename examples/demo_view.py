"""What the demo shows: a live line while the job runs, then tables. Plain lines when the output is no terminal."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from demo_check import Verdict
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

_NEVER, _END = -(1 << 63), (1 << 63) - 1
_REST_OF_LINE = 72  # of the live line, without its bar
_SHARE = 16
_TOP = 10


class Progress:
    """The live line: made anew from the job's metrics at each update."""

    def __init__(self, rows: int, live: Live | None, console: Console) -> None:
        self._rows = rows
        self._live = live
        self._console = console
        self._next_line = 0.0
        self._bar = min(24, max(6, console.width - _REST_OF_LINE))

    def update(self, metrics: Iterable[dict[str, Any]], seconds: float) -> None:
        line = self._line(list(metrics), seconds)
        if self._live is not None:
            self._live.update(line, refresh=True)
        elif seconds >= self._next_line:
            self._next_line = seconds + 0.5
            self._console.print(line)

    def _line(self, metrics: list[dict[str, Any]], seconds: float) -> Text:
        made = sum(m["records_out"] for m in metrics if m["name"].startswith("Source"))
        watermark = min(
            (m["current_watermark"] for m in metrics if m["name"].startswith("Window")),
            default=_NEVER,
        )
        fired = sum(m["windows_fired"] for m in metrics)
        late = sum(m["late_records_dropped"] for m in metrics)
        full = round(self._bar * made / self._rows) if self._rows else self._bar
        return Text.assemble(
            ("━" * full, "green"),
            ("━" * (self._bar - full), "bright_black"),
            (f" {made / 1e6:.1f} M rows", "bold"),
            (f"  {made / seconds / 1e6:.1f} M/s" if seconds else "", "cyan"),
            f"  watermark {_clock(watermark)}",
            f"  {fired:,} windows",
            (f"  {late:,} late", "yellow"),
            no_wrap=True,
            overflow="ellipsis",
        )


class View:
    """All output of the demo."""

    def __init__(self, picture: str | None = None) -> None:
        self._picture = picture
        # A picture holds each line that was printed, so nothing moves while one is made.
        self.console = Console(
            highlight=False,
            record=picture is not None,
            force_terminal=None if picture is None else False,
            width=None if picture is None else 88,
        )

    def close(self) -> None:
        if self._picture is not None:
            picture = self.console.export_svg(title="make demo")
            # Without the fonts that rich would have the reader's browser fetch.
            picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
            picture = re.sub(r"<!--.*?-->\s*", "", picture, flags=re.DOTALL)
            Path(self._picture).write_text(picture, encoding="utf-8")

    def title(self, rows: int, campaigns: int, target: str) -> None:
        where = "in this process" if target == "local" else "on a local Spark"
        self.console.print(
            f"\n[bold]Penstock[/] {where}: {rows / 1e6:g} million clicks on {campaigns} campaigns, "
            "up to 3 s out of order, some an hour late; windows of 10 s\n"
        )

    @contextmanager
    def progress(self, rows: int) -> Iterator[Progress]:
        if not self.console.is_terminal:
            yield Progress(rows, None, self.console)
            return
        with Live(console=self.console, auto_refresh=False) as live:
            yield Progress(rows, live, self.console)

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        if not self.console.is_terminal:
            self.console.print(f"{what} ...")
            yield
            return
        begin = time.perf_counter()
        with self.console.status(f"{what} ..."):
            yield
        self.console.print(f"[bright_black]{what}: {time.perf_counter() - begin:.1f} s[/]")

    def results(self, windows: pa.Table) -> None:
        """The campaigns with most revenue, and how they did in the last full window."""
        totals = windows.group_by("campaign").aggregate([("clicks", "sum"), ("cents", "sum")])
        starts = pc.unique(windows["window_start"]).sort()
        last = starts[max(0, len(starts) - 2)]
        in_last = windows.filter(pc.equal(windows["window_start"], last))
        clicks_in_last = dict(
            zip(in_last["campaign"].to_pylist(), in_last["clicks"].to_pylist(), strict=True)
        )
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("Campaign")
        for name in ("Clicks", "Revenue", f"In {last.as_py():%T}"):
            table.add_column(name, justify="right")
        table.add_column("Share of revenue", no_wrap=True)
        everything = pc.sum(totals["cents_sum"]).as_py()
        ordered = totals.sort_by([("cents_sum", "descending")]).slice(0, _TOP).to_pylist()
        for row in ordered:
            bar = "█" * round(_SHARE * row["cents_sum"] / ordered[0]["cents_sum"])
            table.add_row(
                row["campaign"],
                f"{row['clicks_sum']:,}",
                f"${row['cents_sum'] / 100:,.0f}",
                f"{clicks_in_last.get(row['campaign'], 0):,}",
                Text.assemble((bar, "blue"), f" {row['cents_sum'] / everything:.1%}"),
            )
        self.console.print(table)

    def verdict(self, rows: int, seconds: float, batch_seconds: float, verdict: Verdict) -> None:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("")
        table.add_column("Time", justify="right")
        table.add_column("Rows/s", justify="right")
        table.add_column("How")
        table.add_row(
            "[bold]Penstock[/]",
            f"{seconds:.2f} s",
            f"[bold]{rows / seconds / 1e6:.1f} M[/]",
            "stream: makes the clicks, then windows them",
        )
        table.add_row(
            "DuckDB",
            f"{batch_seconds:.2f} s",
            f"{rows / batch_seconds / 1e6:.1f} M",
            "batch: group-by, clicks in memory before",
        )
        self.console.print(table)
        if verdict.agree:
            early = f" ({verdict.early:,} came before the first watermark)" if verdict.early else ""
            self.console.print(
                f"[green bold]Both agree:[/] {verdict.windows:,} windows are equal; "
                f"{verdict.late:,} late clicks dropped{early}.\n"
            )
        else:
            self.console.print(
                f"[red bold]They disagree:[/] {verdict.differing:,} of {verdict.windows:,} windows differ; "
                f"late {verdict.late:,} + {verdict.early:,}, expected {verdict.expected_late:,}.\n"
            )


def _clock(watermark: int) -> str:
    if watermark == _NEVER:
        return "--:--:--"
    if watermark == _END:
        return "end"
    return f"{datetime.fromtimestamp(watermark / 1000, UTC):%T}"
