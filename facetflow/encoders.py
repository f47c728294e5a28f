"""An encoder: embeddings, similarity overall and per facet, explanations, predicted labels of pairs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from facetflow import internals
from facetflow.arguments import Texts, pair_sentences, pair_up, read_texts, require_whole
from facetflow.benchmarking import MtebEncoder
from facetflow.explaining import Explanation, explain_readings
from features.core.faults import CannotExplain, EmptyText, NotTexts
from features.core.wording import counted
from features.models import BUNDLED_ENCODER
from features.sentences import normalise

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Prediction = internals.Prediction
"""A classifier's prediction for two sentences: `label`, and `probabilities` of all labels."""


@dataclass(frozen=True, slots=True)
class Facet:
    """Dimensions of an embedding that mirror one metric.

    Args:
        name: the metric.
        start: the first dimension.
        stop: the dimension after the last.
        spearman: rank correlation of the facet with its metric on dev pairs; None when unknown.
        reliable: whether that correlation is clearly above 0: its whole 95 % interval is.
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


class Encoder:
    """A sentence encoder, loaded by `load_encoder`.

    Args:
        folder: folder of the encoder.
        model: the encoder as a SentenceTransformer. Caches (`runs`) and files of vectors go by the folder: what
            changes embeddings here, such as a training, is not seen by them.
        layout: layout of its facets; None for an encoder without facets.
    """

    def __init__(self, folder: Path, model: "SentenceTransformer", layout: internals.FacetLayout | None) -> None:
        self.folder = folder
        self.model = model
        self._layout = layout

    @property
    def dimension(self) -> int:
        """Dimensions of an embedding (d)."""
        return int(self.model.get_embedding_dimension() or 0)

    @cached_property
    def facets(self) -> tuple[Facet, ...]:
        """The facets, in the order of their dimensions; the others before or after them are the residual."""
        return tuple(
            Facet(
                each.name, each.start, each.stop, each.reliability.spearman if each.reliability else None, each.is_clear
            )
            for each in (() if self._layout is None else self._layout.facets)
        )

    def encode(self, texts: str | Texts, *, aspect: str | None = None, batch_size: int = 32) -> NDArray[np.float32]:
        """Return the embeddings of sentences.

        Args:
            texts: a sentence, or several.
            aspect: the aspect in which texts are compared, for an encoder that has a route for it or was trained for
                it; required if the encoder has routes.
            batch_size: sentences encoded at once.

        Returns:
            float32, (d,) for a sentence, (n, d) for several.

        Raises:
            InputError: a sentence is not a string.
            ModelError: the encoder was not trained for the aspect, or it has routes and no aspect was given.
            SettingsError: batch_size is not a whole number, or is below 1.
        """
        route = internals.task_of(self.folder, aspect)
        sentences, single = read_texts(texts, "sentence")
        require_whole(batch_size, "batch_size is the number of sentences encoded at once")
        if not sentences:
            return np.empty((0, self.dimension), np.float32)
        encoded = self.model.encode(sentences, batch_size=batch_size, show_progress_bar=False, task=route)
        vectors = np.asarray(encoded, np.float32)
        return vectors[0] if single else vectors

    def encode_file(
        self,
        path: str | Path,
        output: str | Path,
        *,
        text: str | Sequence[str] = (),
        aspect: str | None = None,
        facets: bool = False,
        precision: internals.Precision = "float32",
        processes: int = 1,
    ) -> internals.Encoded:
        """Write the embeddings of the texts of a file as Parquet, in memory that does not grow with the file.

        The output has a row for each row of the file: `id`, `text` and `vector`, which is null without a text. A killed
        call goes on where it was, and the file is then the same to the byte.

        Args:
            path: a table (`.tsv`, `.csv`, `.jsonl`, `.parquet`) or a file with one text a line; also with `.gz`.
            output: the file, `.parquet`, or `.arrow` for an Arrow file, which a search maps into memory.
            text: columns of a table with the text; `text` by default.
            aspect: as in `encode`.
            facets: write `residual` and a column for each facet in place of `vector`.
            precision: of the numbers: `float32`, `float16`, or as sentence-transformers quantises `int8` and `binary`.
            processes: processes that encode, one for each GPU if there are GPUs.

        Returns:
            The number of `rows`, how many are `empty` or `cut` at its limit, and what is `wrong` with unreadable ones.

        Raises:
            InputError: the file cannot be read or has no text.
            ModelError: as `encode`; also if facets are wanted of an encoder that has none.
            FacetflowError: the output cannot be written, another process encodes to it, or a setting is wrong.
        """
        return internals.encode_file(
            self.model,
            self.folder,
            Path(path).expanduser(),
            Path(output).expanduser(),
            columns=(text,) if isinstance(text, str) else tuple(text),
            task=internals.task_of(self.folder, aspect),
            layout=self._require_layout() if facets else None,
            precision=precision,
            processes=require_whole(processes, "processes is the number of processes that encode"),
        )

    def facets_of(self, vectors: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the embeddings of sentences whose embeddings by the start model exist, without encoding them again.

        Args:
            vectors: embeddings by the model that the encoder was trained from, (d_start,) for a sentence, (n, d_start)
                for several.

        Returns:
            The given vectors, then their facets, as `encode` returns for these sentences, float32.

        Raises:
            InputError: the vectors have another number of dimensions, or numbers that are not finite.
            ModelError: the encoder is no map of its start model's embeddings.
        """
        return internals.facets_of(self.folder, self.model, self._layout, vectors)

    @overload
    def similarity(  # type: ignore[overload-overlap]
        self, a: str, b: str, facet: str | None = None, *, aspect: str | None = None
    ) -> float: ...
    @overload
    def similarity(
        self, a: Texts, b: str | Texts, facet: str | None = None, *, aspect: str | None = None
    ) -> NDArray[np.float64]: ...
    def similarity(
        self, a: str | Texts, b: str | Texts, facet: str | None = None, *, aspect: str | None = None
    ) -> float | NDArray[np.float64]:
        """Return the similarity of sentences: overall, or in one facet.

        Args:
            a: a sentence, or several.
            b: a sentence, or several. Two lists are compared pair by pair, a single sentence with each of a list.
            facet: name of a facet, or `residual` for the dimensions that belong to none; default: the whole embedding.
            aspect: the aspect in which they are compared, for an encoder that has a route for it or was trained for it;
                required if the encoder has routes.

        Returns:
            A cosine in [-1, 1], unless the encoder was trained with another similarity; for several sentences an array
            of float64, (n_pairs,).

        Raises:
            InputError: a sentence is not a string, or the lists differ in length.
            ModelError: the encoder was not trained for the aspect, or it has routes and no aspect was given.
            SettingsError: the encoder has no such facet.
        """
        between = internals.facet_dimensions(self._layout, facet)
        first, second, single = pair_up(a, b, "sentence")
        # Encode each text once: in a batch of other lengths its embedding differs in the last digits.
        position = {text: n for n, text in enumerate(dict.fromkeys([*first, *second]))}
        vectors = self.encode([*position], aspect=aspect)
        left, right = (vectors[[position[text] for text in side]] for side in (first, second))
        if self._layout is not None and facet in self._layout.names:
            values = self._layout.similarities(left, right)[:, self._layout.names.index(facet)]
        else:
            values = internals.cosines(left[:, between], right[:, between])
        values = np.minimum(values, 1.0)  # that of equal sentences may be a rounding above
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
        """Explain in which facets sentences agree and differ.

        Args:
            a: a sentence, several, or, without `b`, pairs of sentences.
            b: a sentence, or several, paired with `a` as in `similarity`.
            graphs: parse the sentences, and measure on their graphs what the facets predict; without graphs the
                explanation is the encoder's alone, which is faster.

        Returns:
            An explanation; for several pairs a list, one per pair.

        Raises:
            InputError: a sentence is empty or not a string, or the lists differ in length.
            ModelError: the encoder has no facets.
        """
        layout = self._require_layout()
        first, second, single = pair_sentences(a, b)
        readings = internals.explain_with(self.model, layout, list(zip(first, second, strict=True)))
        explanations = explain_readings(readings, internals.encoder_facts(self.folder).sentence, graphs=graphs)
        return explanations[0] if single else explanations

    def attribute(
        self, a: str, b: str, facet: str | None = None, *, aspect: str | None = None, inputs: bool = False
    ) -> internals.Attribution:
        """Divide the cosine of two sentences among the pairs of their words.

        The vector of a word has read its whole sentence: a share tells where the model reads the similarity, and not
        that the word alone would be as similar. For that there is `inputs`.

        Args:
            a: a sentence.
            b: another one.
            facet: name of a facet, or `residual`; default: the whole embedding.
            aspect: as in `similarity`.
            inputs: divide it among the words as they enter the encoder (integrated Jacobians, Moeller et al. 2024),
                approximately and a hundred times slower. The shares sum to the product of what the words of each
                sentence add to the embedding of one without words.

        Returns:
            `words_a`, `words_b` and `shares`, (n_words_a, n_words_b), whose sum is the cosine.

        Raises:
            InputError: a sentence is not a string.
            ModelError: the encoder pools by something else than a mean, compares facets by another similarity, or, for
                `inputs`, reads more than words.
            SettingsError: the encoder has no such facet.
        """
        if not (isinstance(a, str) and isinstance(b, str)):
            given = f"{type(a).__name__} and {type(b).__name__}"  # a table takes many lines to show
            raise NotTexts(f"two sentences are needed, each a string, and not {given}; call this for each pair")
        pair_up(a, b, "sentence")  # refuses half a character
        route, facet = internals.task_of(self.folder, aspect), internals.WHOLE if facet is None else facet
        return internals.attribute(self.model, self._layout, a, b, facet, route=route, inputs=inputs)

    def for_mteb(self, facet: str | None = None, *, aspect: str | None = None) -> MtebEncoder:
        """Return the encoder as a model of MTEB: `mteb.evaluate(encoder.for_mteb("srl"), task)`.

        Args:
            facet: name of a facet, or `residual`, to evaluate alone; default: the whole embedding.
            aspect: as in `encode`.

        Raises:
            ModelError: as `encode`.
            SettingsError: the encoder has no such facet.
        """
        internals.task_of(self.folder, aspect)  # before MTEB loads its data
        dimensions = internals.facet_dimensions(self._layout, facet)
        name = "-".join(part for part in (self.folder.name, facet, aspect) if part)
        return MtebEncoder(self, dimensions, aspect, f"facetflow/{name}")

    @overload
    def predict(  # type: ignore[overload-overlap]
        self, a: str, b: str, *, spans: bool = False, threshold: internals.GivenThreshold = None
    ) -> Prediction: ...
    @overload
    def predict(
        self, a: Texts, b: str | Texts, *, spans: bool = False, threshold: internals.GivenThreshold = None
    ) -> list[Prediction]: ...
    @overload
    def predict(
        self,
        a: Iterable[tuple[str, str]],
        b: None = None,
        *,
        spans: bool = False,
        threshold: internals.GivenThreshold = None,
    ) -> list[Prediction]: ...
    def predict(
        self,
        a: str | Texts | Iterable[tuple[str, str]],
        b: str | Texts | None = None,
        *,
        spans: bool = False,
        threshold: internals.GivenThreshold = None,
    ) -> Prediction | list[Prediction]:
        """Predict the label of sentence pairs with the classifier that was trained with the encoder.

        Args:
            a: a sentence, several, or, without `b`, pairs of sentences.
            b: a sentence, or several, paired with `a` as in `similarity`.
            spans: also return what the embeddings attend to, for an encoder that weighs predicate-argument spans.
            threshold: probability from which a pair gets the positive of two labels; `"dev"` for the one with the best
                F1 on the dev pairs of the training. By default the label is the most probable one.

        Returns:
            `label` and `probabilities` (label → probability) of two sentences; for several pairs a list, one per pair.
            With `spans` also `spans`: the words of both sentences, their weights and the frames.

        Raises:
            InputError: a sentence is empty or not a string, or the lists differ in length.
            ModelError: the encoder has no classifier, no spans, or no such threshold.
            SettingsError: the threshold is no probability.
        """
        predictor = self._predictor
        first, second, single = pair_sentences(a, b)
        pairs = [(normalise(one), normalise(other)) for one, other in zip(first, second, strict=True)]
        for number, pair in enumerate(pairs, start=1):
            if not all(pair):
                raise EmptyText(f"a sentence of pair {number} of {len(pairs)} is empty; leave the pair out")
        if spans:
            predictor.require_spans()
        predictions = predictor.predict(pairs, threshold=threshold).each(pairs)
        predictions = predictor.explain(predictions) if spans else predictions
        return predictions[0] if single else predictions

    @cached_property
    def _predictor(self) -> internals.PairPredictor:
        return internals.PairPredictor(self.folder, self.model)

    def _require_layout(self) -> internals.FacetLayout:
        if self._layout is None:
            raise CannotExplain(f"the encoder {str(self.folder)!r} has no facets; train one of kind s3bert")
        return self._layout

    def __repr__(self) -> str:
        facets = counted(len(self.facets), "facet") if self.facets else "no facets"
        return f"<encoder {str(self.folder)!r}: {self.dimension} dimensions, {facets}>"


def load_encoder(path: str | Path | None = None, *, device: str = "auto") -> Encoder:
    """Load an encoder from its folder, without contacting a hub.

    Args:
        path: folder of the encoder, or of the run that trained it, such as `runs/s3bert/current`, or a pulled model; by
            default the encoder that comes with facetflow, which needs all-MiniLM-L6-v2 (`facetflow models pull`).
        device: `auto`, `cpu`, `cuda` or `cuda:N`.

    Raises:
        ModelError: the folder holds no encoder or a damaged one, or sentence-transformers is not installed.
        SettingsError: there is no such device.
    """
    # Resolved: the link `current` may lead to another run tomorrow, and the working folder may change.
    folder = internals.named_encoder(None, str(BUNDLED_ENCODER if path is None else path)).resolve()
    layout = internals.FacetLayout.load(folder) if (folder / internals.FILE_NAME).is_file() else None
    return Encoder(folder, internals.load_encoder(folder, device=device), layout)
