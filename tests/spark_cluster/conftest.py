"""One cluster for all tests of the folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from .cluster import Cluster, connected, running_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    active = SparkSession.getActiveSession()
    if active is not None:  # of the tests on a local master: a process has one Spark at a time
        active.stop()
    with running_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="session")
def spark(cluster: Cluster) -> Iterator[SparkSession]:
    with connected(cluster) as session:
        yield session
