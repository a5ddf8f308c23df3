"""A standalone Spark cluster on this machine: a master and two workers, each a process of its own, on loopback only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

WORKERS = 2
_SECONDS_TO_START = 120
_SECONDS_TO_STOP = 15


class Cluster:
    """Started processes by name; all of them, and what they started, are stopped by ``stop``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        port = _free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self._start("master", "master.Master", "--port", str(port), "--webui-port", "0")
        for number in range(WORKERS):
            name = f"worker-{number}"
            folder = self._folder / name
            options = ["-c", "1", "-m", "1500m", "--webui-port", "0", "--work-dir", str(folder)]
            self._start(name, "worker.Worker", *options, self.master)

    def worker_pids(self) -> list[int]:
        return [p.pid for name, p in self._processes.items() if name.startswith("worker")]

    def stop(self) -> None:
        for process in reversed(self._processes.values()):
            _signal_group(process, signal.SIGTERM)
        for process in self._processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_TO_STOP)
            # Whatever of the group is left, an executor for example.
            _signal_group(process, signal.SIGKILL)
            process.wait()

    def _start(self, name: str, kind: str, *arguments: str) -> None:
        home = Path(pyspark.__file__).parent
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "PYSPARK_PYTHON": sys.executable,
        }
        with open(self._folder / f"{name}.log", "wb") as log:
            self._processes[name] = subprocess.Popen(
                [*command, "--host", "127.0.0.1", *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster for the length of the block."""
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def connected(cluster: Cluster) -> Iterator[SparkSession]:
    """A session on the cluster, with both executors there."""
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
        "spark.cores.max": str(WORKERS),
        # Tasks wait until all executors are registered.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(cluster.master).appName("Penstock tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        session.sparkContext.setLogLevel("ERROR")
        _wait_for_executors(session)
        yield session
    finally:
        session.stop()


def finished_tasks(session: SparkSession) -> dict[str, int]:
    """How many tasks each executor has finished since it started."""
    return {one.id(): one.completedTasks() for one in _executors(session)}


def executor_pid(cluster: Cluster) -> int:
    """The process of an executor of the first worker."""
    parent = cluster.worker_pids()[0]
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines())
            command = status.with_name("cmdline").read_text()
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        if int(fields["PPid"]) == parent and "CoarseGrainedExecutorBackend" in command:
            return int(fields["Pid"])
    raise AssertionError(f"worker {parent} has no executor")


def _executors(session: SparkSession) -> list[object]:
    found = session.sparkContext._jsc.sc().statusStore().executorList(True)
    return [found.apply(i) for i in range(found.size()) if found.apply(i).id() != "driver"]


def _wait_for_executors(session: SparkSession) -> None:
    deadline = time.monotonic() + _SECONDS_TO_START
    while len(_executors(session)) < WORKERS:
        if time.monotonic() > deadline:
            raise AssertionError(f"only {len(_executors(session))} executors of {WORKERS} came")
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
