"""Whether the workers of an existing cluster run the same software as this build.

| what differs | then |
|---|---|
| python (3.11 or 3.12), dask, distributed, cloudpickle, msgpack, prefect: they carry shards | refused |
| facetflow, its version or the code of `features` and `tasks`: it decides what is in a shard | refused |
| spacy, amrlib, where a stage uses them: recipes name their versions | refused |
| a package that a stage needs and a worker lacks | refused |
| torch, transformers, sentence-transformers, polars, deltalake, numpy: last digits of results may differ | a warning |

The part of a version after a plus is ignored: a GPU worker may have torch 2.13.0+cu126 where this one has 2.13.0+cpu.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from features.core.faults import OtherCode
from flows.terminal import warn

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
    tell: defaultdict[str, list[str]] = defaultdict(list)
    for worker, packages in workers.items():
        for package, theirs, ours in _differences(here, packages, needed):
            if package in DECIDE and theirs is not None:
                tell[f"has {package} {theirs}, but this build has {ours}"].append(worker)
                continue
            has = f"has no {package}" if theirs is None else f"has {package} {theirs}"
            raise OtherCode(
                f"The worker {worker!r} {cluster} {has}, but this build has {ours}: {_what_to_do(package, ours)}, "
                "start it again, and run the same command."
            )
    for difference, those in tell.items():
        if difference not in reported:
            reported.add(difference)
            others = f" (and {len(those) - 1} more)" if len(those) > 1 else ""
            warn(
                f"The worker {those[0]!r}{others} {cluster} {difference}: the last digits of results may differ; "
                "install the same version where it runs."
            )


def compare_scheduler(here: Packages, there: Packages, cluster: str) -> None:
    """Compare the packages of a scheduler with those of this process; it carries shards and makes none."""
    for package, theirs, ours in _differences(here, there, ()):
        if package not in DECIDE:
            has = f"has no {package}" if theirs is None else f"has {package} {theirs}"
            raise OtherCode(
                f"The scheduler {cluster} {has}, but this build has {ours}: {_what_to_do(package, ours)}, start it "
                "again, with its workers, and run the same command."
            )


def _differences(here: Packages, there: Packages, needed: Collection[str]) -> Iterator[tuple[str, str | None, str]]:
    ours, theirs = (".".join(str(packages["python"]).split(".")[:2]) for packages in (here, there))
    if ours != theirs:
        yield "python", theirs, ours
    for package in PACKAGES:
        version = here.get(package)
        if version is None or (package in (*IN_RECIPES, *DECIDE) and package not in (*ALWAYS, *needed)):
            continue
        installed = there.get(package)
        if installed is None or _public(installed) != _public(version):
            yield package, installed, version


def _what_to_do(package: str, version: str) -> str:
    if package == "python":
        return f"use an environment with Python {version}"
    return f"install {package}=={_public(version)} where it runs"


def _public(version: str) -> str:
    return version.partition("+")[0]
