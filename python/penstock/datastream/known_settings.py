"""Which settings have an effect, so that one that has none does not pass in silence."""

from __future__ import annotations

import difflib
import logging

from penstock.common.configuration import Configuration

__all__ = ["KNOWN_SETTINGS", "warn_of_settings_without_effect"]

_LOGGER = logging.getLogger("penstock")

_ROCKSDB_SETTINGS = (
    "block.blocksize",
    "block.cache-size",
    "block.metadata-blocksize",
    "bloom-filter.bits-per-key",
    "bloom-filter.block-based-mode",
    "checkpoint.transfer.thread.num",
    "compaction.level.max-size-level-base",
    "compaction.level.target-file-size-base",
    "compaction.level.use-dynamic-size",
    "compaction.style",
    "files.open",
    "localdir",
    "log.level",
    "memory.fixed-per-slot",
    "memory.fixed-per-tm",
    "memory.high-prio-pool-ratio",
    "memory.managed",
    "memory.partitioned-index-filters",
    "memory.write-buffer-ratio",
    "predefined-options",
    "thread.num",
    "timer-service.factory",
    "use-bloom-filter",
    "writebuffer.count",
    "writebuffer.number-to-merge",
    "writebuffer.size",
)

KNOWN_SETTINGS = frozenset(
    {
        "execution.buffer-timeout.interval",
        "execution.checkpointing.dir",
        "execution.checkpointing.incremental",
        "execution.checkpointing.interval",
        "execution.checkpointing.local-backup.dirs",
        "execution.checkpointing.local-backup.enabled",
        "execution.checkpointing.min-pause",
        "execution.checkpointing.mode",
        "execution.checkpointing.num-retained",
        "execution.checkpointing.savepoint-dir",
        "execution.checkpointing.timeout",
        "execution.checkpointing.tolerable-failed-checkpoints",
        "execution.runtime-mode",
        "execution.state-recovery.ignore-unclaimed-state",
        "execution.state-recovery.path",
        "execution.target",
        "parallelism.default",
        "penstock.batch-size",
        "penstock.channel-capacity",
        "penstock.job-id",
        "penstock.spark.master",
        "penstock.state.write-back-tier",
        "penstock.sum-overflow",
        "pipeline.auto-watermark-interval",
        "pipeline.max-parallelism",
        "pipeline.name",
        "pipeline.operator-chaining.enabled",
        "state.backend.type",
        "state.latency-track.keyed-state-enabled",
        "state.latency-track.sample-interval",
        "taskmanager.memory.managed.size",
        *(f"state.backend.rocksdb.{key}" for key in _ROCKSDB_SETTINGS),
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
