"""An encoder: embeddings, similarities of the whole and of each facet, explanations, labels of pairs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from facetflow import internals
from facetflow.devices import check_device
from facetflow.names import near
from facetflow.notebook import show_explanation
from facetflow.pairing import Texts, pair_up, read_texts
from features.errors import InputError, ModelError, SettingsError
from features.graph_files.sentence_graphs import find_graphs, label_vectors, pairs_with_graphs
from features.metrics.explanation.pair import GraphPair, explain_graphs
from features.sentences import normalise

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Prediction = internals.Prediction
"""What a classifier says of two sentences: `label`, and `probabilities` of every label."""
_MODULES_FILE = "modules.json"


@dataclass(frozen=True, slots=True)
class Facet:
    """Dimensions of an embedding that mirror one metric.

    Args:
        name: the metric.
        start: the first dimension.
        stop: the dimension after the last.
        spearman: rank correlation of the facet with its metric on dev pairs; None when unknown.
        reliable: whether that is clearly above 0: its whole 95 % interval is.
    """

    name: str
    start: int
    stop: int
    spearman: float | None = None
    reliable: bool = False

    @property
    def dimensions(self) -> slice:
        """The dimensions, to index embeddings with: `embeddings[:, facet.dimensions]`."""
        return slice(self.start, self.stop)


@dataclass(frozen=True, repr=False)
class Explanation(internals.Explanation):
    """In which facets two sentences agree and differ; a notebook shows it as a table with the graphs drawn.

    Args:
        sentence_a: as given, with single blanks.
        sentence_b: likewise.
        similarity: cosine of the whole embeddings, in [-1, 1].
        residual: cosine of what belongs to no facet; None where facets take every dimension.
        facets: what each facet says, in the order of their dimensions: `name`, `similarity`, `prediction` (of the value
            of its metric), `measured` (on the graphs), `standing`, `reliable` and more.
        headline: what stands out.
        words: what the graphs have in common and what not, as one sentence; None without graphs.
        differences: the same, one by one, with the facet that sees it.
        notes: what a reader has to know beside it, a sentence each: that a sentence was cut.
        graphs: both graphs and what matches in them; None where nothing was measured.
        graphs_from: where the graphs are from, or why there are none.
        encoder: which encoder explains, and what it learnt from.
    """

    graphs: GraphPair | None = None
    graphs_from: str = ""
    encoder: str = ""

    def facet(self, name: str) -> internals.FacetReading:
        """Return what one facet says.

        Raises:
            SettingsError: there is no such facet.
        """
        for reading in self.facets:
            if reading.name == name:
                return reading
        raise SettingsError(f"there is no facet {name!r}; {near(name, [reading.name for reading in self.facets])}")

    def __repr__(self) -> str:
        stands_out = self.headline if self.words is None or self.equal else self.words
        return f"<explanation of {self.sentence_a!r} and {self.sentence_b!r}: {self.similarity:.2f}. {stands_out}>"

    def _repr_html_(self) -> str:
        return show_explanation(self, self.graphs, self.graphs_from, self.encoder)


class Encoder:
    """A sentence encoder, loaded by `load_encoder`.

    Args:
        folder: where it is.
        model: what sentence-transformers loaded.
        layout: its facets; None for an encoder without any.
    """

    def __init__(self, folder: Path, model: "SentenceTransformer", layout: internals.FacetLayout | None) -> None:
        self.folder = folder
        self.model = model
        self._layout = layout
        self._routes: dict[str | None, str | None] = {}

    @property
    def dimension(self) -> int:
        """Dimensions of an embedding (d)."""
        return int(self.model.get_embedding_dimension() or 0)

    @cached_property
    def facets(self) -> tuple[Facet, ...]:
        """The facets, in the order of their dimensions; what follows the last belongs to none (the residual)."""
        return tuple(
            Facet(
                name=facet.name,
                start=facet.start,
                stop=facet.stop,
                spearman=None if facet.reliability is None else facet.reliability.spearman,
                reliable=facet.is_clear,
            )
            for facet in (self._layout.facets if self._layout is not None else ())
        )

    def encode(self, texts: str | Texts, *, aspect: str | None = None, batch_size: int = 32) -> NDArray[np.float32]:
        """Return the embeddings of sentences.

        Args:
            texts: a sentence, or several.
            aspect: in which respect embeddings are to be alike, for an encoder that has a route for it or was trained
                for it; one with routes needs it.
            batch_size: sentences that are encoded at once.

        Returns:
            float32, (d,) for a sentence, (n, d) for several.

        Raises:
            InputError: something that is not a string.
            ModelError: the encoder was not trained for the aspect, or has routes and none was chosen.
        """
        route = self._route(aspect)
        sentences, single = read_texts(texts, "sentence")
        if not sentences:
            return np.empty((0, self.dimension), np.float32)
        options: dict[str, Any] = {} if route is None else {"task": route}
        found = self.model.encode(
            sentences, batch_size=batch_size, convert_to_numpy=True, show_progress_bar=False, **options
        )
        vectors = np.asarray(found, np.float32)
        return vectors[0] if single else vectors

    @overload
    def similarity(self, a: str, b: str, facet: str | None = None, *, aspect: str | None = None) -> float: ...
    @overload
    def similarity(
        self, a: str | Texts, b: str | Texts, facet: str | None = None, *, aspect: str | None = None
    ) -> float | NDArray[np.float64]: ...
    def similarity(
        self, a: str | Texts, b: str | Texts, facet: str | None = None, *, aspect: str | None = None
    ) -> float | NDArray[np.float64]:
        """Return how similar sentences are: as a whole, or in one facet.

        Args:
            a: a sentence, or several.
            b: likewise: the first is compared with the first, and so on; one sentence with each of several.
            facet: name of a facet, or `residual` for the dimensions that belong to none; the whole when missing.
            aspect: in which respect they are compared, for an encoder that has a route for it or was trained for it;
                one with routes needs it.

        Returns:
            A cosine in [-1, 1], unless the encoder was trained with another similarity; for several sentences an array
            of float64, (n_pairs,).

        Raises:
            InputError: something that is not a string, or lists of different lengths.
            ModelError: the encoder was not trained for the aspect, or has routes and none was chosen.
            SettingsError: the encoder has no such facet.
        """
        between = self._dimensions(facet)
        first, second, single = pair_up(a, b, "sentence")
        # Each text once: in batches of other lengths the same text has another embedding in the last digits.
        position = {text: n for n, text in enumerate(dict.fromkeys([*first, *second]))}
        vectors = self.encode(position, aspect=aspect)
        left, right = (vectors[[position[text] for text in side]] for side in (first, second))
        if self._layout is not None and facet in self._layout.names:
            values = self._layout.similarities(left, right)[:, self._layout.names.index(facet)]
        else:
            values = internals.cosines(left[:, between], right[:, between])
        return float(values[0]) if single else values

    @overload
    def explain(self, a: str, b: str, *, graphs: bool = True) -> Explanation: ...  # type: ignore[overload-overlap]
    @overload
    def explain(self, a: Texts, b: str | Texts, *, graphs: bool = True) -> list[Explanation]: ...
    @overload
    def explain(self, a: Iterable[tuple[str, str]], b: None = None, *, graphs: bool = True) -> list[Explanation]: ...
    def explain(
        self, a: str | Texts | Iterable[tuple[str, str]], b: str | Texts | None = None, *, graphs: bool = True
    ) -> Explanation | list[Explanation]:
        """Say in which facets sentences agree and differ.

        Args:
            a: a sentence, several, or pairs of sentences where `b` is missing.
            b: a sentence, or several, paired with `a` as in `similarity`.
            graphs: parse the sentences, and measure on their graphs what the facets predict; without it only the
                encoder speaks, which is faster.

        Returns:
            An explanation of two sentences; a list of them, one a pair, for several.

        Raises:
            InputError: something that is not a string, an empty sentence, or lists of different lengths.
            ModelError: the encoder has no facets.
        """
        if self._layout is None:
            raise ModelError(
                f"the encoder {str(self.folder)!r} has no facets to explain with; train one of kind s3bert"
            )
        first, second, single = _read_pairs(a) if b is None else pair_up(a, b, "sentence")  # type: ignore[arg-type]
        pairs = list(zip(first, second, strict=True))
        readings = internals.explain_with(self.model, self._layout, pairs)
        found, origin = _measure(readings) if graphs else ({}, "not asked for")
        encoder = internals.encoder_facts(self.folder).sentence
        explanations = []
        for number, reading in enumerate(readings):
            pair = found.get(number)
            whole = reading if pair is None else internals.with_graphs(reading, pair)
            lacking = f"this pair has none ({origin}), so nothing is measured"
            said = {field.name: getattr(whole, field.name) for field in fields(whole)}
            where = origin if pair is not None or not graphs else lacking
            explanations.append(Explanation(**said, graphs=pair, graphs_from=where, encoder=encoder))
        return explanations[0] if single else explanations

    @overload
    def predict(self, a: str, b: str, *, spans: bool = False) -> Prediction: ...  # type: ignore[overload-overlap]
    @overload
    def predict(self, a: Texts, b: str | Texts, *, spans: bool = False) -> list[Prediction]: ...
    @overload
    def predict(self, a: Iterable[tuple[str, str]], b: None = None, *, spans: bool = False) -> list[Prediction]: ...
    def predict(
        self, a: str | Texts | Iterable[tuple[str, str]], b: str | Texts | None = None, *, spans: bool = False
    ) -> Prediction | list[Prediction]:
        """Tell the label of sentence pairs, by the classifier that was learnt with the encoder.

        Args:
            a: a sentence, several, or pairs of sentences where `b` is missing.
            b: a sentence, or several, paired with `a` as in `similarity`.
            spans: also say what the embeddings look at, in an encoder that weighs predicate-argument spans.

        Returns:
            `label` and `probabilities` (label → probability) of two sentences; a list of them, one a pair, for several.
            With `spans` also `spans`: of both sentences the words, their weights and the frames.

        Raises:
            InputError: something that is not a string, an empty sentence, or lists of different lengths.
            ModelError: the encoder has no classifier, or no spans.
        """
        predictor = self._predictor
        first, second, single = _read_pairs(a) if b is None else pair_up(a, b, "sentence")  # type: ignore[arg-type]
        pairs = [(normalise(one), normalise(other)) for one, other in zip(first, second, strict=True)]
        for number, pair in enumerate(pairs, start=1):
            if not all(pair):
                raise InputError(f"a sentence of pair {number} of {len(pairs)} is empty; leave the pair out")
        if spans:
            predictor.require_spans()
        found = predictor.predict(pairs).each(pairs)
        found = predictor.explain(found) if spans else found
        return found[0] if single else found

    @cached_property
    def _predictor(self) -> internals.PairPredictor:
        return internals.PairPredictor(self.folder, self.model)

    def __repr__(self) -> str:
        facets = f"{len(self.facets)} facets" if self.facets else "no facets"
        return f"<encoder {str(self.folder)!r}: {self.dimension} dimensions, {facets}>"

    def _route(self, aspect: str | None) -> str | None:
        """Return the route for an aspect; None for an encoder without routes."""
        if aspect not in self._routes:
            self._routes[aspect] = internals.task_of(self.folder, aspect)
        return self._routes[aspect]

    def _dimensions(self, facet: str | None) -> slice:
        if facet is None:
            return slice(None)
        rest = slice(0, self.dimension) if self._layout is None else self._layout.residual
        known = {known.name: known.dimensions for known in self.facets}
        if rest.start < rest.stop:
            known[internals.RESIDUAL] = rest
        if facet not in known:
            if self._layout is None:
                raise SettingsError(
                    f"the encoder {str(self.folder)!r} has no facets, so none is called {facet!r}; leave the facet out"
                )
            raise SettingsError(f"the encoder {str(self.folder)!r} has no facet {facet!r}; {near(facet, known)}")
        return known[facet]


def load_encoder(path: str | Path, *, device: str = "auto") -> Encoder:
    """Load an encoder from its folder; nothing is asked of a hub.

    Args:
        path: folder of the encoder, or of the run that trained it, such as `runs/s3bert/current`.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.

    Raises:
        ModelError: the folder holds no encoder or one that is damaged, or sentence-transformers is not installed.
        SettingsError: there is no such device.
    """
    device = check_device(device)
    given = Path(path).expanduser()
    within = given / internals.ENCODER
    folder = within if (within / _MODULES_FILE).is_file() else given
    if not (folder / _MODULES_FILE).is_file():
        missing = "is no folder" if not given.is_dir() else f"holds no encoder (there is no {_MODULES_FILE})"
        raise ModelError(f"{str(path)!r} {missing}; give the folder of an encoder, or of the run that trained it")
    layout = internals.FacetLayout.load(folder) if (folder / internals.FILE_NAME).is_file() else None
    try:
        model = internals.load_encoder(folder, device=None if device == "auto" else device)
    except ImportError as error:
        raise ModelError(
            "encoders need torch and sentence-transformers; install them with `pip install facetflow[encoders]`"
        ) from error
    return Encoder(folder, model, layout)


def _read_pairs(pairs: object) -> tuple[list[str], list[str], bool]:
    """Return the first and the second sentence of each pair that is given as two together."""
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise InputError(f"two sentences are needed, but here is {pairs!r} alone; give the other one as `b`")
    found = list(pairs)
    for number, pair in enumerate(found, start=1):
        both = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
        if not both or not all(isinstance(text, str) for text in pair):
            raise InputError(f"pair {number} of {len(found)} is not two sentences but {pair!r}; give (a, b) for each")
    return [a for a, _ in found], [b for _, b in found], False


def _measure(readings: Sequence[internals.Explanation]) -> tuple[dict[int, GraphPair], str]:
    """Return position → what matches in the graphs of a pair, and where these are from."""
    texts = [(reading.sentence_a, reading.sentence_b) for reading in readings]
    graphs, origin = find_graphs(list(dict.fromkeys(text for pair in texts for text in pair)), (), None)
    pairs = pairs_with_graphs(texts, graphs)
    found = explain_graphs(list(pairs.values()), label_vectors(graphs.values()))
    return dict(zip(pairs, found, strict=True)), origin
