"""The cluster of a build, started or joined, and checked to be fit for the stages to make.

local       GPUs there? ── memory? ──────────> start
existing    address safe? ──> connect ──> workers there? ── GPUs there? ── fit? (`flows.clusters.preflight`)
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client
from prefect_dask.task_runners import DaskTaskRunner

from features.store.store import Store
from flows.clusters import cluster
from flows.clusters.cluster import Capacity
from flows.clusters.preflight import Preflight
from flows.project import ClusterSettings
from flows.stages import Chain


@dataclass(frozen=True, slots=True)
class JoinedCluster:
    """A cluster that has been started or joined.

    Args:
        runner: submits shards to it.
        client: client connected to its scheduler.
        address: address of its scheduler; None for the local cluster.
        capacity: its capacity when it was joined.
        preflight: checks workers that come later.
    """

    runner: DaskTaskRunner
    client: Client
    address: str | None
    capacity: Capacity
    preflight: Preflight

    def inspect(self, workers: Collection[str]) -> None:
        """Check workers that have joined since; those of a local cluster are known.

        Raises:
            RunError: a worker cannot make the shards of this build.
        """
        new = set(workers) - self.preflight.fit
        if self.address is not None and new:
            self.preflight.check(self.client, self.address, new)


def require_scheduler(settings: ClusterSettings) -> None:
    """Refuse an existing cluster that cannot be joined, also for a build that will find nothing to make.

    Raises:
        SettingsError: the connection would not be safe, or certificates are wrong.
        RunError: nobody answers at the address.
    """
    if settings.address is not None:
        with cluster.task_runner(settings, Path()) as runner:
            cluster.connect(runner, settings)


@contextmanager
def joined_cluster(
    settings: ClusterSettings, store: Store, chain: Chain, stages: Sequence[str], logs: Path
) -> Iterator[JoinedCluster]:
    """Start or join the cluster of a build, for the named stages of the chain; it ends afterwards if it was started.

    Yields:
        The cluster; if it was started here, it ends afterwards.

    Raises:
        SettingsError: the connection would not be safe, or certificates are wrong.
        RunError: the cluster cannot be reached, or cannot make the shards.
    """
    on_gpu = [stage for stage in stages if chain.device(stage).startswith("cuda")]
    if settings.address is None:
        available = cluster.capacity(settings)
        cluster.check_gpu(settings, available, on_gpu)
        preflight = Preflight(store, chain, stages, gpu=available.gpu > 0)
        preflight.check_local(cluster.memory_of(settings), cluster.PAUSE, shared=settings.memory_limit is None)
        with cluster.task_runner(settings, logs) as runner:
            yield JoinedCluster(runner, cluster.connect(runner, settings), None, available, preflight)
        return
    with cluster.task_runner(settings, logs) as runner:
        client = cluster.connect(runner, settings)
        available = cluster.capacity_of(client, settings.address)
        cluster.check_gpu(settings, available, on_gpu)
        preflight = Preflight(store, chain, stages, gpu=available.gpu > 0)
        preflight.check(client, settings.address)
        yield JoinedCluster(runner, client, settings.address, available, preflight)
