"""The stages of a build, as the project file asks for them: what each reads, its recipe, its settings.

sentences ─┬─ amr ── label_vectors ─┐
           ├─ dependencies          ├─ metrics
           ├─ srl                   │
           └─ embeddings            │
pairs ──────────────────────────────┘
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from features.corpora.dataset import GraphLayout
from features.corpora.sources import locate
from features.models.files import file_sha256
from features.parsers import amr as amr_parsers
from features.parsers import recipes
from features.parsers.bank import build_bank
from features.parsers.settings import AmrSettings
from features.store import folder
from features.store.fingerprints import Recipe
from features.store.plan import Stage
from features.store.reader import StoreReader
from features.types import Shard
from flows.project import Project

if TYPE_CHECKING:  # compiled metrics take a while to import
    from features.metrics.own_files import OwnMetrics


@dataclass(frozen=True, slots=True)
class Chain:
    """The stages of a build.

    Args:
        stages: in an order in which they can be made.
        settings: stage → what its task is given beside the shard; None for a stage without settings.
    """

    stages: tuple[Stage, ...]
    settings: Mapping[str, BaseModel | None]

    def recipes(self) -> dict[str, Recipe]:
        """Return stage → recipe."""
        return {stage.name: stage.recipe for stage in self.stages}

    def device(self, stage: str) -> str:
        """Return the device that the user set for a stage: `auto`, `cpu`, `cuda`; `cpu` for one that has no choice."""
        settings = self.settings[stage]
        looks_up = getattr(settings, "backend", None) in {"penman", "glove"}
        return "cpu" if looks_up else str(getattr(settings, "device", "cpu"))


def chain(project: Project, store: StoreReader, *, index_folder: Path | None = None) -> Chain:
    """Return the stages that a project asks for; no model is loaded.

    Graph files are indexed on the way, because the fingerprints of parsed shards depend on the graphs in them.

    Args:
        project: the project file.
        store: the store, for the sentences of each shard.
        index_folder: where an index of graph files goes that the store does not have; by default into the store, in the
            place of what is there, which only the holder of the store's lock may do.

    Raises:
        InputError: a graph file is missing, or a file of metrics cannot be run.
        ModelError: a model is not on this machine.
        SettingsError: a metric reads what no stage makes.
    """
    amr = _with_bank(project, store, index_folder)
    stages = [_amr(amr, store)]
    settings: dict[str, BaseModel | None] = {"amr": amr}
    if project.dependencies.enabled:
        recipe = recipes.dependency_recipe(project.dependencies)
        stages.append(Stage("dependencies", "sentences", ("sentences",), recipe))
        settings["dependencies"] = project.dependencies
    if project.srl.enabled:
        stages.append(Stage("srl", "sentences", ("sentences",), recipes.srl_recipe(project.srl)))
        settings["srl"] = project.srl
    if project.embeddings.enabled:
        stages.append(Stage("embeddings", "sentences", ("sentences",), recipes.embedding_recipe(project.embeddings)))
        settings["embeddings"] = project.embeddings
    if project.metrics.enabled:
        # Here, because compiled metrics take a while to import, and other commands need the chain too.
        from features.metrics import ALGORITHM_VERSION
        from features.metrics.own_files import OwnMetrics, read_metric_file

        own = OwnMetrics(files=tuple(read_metric_file(file) for file in project.metrics.own))
        further, parameters = _own(own, {"sentences", *settings})
        stages += [
            Stage("label_vectors", "sentences", ("amr",), recipes.label_vector_recipe(project.label_vectors)),
            Stage(
                "metrics",
                "pairs",
                ("pairs", "amr", "label_vectors", *further),
                Recipe("metrics", parameters, ALGORITHM_VERSION),
            ),
        ]
        settings |= {"label_vectors": project.label_vectors, "metrics": own}
    return Chain(tuple(stages), settings)


def _own(own: "OwnMetrics", made: Collection[str]) -> tuple[list[str], dict[str, Any]]:
    """Return the further tables that a project's own metrics read, and what they add to the recipe.

    Args:
        own: the metrics.
        made: tables that there are before metrics.

    Raises:
        SettingsError: when a metric reads another.
    """
    from features.metrics.items import TABLES
    from features.metrics.own_measurement import check_reads

    metrics = own.load()
    check_reads(metrics, [reads for reads, table in TABLES.items() if table in made], "this project")
    further = sorted({TABLES[metric.reads] for metric in metrics} - {"amr"})
    # Nothing without own metrics: the recipe stays what it was before there were any.
    return further, {"own": {metric.name: metric.digest for metric in metrics}} if metrics else {}


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
    """Return the settings of the AMR stage with the index of the graph files, made where it is not there."""
    if project.amr.backend != "penman":
        return project.amr
    files = graph_files(project)
    content = hashlib.blake2b(digest_size=6)
    for file in files:
        content.update(file_sha256(file).encode() if file.is_file() else b"missing")
    # Named by content: a worker of a long-lived cluster keeps the index that it has opened.
    bank = store.path / "graphs" / f"{content.hexdigest()}.arrow"
    if index_folder is not None and not bank.is_file():
        bank = index_folder / bank.name
    with folder.clear_errors(f"Writing the index of graphs {str(bank)!r}"):
        build_bank(files, bank)
        for other in bank.parent.glob("*.arrow") if index_folder is None else ():
            if other != bank:
                other.unlink(missing_ok=True)
    return project.amr.model_copy(update={"bank": bank})
