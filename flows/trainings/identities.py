"""What decides the result of a training or an evaluation, part by part: its identity.

    training      the store, the settings, the seed, and of each table that it reads the shards with their fingerprints
    evaluation    the encoder, the suites' settings, and the content of each evaluation set

release 1    metrics  pairs-00000 a1…  pairs-00001 b2…        the corpora of the encoder use only pairs-00000:
release 2    metrics  pairs-00000 a1…  pairs-00001 c3…        both releases give it the same identity

What has been finished under its identity is not done again.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features.core.durable import file_sha256
from features.core.errors import InputError
from features.core.types import Fingerprint, Shard
from features.corpora.settings import EvaluationSet
from features.store.plan import Plan
from features.store.reader import StoreReader
from features.store.releases import Release
from features.store.scope import Uses, Wanted
from features.store.store import Store
from features.store.tables import SOURCES
from flows.project import Project
from training.encoders.settings import EncoderSettings
from training.evaluation_sets import rating_digest, read_rating_sets
from training.jobs import EvaluationJob
from training.kinds import KINDS, tables_of
from training.run_records import Identity
from training.runs import run_folder, settings_digest


@dataclass(frozen=True, slots=True)
class Contents:
    """What a release of a store holds, or would hold: table → shard → fingerprint, and which corpora use a shard."""

    store: str
    shards: Mapping[str, Mapping[Shard, Fingerprint]]
    uses: Uses

    @classmethod
    def of(cls, store: Store, release: Release) -> "Contents":
        """Return what a release holds."""
        shards = {
            table: {shard: file.fingerprint for shard, file in store.committed(table, version).items()}
            for table, version in release.versions.items()
            if table in release.rows
        }
        return cls(store.id, shards, store.uses(release.versions))

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


def training_identity(project: Project, encoder: EncoderSettings, contents: Contents) -> Identity:
    """Return the identity of the training of an encoder on a release."""
    digest = _digest_of(project, encoder, unread(project, encoder, contents))
    tables = [table for table in tables_of(encoder) if table in contents.shards]
    reader = Wanted(tuple(tables), encoder.corpora)
    users = {**contents.uses.sentences, **contents.uses.pairs}
    return {"store": contents.store, "settings": digest, "seed": str(encoder.loop.seed)} | {
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
    described = {entry["name"]: entry for entry in (*job.ratings, *job.tasks)}
    settings = job.model_dump(mode="json", include={"split", "classifiers", "folds"})
    without = job.source.without if job.source else ()
    sets = {name: _digest([_json(entry), *_files(entry, job.base)]) for name, entry in described.items()}
    return {
        "encoder": _digest([run, _json(encoder)]),
        "settings": _digest([_json(settings), _json(sorted(without))]),
        **{f"evaluation.{name}": digest for name, digest in sets.items()},
    }


def key_of(project: Project, encoder: EncoderSettings, *identities: Identity) -> str:
    """Return one word that is unique on a server, also among encoders and copies of a project with equal settings."""
    return _digest(map(_json, ({"project": project.name, "encoder": encoder.name}, *identities)))


def differences(before: Identity, now: Identity) -> list[str]:
    """Return the parts that differ between two identities."""
    return [part for part in {**before, **now} if before.get(part) != now.get(part)]


def run_of(project: Project, encoder: EncoderSettings, release: int, without: tuple[str, ...] = ()) -> Path:
    """Return the folder of an encoder's run, which also depends on the ratings that choose its model."""
    digest = _digest_of(project, encoder, without)
    return run_folder(project.runs, encoder.name, release, digest, encoder.loop.seed)


def unread(project: Project, encoder: EncoderSettings, contents: Contents) -> tuple[str, ...]:
    """Return the corpora, sorted, that an encoder is not trained on because the project no longer names them."""
    if encoder.corpora:
        return ()
    read = contents.of_pairs if "pairs" in tables_of(encoder) else contents.of_texts
    return tuple(sorted(read - {corpus.name for corpus in project.corpora}))


def unscored(project: Project, encoder: EncoderSettings, contents: Contents) -> tuple[str, ...]:
    """Return the corpora that an encoder is not evaluated on, because neither it nor the project names them, sorted."""
    named = {*encoder.corpora, *(corpus.name for corpus in project.corpora)}
    return tuple(sorted((contents.of_pairs | contents.of_texts) - named))


def _digest_of(project: Project, encoder: EncoderSettings, without: tuple[str, ...]) -> str:
    return settings_digest(encoder, _ratings_digest(project, encoder), without, KINDS[encoder.kind].version)


def _ratings_digest(project: Project, encoder: EncoderSettings) -> str:
    """Digest the ratings that choose the model of an encoder; empty if none do or none can be read."""
    chosen = [
        rating_set for rating_set in project.evaluation if encoder.by_ratings and rating_set.name == encoder.choose_by
    ]
    try:
        rated = read_rating_sets([rating_set.model_dump(mode="json") for rating_set in chosen], project.base)
    except InputError:  # the training reports what is wrong with them
        return ""
    return "".join(map(rating_digest, rated))


def _files(described: Mapping[str, Any], base: Path) -> list[str]:
    """Return the digests of the files of an evaluation set, in order; of those that can be read."""
    splits = EvaluationSet.model_validate(described).splits.values()
    names = [name for files in splits for name in ([files] if isinstance(files, str) else files)]
    return [file_sha256(base / name) for name in names if (base / name).is_file()]


def _json(content: Any) -> str:
    return json.dumps(content, sort_keys=True)


def _digest(lines: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()
