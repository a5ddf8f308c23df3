"""Which settings have an effect, so that one that has none does not pass in silence."""

from __future__ import annotations

import difflib
import logging

from penstock.common.configuration import Configuration

__all__ = ["KNOWN_SETTINGS", "warn_of_settings_without_effect"]

_LOGGER = logging.getLogger("penstock")

KNOWN_SETTINGS = frozenset(
    {
        "execution.buffer-timeout.interval",
        "execution.checkpointing.dir",
        "execution.checkpointing.interval",
        "execution.checkpointing.min-pause",
        "execution.checkpointing.mode",
        "execution.checkpointing.num-retained",
        "execution.checkpointing.timeout",
        "execution.checkpointing.tolerable-failed-checkpoints",
        "execution.runtime-mode",
        "execution.state-recovery.path",
        "execution.target",
        "parallelism.default",
        "penstock.batch-size",
        "penstock.channel-capacity",
        "penstock.job-id",
        "penstock.spark.master",
        "penstock.sum-overflow",
        "pipeline.auto-watermark-interval",
        "pipeline.max-parallelism",
        "pipeline.name",
        "pipeline.operator-chaining.enabled",
    }
)
# Keys outside of these are the user's own, or another engine's (``spark.``).
_NAMESPACES = frozenset(
    [
        "execution",
        "jobmanager",
        "parallelism",
        "penstock",
        "pipeline",
        "python",
        "restart-strategy",
        "state",
        "table",
        "taskmanager",
    ]
)


def warn_of_settings_without_effect(configuration: Configuration) -> None:
    """Logs a warning for each key that looks like a setting and is none that Penstock has."""
    for key in sorted(configuration.key_set() - KNOWN_SETTINGS):
        if key.partition(".")[0] in _NAMESPACES:
            close = difflib.get_close_matches(key, sorted(KNOWN_SETTINGS), n=1, cutoff=0.85)
            hint = f"; did you mean {close[0]}?" if close else ""
            _LOGGER.warning("the setting %s has no effect%s", key, hint)
