"""What is left to train and to evaluate: the wanted, without what is finished under the expected identity.

    encoder of the project ──> finished under the identity that the release gives it?   ── no ──> a training is due
                                   │ yes
                                   └──> its seeds evaluated and judged under theirs?    ── no ──> an evaluation is due

A first training, new rows, other settings, a kill, a failure: all this one subtraction, as for shards. The identity of
a training or an evaluation is what decides its result, part by part:

    training      the store, the settings, a backbone that comes with facetflow, the version of the code that trains
                  it, the seed, and of each table that it reads the shards with their fingerprints
    evaluation    the encoder, the suites' settings, and the content of each evaluation set

release 1    metrics  pairs-00000 a1…  pairs-00001 b2…        the corpora of the encoder use only pairs-00000:
release 2    metrics  pairs-00000 a1…  pairs-00001 c3…        both releases give it the same identity
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from features.core.durable import file_sha256
from features.core.errors import InputError, StoreError
from features.core.types import Fingerprint, Shard
from features.corpora.reading import read_evaluation
from features.corpora.settings import EvaluationSet
from features.corpora.sources import files_of, locate
from features.models import shipped_version
from features.stages.registry import SOURCES
from features.store.plan import Plan
from features.store.reader import StoreReader
from features.store.releases import Release
from features.store.scope import Uses
from features.store.store import Store
from flows.project import Project
from flows.trainings.finished_runs import shown_runs
from flows.wanted import read_by
from training.encoders.settings import EncoderSettings
from training.evaluation.promotion import PROMOTION_FILE
from training.jobs import EvaluationJob, Source
from training.kinds import KINDS, read_encoder_job, tables_of
from training.run_records import Identity, evaluation_of, trained_as
from training.runs import (
    ENCODER,
    TRAINING_JOB,
    is_finished,
    newest,
    run_folder,
    run_id,
    runs_named,
    seeds_of,
    settings_digest,
)

Step = Literal["training", "evaluation"]
_IN_WORDS = {
    "store": "the store",
    "settings": "its settings",
    "backbone": "its backbone",
    "version": "the way in which facetflow trains it",
    "seed": "its seed",
    "encoder": "the encoder",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What a release of a store holds, or would hold: table → shard → fingerprint, and which corpora use a shard."""

    store: str
    shards: Mapping[str, Mapping[Shard, Fingerprint]]
    uses: Uses

    @classmethod
    def of(cls, store: Store, release: Release, uses: Uses | None = None) -> "Contents":
        """Return what a release holds; with `uses`, from the logs alone."""
        shards = {
            table: {shard: file.fingerprint for shard, file in store.committed(table, version).items()}
            for table, version in release.versions.items()
            if table in release.rows
        }
        return cls(store.id, shards, uses or store.uses(release.versions))

    @classmethod
    def ahead(cls, store: StoreReader, planned: Plan) -> "Contents":
        """Return what the next release holds if everything is made that is planned for the store as it will be."""
        shards = {
            table: {shard: file.fingerprint for shard, file in store.committed(table).items()}
            for table in (*SOURCES, *planned.stages)
        }
        for table, shard in planned.outdated:
            del shards[table][shard]
        for table, wanted in planned.scope.items():
            shards[table] |= {shard: planned.expected[table, shard] for shard in wanted}
        # As in a release: no table of labels without any.
        return cls(
            store.id,
            {table: fingerprints for table, fingerprints in shards.items() if fingerprints or table != "labels"},
            planned.uses,
        )

    @property
    def of_pairs(self) -> frozenset[str]:
        """The corpora of pairs."""
        return frozenset[str]().union(*self.uses.pairs.values())

    @property
    def of_texts(self) -> frozenset[str]:
        """The corpora of texts with labels."""
        return frozenset[str]().union(*self.uses.sentences.values()) - self.of_pairs


@dataclass(frozen=True, slots=True)
class Due:
    """A training or an evaluation of runs, by id, that is due under an identity, and why, as a clause."""

    step: Step
    encoder: EncoderSettings
    identity: str
    reason: str
    runs: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """What is trained or evaluated: the name of the encoder, or ids of its runs."""
        return shown_runs(self.runs) if self.runs else self.encoder.name


def due(project: Project, contents: Contents) -> list[Due]:
    """Return the trainings and evaluations that are due on a release, in the order of the encoders."""
    return [item for encoder in project.encoders for item in _due(project, encoder, contents)]


def _due(project: Project, encoder: EncoderSettings, contents: Contents) -> Iterator[Due]:
    expected = training_identity(project, encoder, contents)
    finished = [run for run in runs_named(project.runs, encoder.name) if is_finished(run)]
    done = [run for run in finished if trained_as(run) == expected]
    if done:
        yield from _evaluations(project, encoder, newest(done))
        return
    reason = "it has no finished training"
    if finished:
        last = newest(finished)
        name, before = run_id(project.runs, last), trained_as(last)
        changed = f"{_differences(before, expected)} changed since {name}"
        reason = changed if before else f"it is not recorded what {name} was trained on"
    yield Due("training", encoder, key_of(project, encoder, expected), reason)


def evaluation_job(project: Project, run: Path, split: str | None = None, suites: Sequence[str] = ()) -> EvaluationJob:
    """Return the job that evaluates a run on the release that it was trained on, by default by all suites."""
    trained = read_encoder_job(run / TRAINING_JOB)
    try:
        store = Store.open(project.store)
        contents = Contents.of(store, store.release(trained.source.release))
        without = unscored(project, trained.settings, contents)
    except StoreError:  # the suites that read the store say what is wrong with it
        without = trained.source.without
    return EvaluationJob(
        source=Source(store=project.store, release=trained.source.release, without=without),
        encoder=run / ENCODER,
        output=run,
        split=split or trained.settings.splits[1],
        suites=tuple(suites),
        ratings=tuple(each for each in project.evaluation if not each.has_classes),
        tasks=tuple(each for each in project.evaluation if each.has_classes),
        classifiers=project.transfer.classifiers,
        folds=project.transfer.folds,
        base=project.base,
        project=project.name,
    )


def _evaluations(project: Project, encoder: EncoderSettings, run: Path) -> Iterator[Due]:
    """Yield the evaluation of the finished seeds of a training that are not judged by what they are scored on now."""
    missing: dict[str, Identity] = {}  # by id
    reasons = []
    for seed in seeds_of(run):
        if not is_finished(seed):
            continue
        name = run_id(project.runs, seed)
        expected = evaluation_identity(trained_as(seed), name, evaluation_job(project, seed))
        before = evaluation_of(seed).identity
        if before == expected and (seed / PROMOTION_FILE).is_file():
            continue
        missing[name] = expected
        if evaluation_of(seed).message:
            reasons.append("its evaluation failed")
        elif before and before != expected:
            reasons.append(f"{_differences(before, expected)} changed since it was evaluated")
        else:
            reasons.append("it is not judged yet" if before else "it is not evaluated yet")
    if missing:
        yield Due("evaluation", encoder, key_of(project, encoder, *missing.values()), reasons[0], tuple(missing))


def _differences(before: Identity, now: Identity) -> str:
    """Return the parts that differ between two identities, such as "its settings, pairs and metrics"."""
    words = [_IN_WORDS.get(part, part) for part in {**before, **now} if before.get(part) != now.get(part)]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def training_identity(project: Project, encoder: EncoderSettings, contents: Contents) -> Identity:
    """Return the identity of the training of an encoder on a release."""
    digest = settings_digest(encoder, _ratings_digest(project, encoder), unread(project, encoder, contents))
    backbone, version = shipped_version(encoder.backbone), KINDS[encoder.kind].version
    tables = [table for table in tables_of(encoder) if table in contents.shards]
    reader = read_by(encoder, project.corpora)
    users = {**contents.uses.sentences, **contents.uses.pairs}
    parts = {"store": contents.store, "settings": digest, "seed": str(encoder.loop.seed)}
    parts |= {"backbone": backbone} if backbone else {}
    parts |= {"version": str(version)} if version > 1 else {}
    return parts | {
        # If it is unknown who uses a shard, a change of it counts.
        table: _digest(
            f"{shard} {mark}"
            for shard, mark in sorted(contents.shards[table].items())
            if shard not in users or reader.reads(users[shard])
        )
        for table in tables
    }


def evaluation_identity(encoder: Identity, run: str, job: EvaluationJob) -> Identity:
    """Return the identity of an evaluation of an encoder by all suites."""
    settings = job.model_dump(mode="json", include={"split", "classifiers", "folds"})
    without = job.source.without if job.source else ()
    return {
        "encoder": _digest([run, _json(encoder)]),
        "settings": _digest([_json(settings), _json(sorted(without))]),
        **{
            f"evaluation.{each.name}": _digest([_json(each.model_dump(mode="json")), *_files(each, job.base)])
            for each in (*job.ratings, *job.tasks)
        },
    }


def key_of(project: Project, encoder: EncoderSettings, *identities: Identity) -> str:
    """Return one word that is unique on a server, also among encoders and copies of a project with equal settings."""
    return _digest(map(_json, ({"project": project.name, "encoder": encoder.name}, *identities)))


def run_of(project: Project, encoder: EncoderSettings, release: int, without: tuple[str, ...] = ()) -> Path:
    """Return the folder of an encoder's run, which also depends on the ratings that choose its model."""
    ratings, backbone = _ratings_digest(project, encoder), shipped_version(encoder.backbone)
    digest = settings_digest(encoder, ratings, without, KINDS[encoder.kind].version, backbone)
    return run_folder(project.runs, encoder.name, release, digest, encoder.loop.seed)


def unread(project: Project, encoder: EncoderSettings, contents: Contents) -> tuple[str, ...]:
    """Return the corpora, sorted, that an encoder is not trained on because the project no longer names them."""
    if encoder.corpora or not project.corpora:
        return ()
    read = contents.of_pairs if "pairs" in tables_of(encoder) else contents.of_texts
    return tuple(sorted(read - {corpus.name for corpus in project.corpora}))


def unscored(project: Project, encoder: EncoderSettings, contents: Contents) -> tuple[str, ...]:
    """Return the corpora that an encoder is not evaluated on, because neither it nor the project names them, sorted."""
    named = {*encoder.corpora, *(corpus.name for corpus in project.corpora)}
    return tuple(sorted((contents.of_pairs | contents.of_texts) - named)) if project.corpora else ()


def _ratings_digest(project: Project, encoder: EncoderSettings) -> str:
    """Digest the ratings that choose the model of an encoder; empty if none do or none can be read."""
    try:
        rated = [read_evaluation(each, project.base) for each in project.ratings_for(encoder)]
    except InputError:  # the training reports what is wrong with them
        return ""
    return "".join(each.digest for each in rated)


def _files(evaluation: EvaluationSet, base: Path) -> list[str]:
    """Return the digests of the files of an evaluation set, in order; of those that can be read."""
    digests: list[str] = []
    for split, files in evaluation.splits.items():
        with suppress(InputError, OSError):
            for source in locate(evaluation, {split: files}, base):
                digests += map(file_sha256, dict.fromkeys(files_of(evaluation.record, source)))
    return digests


def _json(content: Any) -> str:
    return json.dumps(content, sort_keys=True)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
