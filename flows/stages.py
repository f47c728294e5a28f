"""The stages of a build that the project file asks for, with the recipes that its settings give them.

The stages follow from what is wanted (`flows.wanted`); `features.stages` says what each is.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from features import models
from features.core.durable import file_sha256
from features.core.errors import InputError, ModelError
from features.core.faults import Conflict, FileChanged, UnknownName
from features.core.file_errors import clear_errors
from features.core.files import changed
from features.core.leftovers import scratch
from features.core.types import Shard
from features.core.wording import did_you_mean
from features.corpora.dataset import GraphLayout
from features.corpora.sources import files_of, locate
from features.parsers.settings import AmrSettings
from features.stages.amr import AMR_STAGE
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.registry import STAGES
from features.stages.stage import Outside
from features.store.reader import StoreReader
from features.store.scope import PlannedStage, Reading, scope
from flows.project import Project
from flows.wanted import stages_of, switched_off
from training.foreseen import check_ahead
from training.kinds import tables_of


@dataclass(frozen=True, slots=True)
class Chain:
    """The stages of a build, in an order in which they can be made; their prepared settings travel to workers."""

    stages: tuple[PlannedStage, ...]
    settings: Mapping[str, BaseModel]

    def check_files(self) -> None:
        """Refuse to go on if a model, or a file such as that of word vectors, is not the one of its recipe any more."""
        for stage in self.stages:
            if STAGES[stage.name].recipe(self.settings[stage.name]) != stage.recipe:
                again = "run the same command again; what was committed is kept"
                raise FileChanged(f"What [{stage.name}] reads was replaced while this command ran: {again}.")

    def device(self, stage: str) -> str:
        """Return the device that the user set for a stage: `auto`, `cpu`, `cuda`; `cpu` if the stage has no choice."""
        return STAGES[stage].device(self.settings[stage])


def chain(project: Project, store: StoreReader, *, index_folder: Path | None = None) -> Chain:
    """Return the stages that a project asks for; no model is loaded.

    Graph files are indexed along the way, because the fingerprints of parsed shards depend on their graphs. An index
    that the store does not have is written to a folder; by default into the store, replacing the one there, which only
    the holder of the store's lock may do.
    """
    prepared = _prepared(project)
    stages = []
    for reading in _stages(project, prepared):
        stage = STAGES[reading.name]
        if stage is AMR_STAGE:
            prepared[stage.name] = _with_bank(project, store, index_folder)
        settings = prepared[stage.name]
        outside = stage.outside(settings)
        stages.append(
            PlannedStage(
                reading.name,
                reading.over,
                reading.needs,
                stage.recipe(settings),
                extra={} if outside is None else _digests(outside, store),
                extra_name="files" if outside is None else outside.name,
            )
        )
    return Chain(tuple(stages), {stage.name: prepared[stage.name] for stage in stages})


def wanted_shards(project: Project, store: StoreReader) -> dict[str, frozenset[Shard]]:
    """Return the shards that each stage has to make, made or not; no model is needed."""
    return scope(_stages(project, _prepared(project)), project.wanted, store.uses())


def _prepared(project: Project) -> dict[str, BaseModel]:
    off = switched_off(project.switches)
    return {name: stage.prepare(project.section(stage)) for name, stage in STAGES.items() if name not in off}


def _stages(project: Project, prepared: Mapping[str, BaseModel]) -> list[Reading]:
    reads_also = {name: STAGES[name].reads_also(settings) for name, settings in prepared.items()}
    return stages_of(project.wanted, project.switches, reads_also)


def check(project: Project, store: StoreReader) -> None:
    """Refuse, before rows are read, stages that cannot be made, and encoders for which nothing would be."""
    made = {stage.name for stage in _stages(project, _prepared(project))}
    if project.neighbours and EMBEDDING_STAGE.name not in made:
        raise Conflict(
            f"`neighbours` of the corpus {next(iter(project.neighbours))!r} are drawn from embeddings, which this "
            "project does not make: leave it out, or set `enabled = true` in [embeddings]."
        )
    names = {corpus.name for corpus in project.corpora}
    asked = [(n, name) for n, encoder in enumerate(project.encoders, start=1) for name in encoder.corpora]
    if names.issuperset(name for _, name in asked):
        return
    uses = store.uses()  # rows of a corpus removed from the project file stay
    corpora = sorted(names.union(*uses.pairs.values(), *uses.sentences.values()))
    for number, name in asked:
        if name not in corpora:
            instead = did_you_mean(name, corpora, f"name some of {', '.join(corpora)}, or leave it out to train on all")
            raise UnknownName(
                f"`encoders[{number}].corpora` names {name!r}, which is not a corpus of the project file or "
                f"of the store; {instead}."
            )


def pointless_trainings(project: Project, store: StoreReader) -> tuple[str, ...]:
    """Return what trainings will refuse, before anybody waits for their features."""
    pairs = store.read("pairs", columns=["corpus", "split", "label"])
    labels = store.read("labels", columns=["sentence", "corpus", "split", "aspect", "label"])
    sentences = []
    for encoder in project.encoders if pairs.height or labels.height else ():
        try:
            check_ahead(encoder, pairs, labels)
            if encoder.pool is None:  # else it is trained elsewhere
                models.locate(encoder.backbone, project.base)
        except (InputError, ModelError) as error:
            sentences.append(f"`facetflow train {encoder.name}` will fail: {error}")
        else:
            off = (switched_off(project.switches) if project.corpora else {*STAGES}) - {EMBEDDING_STAGE.name}
            sentences += [
                f"`facetflow train {encoder.name}` will fail: it reads {table!r}, which is not made; set "
                f"`enabled = true` in [{table}] of the project that builds the store."
                for table in tables_of(encoder)
                if table in off and not store.committed(table)
            ]
    return tuple(sentences)


def graph_files(project: Project) -> list[Path]:
    """Return the PENMAN files of a project: those of [amr], then those of corpora that are graphs themselves."""
    files = list(project.section(AMR_STAGE).graphs)
    for corpus in project.corpora:
        if isinstance(corpus.record.layouts[0], GraphLayout):
            for source in locate(corpus, corpus.files, project.base):
                files += files_of(corpus.record, source)
    return list(dict.fromkeys(files))


def _digests(outside: Outside, store: StoreReader) -> dict[Shard, str]:
    """Return sentence shard → digest of what its rows depend on besides recipe and tables."""
    ids = store.read("sentences", columns=["sentence_id"], with_shard=True)
    return {
        Shard(str(shard)): outside.digest(rows["sentence_id"].to_list())
        for (shard,), rows in ids.group_by("shard", maintain_order=True)
    }


def _with_bank(project: Project, store: StoreReader, index_folder: Path | None) -> AmrSettings:
    """Return the settings of the AMR stage with the index of the graph files, created if missing."""
    settings = project.section(AMR_STAGE)
    if settings.backend != "penman":
        return settings
    from features.parsers.bank import build_bank  # loads pyarrow, which most plans need not

    files = graph_files(project)
    content, before = hashlib.blake2b(digest_size=6), [models.stamp(file) for file in files]
    for file in files:
        content.update(file_sha256(file).encode() if file.is_file() else b"missing")
    # Named by content, because a worker of a long-lived cluster keeps the index that it has opened.
    name, storage = f"{content.hexdigest()}.arrow", store.storage
    with clear_errors(f"Writing the index of graphs {storage.url(f'graphs/{name}')!r}"):
        stored = storage.names("graphs")
        if index_folder is not None and name not in stored:
            build_bank(files, index_folder / name)
            return settings.model_copy(update={"bank": index_folder / name})
        if name not in stored:
            with scratch("graphs") as folder:
                build_bank(files, folder / name)
                for file, state in zip(files, before, strict=True):
                    if models.stamp(file) != state:
                        raise changed(file)
                storage.put(f"graphs/{name}", folder / name)
        if index_folder is None:
            storage.delete(*(f"graphs/{other}" for other in stored if other != name))
        return settings.model_copy(update={"bank": storage.local(f"graphs/{name}")})
