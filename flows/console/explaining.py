"""What `explain` and the explorer share: the encoder in use, what it says of pairs, and what is measured beside it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from features.core.faults import CannotExplain
from features.models import bundled_encoder
from features.parsers.sentence_encoder import TextEncoder, load_light
from features.stages.label_vectors import LABEL_VECTOR_STAGE
from flows.console.here import Here
from training.attribution import Attribution, attribute
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import FILE_NAME, FacetLayout
from training.evaluation.promotion import encoder_in_use_with
from training.search.choosing import named_encoder

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from features.metrics.explanation.pair import GraphPair
    from training.encoders.s3bert.explain import EncoderFacts, Explanation


@dataclass(frozen=True, slots=True)
class Explained:
    """An explained pair."""

    explanation: "Explanation"  # measured and, where there is an encoder, predicted
    graphs: "GraphPair | None"  # both graphs with what matches; None without them
    origin: str  # where the graphs come from, or why there are none
    shares: Attribution | None = None  # how the words share a similarity; None if that was not asked for

    def as_json(self, encoder: "EncoderFacts | None", *, graphs: bool) -> dict[str, Any]:
        """Return the explanation, with what matches in the graphs if requested."""
        line = asdict(self.explanation) | {"equal": self.explanation.equal}
        line["encoder"] = None if encoder is None else asdict(encoder)
        line["graphs_from"] = self.origin
        line |= {"graphs": asdict(self.graphs)} if graphs and self.graphs is not None else {}
        return line | ({} if self.shares is None else {"shares": self.shares.as_json()})


class Explainer:
    """Explains pairs, with an encoder where there is one: a named one, by default that of `_encoder_in_use`."""

    def __init__(self, here: Here, encoder: str | None) -> None:
        self.here = here
        self.folder = _encoder_in_use(here, encoder)
        """Folder of the encoder; None without one."""

    @cached_property
    def facts(self) -> "EncoderFacts | None":
        """Facts about the encoder."""
        from training.encoders.s3bert.explain import encoder_facts

        return None if self.folder is None else encoder_facts(self.folder)

    @cached_property
    def layout(self) -> FacetLayout | None:
        """The facets of the encoder."""
        return None if self.folder is None else FacetLayout.load(self.folder)

    @cached_property
    def reader(self) -> "TextEncoder | None":
        """The encoder, only to encode: without sentence-transformers where possible, else `model`."""
        return None if self.folder is None else load_light(self.folder, "auto") or self.model

    @cached_property
    def model(self) -> "SentenceTransformer | None":
        """The encoder, loaded when it is needed, with its modules."""
        return None if self.folder is None else load_encoder(self.folder)

    def explain(
        self,
        pairs: Sequence[tuple[str, str]],
        files: Sequence[Path] = (),
        *,
        measure: bool = True,
        facet: str | None = None,
    ) -> list[Explained]:
        """Explain pairs of sentences, in the given order.

        Without files with their graphs, these come from the store, else from the parser. The similarity of a facet,
        `residual` or `sentence`, if one is named, is shared among the words.
        """
        from features.graph_files.sentence_graphs import measured_pairs
        from training.encoders.s3bert.explain import explain_with, with_graphs, without_encoder

        encoder = self.reader if facet is None else self.model  # whose modules tell the words' shares
        if encoder is None or self.layout is None:
            explanations = without_encoder(pairs)
        else:
            explanations = explain_with(encoder, self.layout, pairs)
        shares = [None if facet is None else self.attribute(*pair, facet) for pair in pairs]
        texts = [(explanation.sentence_a, explanation.sentence_b) for explanation in explanations]
        settings = None if self.here.project is None else self.here.project.section(LABEL_VECTOR_STAGE)
        not_asked = [(None, "not asked for")] * len(texts)
        measured = measured_pairs(texts, files, self.here.store, settings) if measure else not_asked
        return [
            Explained(explanation if graphs is None else with_graphs(explanation, graphs), graphs, origin, of_words)
            for explanation, (graphs, origin), of_words in zip(explanations, measured, shares, strict=True)
        ]

    def attribute(self, a: str, b: str, facet: str) -> Attribution | None:
        """Return how the words of two sentences share the similarity of a facet; None without an encoder."""
        return None if self.model is None else attribute(self.model, self.layout, a, b, facet)


def _encoder_in_use(here: Here, name: str | None) -> Path | None:
    """Return a named encoder, else the one in use of the project's encoders with facets, else the bundled one."""
    runs, names = here.runs, here.encoders
    if name is not None:
        folder: Path | None = named_encoder(runs, name, among=names)
    else:
        folder = runs and encoder_in_use_with(runs, lambda at: (at / FILE_NAME).is_file(), names)
    if folder is None:
        return bundled_encoder()
    here.use(folder, name)
    if not (folder / FILE_NAME).is_file():
        raise CannotExplain(
            f"The encoder {str(folder)!r} has no facets ({FILE_NAME}): name one of kind s3bert with --encoder, or "
            "train one. Encoders of kind pas are explained by `facetflow predict --explain`."
        )
    return folder
