"""Versions of workers against those of the build: what is refused, what is reported, and the wording."""

import pytest
from sentences import refused

from features.core.faults import OtherCode
from flows.clusters.preflight import compare, compare_scheduler

HERE = {
    "python": "3.11.7.final.0",
    "facetflow": "0.1.0",
    "dask": "2026.8.0",
    "distributed": "2026.8.0",
    "prefect": "3.8.8",
    "torch": "2.13.0+cpu",
    "polars": "2.1.0",
    "spacy": "3.8.7",
    "amrlib": None,
}
CLUSTER = "of the Dask cluster at 'tls://host:8786'"


def compared(needed=("torch", "spacy"), told=None, **there):
    compare(HERE, {"tls://1": HERE, "tls://2": HERE | there}, needed, CLUSTER, set() if told is None else told)


def test_workers_like_this_process_are_not_spoken_of(capsys):
    compared()
    compared(python="3.11.9.final.0", torch="2.13.0+cu126", amrlib="0.8.1")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("facetflow", "0.0.9"),
        ("distributed", "2025.1.0"),
        ("python", "3.12.1.final.0"),
        ("spacy", "3.7.0"),
        ("torch", None),
    ],
)
def test_what_must_be_the_same_is_refused(package, version):
    with refused(OtherCode):
        compared(**{package: version})


def test_what_no_stage_uses_may_differ(capsys):
    compared(needed=(), torch=None, spacy="3.7.0")
    assert capsys.readouterr().err == ""
    compared(needed=(), polars="1.0.0")
    assert "has polars 1.0.0" in capsys.readouterr().err, "every stage uses it"


def test_what_may_change_the_last_digits_is_told_once(capsys):
    told = set()
    compared(told=told, torch="2.12.0")
    compared(told=told, torch="2.12.0")
    assert capsys.readouterr().err == (
        f"The worker 'tls://2' {CLUSTER} has torch 2.12.0, but this build has 2.13.0+cpu: the last digits of results "
        "may differ; install the same version where it runs.\n"
    )


def test_a_scheduler_carries_shards_and_makes_none():
    compare_scheduler(HERE, HERE | {"torch": None, "polars": "1.0.0"}, CLUSTER)
    with refused(OtherCode):
        compare_scheduler(HERE, HERE | {"prefect": None}, CLUSTER)
