"""What a build checks on workers before it gives them a shard, in milliseconds and over its existing connection.

    local workers       memory
    existing cluster    versions ──> code ──> store readable and writable ──> models and files ──> memory

Workers that join an existing cluster during a build are checked in the same way (`flows.clusters.cluster_watch`).
Which software has to be the same, and which may differ, says docs/howto/clusters.md.

The part of a version after a plus is ignored: a GPU worker may have torch 2.13.0+cu126 where this one has 2.13.0+cpu.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, cast

from dask.utils import format_bytes
from distributed import Client
from distributed.comm.core import CommClosedError
from distributed.system import MEMORY_LIMIT

from features.core.code import OWN_CODE
from features.core.faults import OtherCode, StoreUnseen, TooLittleMemory, WorkerLacksModel
from features.core.wording import counted
from features.stages.registry import STAGES
from features.stages.stage import total
from features.store.store import Store
from flows.clusters.cluster_watch import workers_of
from flows.stages import Chain
from flows.terminal import warn
from tasks.worker_report import import_tasks, report

CARRY = ("dask", "distributed", "cloudpickle", "msgpack", "prefect")
IN_RECIPES = ("spacy", "amrlib")
DECIDE = ("torch", "transformers", "sentence-transformers", "polars", "deltalake", "numpy")
ALWAYS = ("polars", "deltalake", "numpy")
"""Packages among those that affect results that every stage uses."""
PACKAGES = ("facetflow", *CARRY, *IN_RECIPES, *DECIDE)

Packages = Mapping[str, str | None]
"""Package → version, None if it is not installed."""


def compare(
    here: Packages, workers: Mapping[str, Packages], needed: Collection[str], cluster: str, reported: set[str]
) -> None:
    """Compare the packages of each worker, by address, with those here; `reported` collects differences that may be."""
    harmless: defaultdict[str, list[str]] = defaultdict(list)
    for worker, packages in workers.items():
        for package, lacks, differs, remedy in _differences(here, packages, needed):
            if package not in DECIDE or lacks:
                raise OtherCode(
                    f"The worker {worker!r} {cluster} {differs}: {remedy}, start it again, and run the same command."
                )
            harmless[differs].append(worker)
    for difference, those in harmless.items():
        if difference not in reported:
            reported.add(difference)
            others = f" (and {len(those) - 1} more)" if len(those) > 1 else ""
            warn(
                f"The worker {those[0]!r}{others} {cluster} {difference}: the last digits of results may differ; "
                "install the same version where it runs."
            )


def compare_scheduler(here: Packages, there: Packages, cluster: str) -> None:
    """Compare the packages of a scheduler with those of this process; it carries shards and makes none."""
    for package, _, differs, remedy in _differences(here, there, ()):
        if package not in DECIDE:
            raise OtherCode(
                f"The scheduler {cluster} {differs}: {remedy}, start it again, with its workers, and run the same "
                "command."
            )


def _differences(here: Packages, there: Packages, needed: Collection[str]) -> Iterator[tuple[str, bool, str, str]]:
    """Yield each package that differs, whether it lacks there, and as parts of a sentence how, and what to do."""
    ours, theirs = (".".join(str(packages["python"]).split(".")[:2]) for packages in (here, there))
    if ours != theirs:
        differs = f"has python {theirs}, but this build has {ours}"
        yield "python", False, differs, f"use an environment with Python {ours}"
    for package in PACKAGES:
        version = here.get(package)
        if version is None or (package in (*IN_RECIPES, *DECIDE) and package not in (*ALWAYS, *needed)):
            continue
        installed = there.get(package)
        if installed is None or _public(installed) != _public(version):
            has = f"no {package}" if installed is None else f"{package} {installed}"
            remedy = f"install {package}=={_public(version)} where it runs"
            yield package, installed is None, f"has {has}, but this build has {version}", remedy


def _public(version: str) -> str:
    return version.partition("+")[0]


_PACKAGES_OF = {
    "torch": ("torch", "transformers"),
    "sentence_transformers": ("sentence-transformers",),
    "spacy": ("spacy",),
    "amrlib": ("amrlib", "transformers"),
}


class Preflight:
    """What the stages that have something to do require of workers; those with a choice of device, of one with a GPU.

    Attributes:
        fit: addresses of the workers of an existing cluster that were checked and can make the shards.
    """

    def __init__(self, store: Store, chain: Chain, stages: Collection[str], *, gpu: bool) -> None:
        self._store = store
        self._models = {stage: STAGES[stage].models(chain.settings[stage]) for stage in stages}
        libraries = {library for models in self._models.values() for library in models.libraries}
        self._packages = {name for library in libraries for name in _PACKAGES_OF[library]}
        self._on_gpu = {stage for stage in stages if gpu and chain.device(stage) != "cpu"}
        self._said: set[str] = set()
        self.fit: set[str] = set()

    def check_local(self, limit: int, pause: float, *, shared: bool) -> None:
        """Refuse workers that would be paused, at a share of their limit in bytes, as soon as the models are loaded.

        A shared limit is a share of the machine's memory, and so grows with fewer workers.
        """
        for gpu in (False, True):
            needed, sentence = self._need(gpu=gpu)
            if needed > limit * pause:
                raise TooLittleMemory(
                    f"{sentence}, and a worker of the local cluster is paused at "
                    f"{format_bytes(int(limit * pause))} of its limit of {format_bytes(limit)}: "
                    f"{_what_to_set(needed, pause, shared=shared)}."
                )

    def check(self, client: Client, address: str, workers: Collection[str] | None = None) -> None:
        """Refuse an existing cluster if one of some workers, by default of all, could not make the same shards."""
        cluster = f"of the Dask cluster at {address!r}"
        info = cast("Mapping[str, Any]", client.get_versions(packages=PACKAGES))
        if workers is None:
            self._check_scheduler(client, info, cluster)
        versions = {  # of workers that have not left meanwhile
            worker: answer["packages"]
            for worker, answer in info["workers"].items()
            if answer and "packages" in answer and (workers is None or worker in workers)
        }
        ours = info["client"]["packages"]
        compare(ours, versions, self._packages, cluster, self._said)
        names = [name for models in self._models.values() for name in models.names]
        files = [file for models in self._models.values() for file in models.files]
        ask = partial(report, self._store.location, names, files)
        answers = client.run(ask, workers=list(versions), on_error="return") if versions else {}
        there = workers_of(client)
        for worker, answer in answers.items():
            if worker not in there or isinstance(answer, CommClosedError):  # it has left, or the watch asks it again
                continue
            who = f"The worker {worker!r} {cluster}"
            if isinstance(answer, BaseException):
                raise OtherCode(
                    f"{who} cannot use facetflow ({type(answer).__name__}: {answer}): install it where the worker "
                    "runs, as here, and start it again."
                ) from answer
            self._check_answer(who, answer, gpu=there[worker]["resources"].get("GPU", 0) >= 1)
            self.fit.add(worker)

    def _check_scheduler(self, client: Client, info: Mapping[str, Any], cluster: str) -> None:
        """Check the scheduler, which unpacks what is sent to workers: it needs the same software, but no models."""
        compare_scheduler(info["client"]["packages"], info["scheduler"]["packages"], cluster)
        try:
            client.run_on_scheduler(import_tasks)  # type: ignore[no-untyped-call]
        except ImportError as error:
            raise OtherCode(
                f"The scheduler {cluster} cannot use facetflow ({error}): install it there, as here, and start it "
                "again, with its workers."
            ) from error

    def _check_answer(self, who: str, answer: Mapping[str, Any], *, gpu: bool) -> None:
        if answer["code"] != OWN_CODE:
            raise OtherCode(
                f"{who} has different code of facetflow than this build, under the same version: a release must not "
                "mix them. Install the same code where the worker runs, and start it again."
            )
        store = self._store.location
        if answer["unseen"] is not None:  # such as credentials that the worker lacks
            raise StoreUnseen(f"{who} cannot read the store {store!r}: {answer['unseen']}")
        if answer["store"] != self._store.id:
            what = "no store there" if answer["store"] is None else "another store there"
            raise StoreUnseen(
                f"{who} does not see the store {store!r}: it finds {what}. Put the store on a file system that all "
                "workers share, under the same path."
            )
        if answer["writable"] is not None:
            raise StoreUnseen(
                f"{who} cannot write into the store {store!r} ({answer['writable']}): let the user of the worker write "
                "there."
            )
        if answer["missing"]:
            raise WorkerLacksModel(
                f"{who} lacks what its stages read: {answer['missing'][0]}. Do so where the worker runs."
            )
        needed, sentence = self._need(gpu=gpu)
        if answer["pause"] is not None and needed > answer["pause"]:
            raise TooLittleMemory(
                f"{sentence}, and {who[0].lower()}{who[1:]} is paused at "
                f"{format_bytes(answer['pause'])}: start it with a higher `--memory-limit`."
            )

    def _need(self, *, gpu: bool) -> tuple[int, str]:
        """Return the bytes of models that a worker needs, with a GPU or without, and how a sentence about it begins."""
        models = {stage: needs for stage, needs in self._models.items() if (stage in self._on_gpu) == gpu}
        if not models:
            return 0, ""
        # Once loaded, models move to the memory of the GPU.
        needed = max(total({stage: needs}) for stage, needs in models.items()) if gpu else total(models)
        largest = max(models, key=lambda stage: models[stage].own)
        return needed, (
            f"A worker needs at least {format_bytes(needed)} for the models of the stages "
            f"{', '.join(map(repr, models))}, most of it for {largest!r}"
        )


def _what_to_set(needed: int, pause: float, *, shared: bool) -> str:
    most = int(MEMORY_LIMIT * pause / needed)
    if not most:
        return "this machine has too little memory for one; enable fewer stages, or use another cluster"
    if shared:
        return f"set workers in [cluster] (at most {counted(most, 'worker')}, gpu_workers included)"
    return f"set memory_limit in [cluster] to {format_bytes(int(needed / pause * 1.1))} or more"
