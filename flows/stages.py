"""The stages of a build that the project file asks for: what each reads, its recipe, its settings, its scope.

The stages follow from what is wanted (`flows.wanted`).

sentences ─┬─ amr ── label_vectors ─┐
           ├─ dependencies          ├─ metrics
           ├─ srl                   │
           └─ embeddings            │
pairs ──────────────────────────────┘
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from features.corpora.dataset import GraphLayout
from features.corpora.sources import locate
from features.durable import file_sha256
from features.errors import InputError, SettingsError
from features.hints import did_you_mean
from features.parsers import amr as amr_parsers
from features.parsers import recipes
from features.parsers.bank import build_bank
from features.parsers.settings import AmrSettings
from features.store import folder
from features.store.fingerprints import Recipe
from features.store.reader import StoreReader
from features.store.scope import Reading, Wanted, scope
from features.store.stage import Stage
from features.store.uses import uses_of
from features.types import Shard
from flows.project import Project
from flows.wanted import stages_of, wanted_of
from training.encoders.foreseen import Rows, check_ahead

if TYPE_CHECKING:  # compiled metrics are slow to import
    from features.metrics.own_files import OwnMetrics


@dataclass(frozen=True, slots=True)
class Chain:
    """The stages of a build.

    Args:
        stages: the stages, in an order in which they can be made.
        settings: stage → settings that its task gets besides the shard; None for a stage without settings.
        wanted: what is read; the scope of each stage follows from it.
        pointless: why the training of an encoder will end at once, one sentence each.
    """

    stages: tuple[Stage, ...]
    settings: Mapping[str, BaseModel | None]
    wanted: tuple[Wanted, ...]
    pointless: tuple[str, ...] = ()

    def recipes(self) -> dict[str, Recipe]:
        """Return stage → recipe."""
        return {stage.name: stage.recipe for stage in self.stages}

    def device(self, stage: str) -> str:
        """Return the device that the user set for a stage: `auto`, `cpu`, `cuda`; `cpu` if the stage has no choice."""
        settings = self.settings[stage]
        looks_up = getattr(settings, "backend", None) in {"penman", "glove"}
        return "cpu" if looks_up else str(getattr(settings, "device", "cpu"))


def chain(project: Project, store: StoreReader, *, index_folder: Path | None = None) -> Chain:
    """Return the stages that a project asks for; no model is loaded.

    Graph files are indexed along the way, because the fingerprints of parsed shards depend on their graphs.

    Args:
        project: the project file.
        store: the store, for the sentences of each shard.
        index_folder: where to write an index of graph files that the store does not have; by default into the store,
            replacing the one there, which only the holder of the store's lock may do.

    Raises:
        InputError: a graph file is missing, or a file of metrics cannot be run.
        ModelError: a model is not on this machine.
        SettingsError: a stage needs one that is switched off, or an encoder reads an unknown corpus, aspect or label.
    """
    wanted = wanted_of(project)
    pointless = _pointless(project, store)
    own = own_metrics(project)
    names = stages_of(project, wanted, _tables_of(own))
    stages: list[Stage] = []
    settings: dict[str, BaseModel | None] = {}
    for name, (over, needs) in names.items():
        match name:
            case "amr":
                settings[name] = amr = _with_bank(project, store, index_folder)
                stages.append(_amr(amr, store))
                continue
            case "dependencies":
                settings[name], recipe = project.dependencies, recipes.dependency_recipe(project.dependencies)
            case "srl":
                settings[name], recipe = project.srl, recipes.srl_recipe(project.srl)
            case "embeddings":
                settings[name], recipe = project.embeddings, recipes.embedding_recipe(project.embeddings)
            case "label_vectors":
                settings[name], recipe = project.label_vectors, recipes.label_vector_recipe(project.label_vectors)
            case _:
                settings[name], recipe = own, _metric_recipe(own)
        stages.append(Stage(name, over, needs, recipe))
    return Chain(tuple(stages), settings, wanted, pointless)


def wanted_shards(project: Project, store: StoreReader) -> dict[str, frozenset[Shard]]:
    """Return the shards that each stage has to make, made or not; no model is needed.

    Raises:
        InputError: a file of metrics cannot be run.
        SettingsError: a stage needs one that is switched off.
    """
    wanted = wanted_of(project)
    further = _tables_of(own_metrics(project)) if project.metrics.own else ()
    stages = [Reading(name, over, needs) for name, (over, needs) in stages_of(project, wanted, further).items()]
    return scope(stages, wanted, uses_of(store))


def check(project: Project, store: StoreReader) -> None:
    """Refuse, before rows are read, stages that cannot be made, and encoders for which nothing would be.

    Args:
        project: the project file.
        store: the store as it is.

    Raises:
        InputError: a file of metrics cannot be run.
        SettingsError: a stage needs one that is switched off, or a corpus of an encoder is unknown.
    """
    stages_of(project, wanted_of(project), _tables_of(own_metrics(project)))
    names = {corpus.name for corpus in project.corpora}
    asked = [(n, name) for n, encoder in enumerate(project.encoders, start=1) for name in encoder.corpora]
    if names.issuperset(name for _, name in asked):
        return
    uses = uses_of(store)  # rows of a corpus removed from the project file stay
    known = sorted(names.union(*uses.pairs.values(), *uses.sentences.values()))
    for number, name in asked:
        if name not in known:
            instead = did_you_mean(name, known, f"name some of {', '.join(known)}, or leave it out to train on all")
            raise SettingsError(
                f"`encoders[{number}].corpora` names {name!r}, which is not a corpus of the project file or "
                f"of the store; {instead}."
            )


def _pointless(project: Project, store: StoreReader) -> tuple[str, ...]:
    """Return what trainings will refuse, before anybody waits for their features.

    Raises:
        SettingsError: an encoder names an aspect, a label or a corpus that no row has.
    """
    rows = Rows(
        store.read("pairs", columns=["corpus", "split", "label"]),
        store.read("labels", columns=["sentence", "corpus", "split", "aspect", "label"]),
    )
    told = []
    for encoder in project.encoders if rows.pairs.height or rows.labels.height else ():
        try:
            check_ahead(encoder, rows)
        except InputError as error:
            told.append(f"`facetflow train {encoder.name}` will fail: {error}")
    return tuple(told)


def own_metrics(project: Project) -> "OwnMetrics | None":
    """Return the project's own metrics; None if nothing is measured.

    Raises:
        InputError: a file of metrics cannot be read.
    """
    if project.metrics.enabled is False:
        return None
    # Imported here, because compiled metrics are slow to import and other commands need the chain too.
    from features.metrics.own_files import OwnMetrics, read_metric_file

    return OwnMetrics(files=tuple(read_metric_file(file) for file in project.metrics.own))


def _tables_of(own: "OwnMetrics | None") -> tuple[str, ...]:
    """Return the tables other than `amr` that a project's own metrics read.

    Raises:
        InputError: a file of metrics cannot be run.
    """
    if own is None or not own.files:
        return ()
    from features.metrics.items import TABLES

    return tuple(sorted({TABLES[metric.reads] for metric in own.load()} - {"amr"}))


def _metric_recipe(own: "OwnMetrics | None") -> Recipe:
    from features.metrics import ALGORITHM_VERSION

    metrics = own.load() if own is not None else ()
    # Empty without own metrics, so that the recipe stays what it was before they existed.
    parameters = {"own": {metric.name: metric.digest for metric in metrics}} if metrics else {}
    return Recipe("metrics", parameters, ALGORITHM_VERSION)


def graph_files(project: Project) -> list[Path]:
    """Return the PENMAN files of a project: those of [amr], then those of corpora that are graphs themselves."""
    files = [Path(name) for name in project.amr.graphs]
    for corpus in project.corpora:
        if isinstance(corpus.record.layouts[0], GraphLayout):
            for source in locate(corpus.record, corpus.files, project.base, corpus.files_key):
                files += [source.path, *([source.partner] if source.partner else [])]
    return list(dict.fromkeys(files))


def _amr(settings: AmrSettings, store: StoreReader) -> Stage:
    recipe = recipes.amr_recipe(settings)
    if settings.backend != "penman":
        return Stage("amr", "sentences", ("sentences",), recipe)
    parser = amr_parsers.load(settings)
    ids = store.read("sentences", columns=["sentence_id"], with_shard=True)
    digests = {
        Shard(str(shard)): parser.shard_digest(rows["sentence_id"].to_list())
        for (shard,), rows in ids.group_by("shard", maintain_order=True)
    }
    return Stage("amr", "sentences", ("sentences",), recipe, extra=digests, extra_name="graph files")


def _with_bank(project: Project, store: StoreReader, index_folder: Path | None) -> AmrSettings:
    """Return the settings of the AMR stage with the index of the graph files, created if missing."""
    if project.amr.backend != "penman":
        return project.amr
    files = graph_files(project)
    content = hashlib.blake2b(digest_size=6)
    for file in files:
        content.update(file_sha256(file).encode() if file.is_file() else b"missing")
    # Named by content, because a worker of a long-lived cluster keeps the index that it has opened.
    bank = store.path / "graphs" / f"{content.hexdigest()}.arrow"
    if index_folder is not None and not bank.is_file():
        bank = index_folder / bank.name
    with folder.clear_errors(f"Writing the index of graphs {str(bank)!r}"):
        build_bank(files, bank)
        for other in bank.parent.glob("*.arrow") if index_folder is None else ():
            if other != bank:
                other.unlink(missing_ok=True)
    return project.amr.model_copy(update={"bank": bank})
