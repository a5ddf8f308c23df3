"""Sources and sinks, each in its own module."""

from __future__ import annotations

from penstock.connectors.base import Sink, Source

__all__ = ["Sink", "Source"]
