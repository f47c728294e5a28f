"""Corpora that have not changed since they were read, and are not read again.

    settings, digests of files ──> key ──┬── as recorded, and the store as it was left ──> the recorded report
                                         └── another one ──> the corpus is read

What the corpora gave is in the store: rows, rejects, and the report in `ingest.json`. That is written after the commit
and names the state of the tables that it is about, so it counts for nothing after a kill in between, or in a store that
has changed since.
"""

import hashlib
import importlib.metadata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from pydantic import Field, ValidationError

from features.core.errors import FacetflowError
from features.core.file_errors import clear_errors
from features.core.types import Split
from features.corpora.settings import CorpusSettings, EvaluationSet, Files, IngestSettings, LeakageSettings
from features.corpora.sources import Digests, Recorded, files_of, locate
from features.ingest.building import ALGORITHM_VERSION
from features.ingest.report import IngestReport, Report
from features.schemas import INGEST, Reject
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.registry import SOURCES
from features.stages.stage import canonical
from features.store.reader import StoreReader

_NAME = "ingest.json"


class Memory(Report):
    """What the corpora gave when each was last read."""

    state: str = ""  # digest of what ingest has committed
    # corpus → digest of all that its rows depend on, in the order of their rejects
    keys: dict[str, str] = Field(default_factory=dict)
    report: IngestReport = Field(default_factory=IngestReport)  # of the corpora as they would be read again
    files: dict[str, Recorded] = Field(default_factory=dict)  # path → digest of a file
    drawn: str = ""  # digest of the embeddings that neighbours were last drawn from, and of the corpora
    neighbours: dict[str, int] = Field(default_factory=dict)  # corpus → how many a sentence got when last drawn

    @classmethod
    def of(cls, store: StoreReader) -> "Memory":
        """Return what is recorded in a store; if that has changed since, digests of files alone."""
        with clear_errors(f"Reading {store.storage.url(_NAME)!r}"):
            try:
                memory = cls.model_validate_json(store.storage.read(_NAME))
            except (FileNotFoundError, ValidationError):  # none yet, or one of another version
                return cls()
        return memory if memory.state == state_of(store) else cls(files=memory.files)

    def write(self, store: StoreReader) -> None:
        """Record this in a store."""
        with suppress(ValueError), clear_errors(f"Recording what {store.location!r} holds"):
            store.storage.put(_NAME, self.model_dump_json().encode())  # not if a file has a name that is not UTF-8

    def unchanged(self, corpora: Sequence[CorpusSettings], keys: Mapping[str, str]) -> list[str]:
        """Return the names of the corpora that need not be read, given the keys of today."""
        changed = {corpus.name for corpus in corpora if keys.get(corpus.name, "") != self.keys.get(corpus.name)}
        texts = {corpus.name for corpus in corpora if corpus.record.has_texts}
        if changed & texts:  # the spellings of a text are drawn together, and reported, across corpora
            changed |= texts
        return [corpus.name for corpus in corpora if corpus.name not in changed]


def rejects_of(report: IngestReport, corpora: Iterable[str], rejects: Sequence[Reject]) -> dict[str, Sequence[Reject]]:
    """Return by corpus the rejects that a report counts, which are in the order of the corpora."""
    counts = Counter[str]()
    for split in report.splits:
        counts[split.corpus] += split.rejected + split.dropped + split.joining
    left = iter(rejects)
    return {corpus: list(islice(left, counts[corpus])) for corpus in corpora}


def keys_of(
    corpora: Sequence[CorpusSettings], leakage: LeakageSettings, settings: IngestSettings, base: Path, digests: Digests
) -> dict[str, str]:
    """Return the digest of all that the rows of each corpus depend on but the store; none if a file is unreadable."""

    def files(named: CorpusSettings | EvaluationSet, splits: Mapping[Split, Files]) -> list[object]:
        return [
            [source.name, source.splits, [digests.of(path) for path in files_of(named.record, source)]]
            for source in locate(named, splits, base)
        ]

    keys: dict[str, str] = {}
    with suppress(FacetflowError, OSError):  # ingest reads the file, too, and says what is wrong
        guard = [files(evaluation, evaluation.held_out) for evaluation in leakage.evaluation]
        version = [importlib.metadata.version("facetflow"), ALGORITHM_VERSION]
        common = [version, leakage.model_dump(mode="json"), settings.max_words, guard]
        for corpus in corpora:
            with suppress(FacetflowError, OSError):
                keys[corpus.name] = _digest([common, corpus.model_dump(mode="json"), files(corpus, corpus.files)])
    return keys


def state_of(store: StoreReader) -> str:
    """Return the digest of what ingest has committed to a store, from the logs alone."""
    tables = [sorted((shard, file.fingerprint) for shard, file in store.committed(name).items()) for name in SOURCES]
    rejected = [file.fingerprint for (stage, _), file in store.rejected().items() if stage == INGEST]
    return _digest([tables, rejected])


def drawn_from(store: StoreReader, corpora: Iterable[str]) -> str:
    """Return the digest of what neighbours are drawn from, from the log alone.

    How many does not count: sentences that have some get no more.
    """
    embeddings = store.committed(EMBEDDING_STAGE.name).items()
    return _digest([sorted(corpora), sorted((shard, file.fingerprint) for shard, file in embeddings)])


def _digest(value: object) -> str:
    return hashlib.blake2b(canonical(value).encode(), digest_size=16).hexdigest()
