"""Which words make two sentences similar: the cosine, overall or of a facet, as a sum over pairs of words.

Where a sentence embedding is the mean of its tokens' vectors, followed by linear layers at most, both numbers are sums:

    v = Σᵢ vᵢ,   w = Σⱼ wⱼ      cos(v, w) = Σᵢ Σⱼ  vᵢ·wⱼ / (|v| |w|)

with v, w cut to the dimensions of the facet, and the shares of a word's tokens added up. The vector of a token comes
from the last layer and has read the whole sentence: a share is what the model reads at that word, not what the word
alone means.

Shares of words as they enter the encoder are approximate (Moeller et al. 2024, integrated Jacobians): with x the word
embeddings of a sentence, x₀ those of one without words, Δx their difference, and e the embedding, of length 1,

    (e(a) - e(a₀)) · (e(b) - e(b₀)) = Σᵢ Σⱼ (J(a) Δaᵢ) · (J(b) Δbⱼ),      J(x) = ∫ ∂e(x₀ + t Δx) dt over t in [0, 1]
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from features.core.faults import CannotExplain
from features.sentences import normalise
from training.encoders.s3bert.facets import WHOLE, FacetLayout, facet_dimensions
from training.similarity import TINY

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

_STEPS = 20  # of the integral, whose error is then some hundredths
_AT_ONCE = 20_000  # tokens of a sentence by derivatives by steps


@dataclass(frozen=True, slots=True)
class Attribution:
    """A similarity of two sentences, divided among the pairs of their words."""

    facet: str  # what is similar: a facet, `residual`, or `sentence` for the whole
    # the words of the first sentence as its tokenizer separates them, with marks such as `[CLS]`, and with its prompt,
    # if the encoder puts one before each sentence, as one mark
    words_a: tuple[str, ...]
    words_b: tuple[str, ...]  # those of the second sentence
    # share of each pair of words, (n_words_a, n_words_b), float64; some are negative. They sum to the cosine, or for
    # words as they enter the encoder to the product of what these add to a sentence without words
    shares: NDArray[np.float64]

    @property
    def similarity(self) -> float:
        """What the shares sum to: the cosine, unless they are of words as they enter the encoder."""
        return float(self.shares.sum())

    @property
    def of_a(self) -> NDArray[np.float64]:
        """Share of each word of the first sentence, (n_words_a,)."""
        return np.asarray(self.shares.sum(axis=1))

    @property
    def of_b(self) -> NDArray[np.float64]:
        """Share of each word of the second sentence, (n_words_b,)."""
        return np.asarray(self.shares.sum(axis=0))

    def as_json(self) -> dict[str, Any]:
        """Return the fields, the shares as nested lists, rounded to 6 decimals."""
        shares = self.shares.round(6).tolist()
        return {"facet": self.facet, "words_a": self.words_a, "words_b": self.words_b, "shares": shares}

    def strongest(self, count: int) -> list[tuple[str, str, float]]:
        """Return the `count` pairs of words with the largest absolute shares: word a, word b, share."""
        order = np.argsort(-np.abs(self.shares), axis=None, kind="stable")[:count]
        rows, columns = np.unravel_index(order, self.shares.shape)
        return [
            (self.words_a[row], self.words_b[column], float(self.shares[row, column]))
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        ]


def attribute(
    model: "SentenceTransformer",
    layout: FacetLayout | None,
    a: str,
    b: str,
    facet: str = WHOLE,
    *,
    route: str | None = None,
    inputs: bool = False,
) -> Attribution:
    """Divide a similarity of two sentences among the pairs of their words, for an encoder that pools by a mean.

    Words are what the encoder has read at each, or, with `inputs`, what each is before anything is read.
    """
    dimensions = slice(None, model.truncate_dim) if facet == WHOLE else facet_dimensions(layout, facet)
    prompt = model.prompts.get(model.default_prompt_name or "") or ""  # `encode` puts it before each
    if layout is not None and layout.similarity != "cosine" and facet in layout.names:
        raise CannotExplain("this encoder compares facets by their L1 distance, which is no sum over pairs of words")
    of_tokens = _input_vectors if inputs else _token_vectors
    model.eval()  # as `encode` does: a training leaves dropout on
    (words_a, left), (words_b, right) = (
        _by_word(model, prompt, text, of_tokens(model, text, route, dimensions))
        for text in (f"{prompt}{normalise(side)}" for side in (a, b))
    )
    norm = 1.0 if inputs else np.linalg.norm(left.sum(axis=0)) * np.linalg.norm(right.sum(axis=0))
    return Attribution(facet, words_a, words_b, left @ right.T / max(float(norm), TINY))


def _by_word(
    model: "SentenceTransformer", prompt: str, text: str, of_tokens: "torch.Tensor"
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the words of a sentence and the sum of the vectors of each word's tokens, (n_words, d)."""
    tokens = of_tokens.double().cpu().numpy()
    names, numbers = _words(model, prompt, text, len(tokens))
    vectors = np.zeros((len(names), tokens.shape[1]))
    np.add.at(vectors, numbers, tokens)
    return names, vectors


def _token_vectors(model: "SentenceTransformer", text: str, route: str | None, dimensions: slice) -> "torch.Tensor":
    """Return the vectors of a sentence's tokens whose mean is its embedding, up to the norm, (n_tokens, d)."""
    import torch
    from sentence_transformers.util import batch_to_device

    before, after = _around_pooling(model, route)
    with torch.no_grad():
        features: Any = batch_to_device(model.preprocess([text]), model.device)
        for module in before:
            features = module(features)
        return after(features["token_embeddings"][0][features["attention_mask"][0].bool()])[:, dimensions]


def _input_vectors(model: "SentenceTransformer", text: str, route: str | None, dimensions: slice) -> "torch.Tensor":
    """Return what each token, as it enters the encoder, adds to the embedding of length 1, (n_tokens, d)."""
    import torch
    from sentence_transformers.util import batch_to_device
    from torch.func import jvp, vmap
    from torch.nn.attention import SDPBackend, sdpa_kernel

    before, after = _around_pooling(model, route)
    transformer: Any = model.transformers_model
    if len(before) > 1 or transformer is None:
        raise CannotExplain(
            "this encoder reads more than words, so they have no shares as inputs: leave out that they are inputs"
        )
    features: Any = batch_to_device(model.preprocess([text]), model.device)
    ids = features["input_ids"][0]
    words = [word is not None for word in model.tokenizer(text, truncation=True, max_length=len(ids)).word_ids()]
    without = torch.where(torch.tensor(words, device=ids.device), model.tokenizer.pad_token_id, ids)

    def embed(tokens: torch.Tensor) -> torch.Tensor:
        vector = after(transformer(inputs_embeds=tokens[None]).last_hidden_state[0]).mean(dim=0)[dimensions]
        return torch.nn.functional.normalize(vector, dim=0)

    with _frozen(model), sdpa_kernel(SDPBackend.MATH):  # the others have no forward derivative
        start, end = (transformer.get_input_embeddings()(each) for each in (without, ids))
        each = torch.diag_embed((end - start).T).permute(1, 2, 0)  # (n_tokens, n_tokens, h): one token after the other
        steps = (torch.arange(_STEPS, device=ids.device) + 0.5) / _STEPS

        def at(step: torch.Tensor) -> torch.Tensor:
            at_step = start + step * (end - start)
            moved: torch.Tensor = vmap(lambda direction: jvp(embed, (at_step,), (direction,))[1])(each)
            return moved

        vectors: torch.Tensor = vmap(at, chunk_size=max(1, _AT_ONCE // len(ids) ** 2))(steps).mean(dim=0)
        return vectors


@contextmanager
def _frozen(model: "SentenceTransformer") -> Iterator[None]:
    """Keep no gradients for weights, while gradients stay switched on: without them layers may have no derivative."""
    import torch

    learning = [weight for weight in model.parameters() if weight.requires_grad]
    try:
        for weight in learning:
            weight.requires_grad = False
        with torch.enable_grad():
            yield
    finally:
        for weight in learning:
            weight.requires_grad = True


def _around_pooling(
    model: "SentenceTransformer", route: str | None
) -> tuple[list[Any], Callable[["torch.Tensor"], "torch.Tensor"]]:
    """Return the modules before the pooling, and what those after it make of the vectors of tokens."""
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Router
    from torch.nn import Identity

    modules: list[Any] = []
    for module in model:
        modules += cast("Any", module.sub_modules)[route] if isinstance(module, Router) else [module]
    kinds = [type(module) for module in modules]
    pooled = kinds.index(Pooling) if Pooling in kinds else len(kinds)
    if pooled == len(kinds) or modules[pooled].pooling_mode not in {"mean", ("mean",)}:
        raise CannotExplain(
            "words have shares only where an embedding is the mean of its tokens, and this encoder pools otherwise: "
            "leave the words out, or use an encoder of kind s3bert"
        )
    for module in modules[pooled + 1 :]:
        linear = isinstance(module, Dense) and isinstance(module.activation_function, Identity)
        if not linear and not isinstance(module, Normalize):
            raise CannotExplain(f"words have no shares: {type(module).__name__} follows the pooling and is not linear")

    def after(vectors: "torch.Tensor") -> "torch.Tensor":
        for module in modules[pooled + 1 :]:  # a bias is the same for all tokens, so their mean has it once
            linear = isinstance(module, Dense)
            vectors = module.linear(vectors) if linear else vectors / vectors.mean(dim=0).norm()
        return vectors

    return modules[:pooled], after


def _words(model: "SentenceTransformer", prompt: str, text: str, n_tokens: int) -> tuple[tuple[str, ...], list[int]]:
    """Return the words and marks of a sentence, among them its prompt, and the number of the word of each token."""
    encoded = model.tokenizer(text, return_offsets_mapping=True, truncation=True, max_length=n_tokens)
    names: list[str] = []
    numbers: list[int] = []
    last: int | None = None
    for word, (start, end), token in zip(encoded.word_ids(), encoded["offset_mapping"], encoded.tokens(), strict=True):
        if word is None:
            names.append(token)
        elif end <= len(prompt):  # one mark: its words are not the user's
            names += [] if prompt.strip() in names else [prompt.strip()]
        elif word != last:
            names.append(text[start:end])
        else:
            names[-1] += text[start:end]
        last = word
        numbers.append(len(names) - 1)
    return tuple(names), numbers
