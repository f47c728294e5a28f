"""Neighbours: pairs of sentences of one split that share telling words, beside those that the corpus names.

Pairs of a corpus are mostly alike, negatives mostly not; neighbours fill the range between. Measuring a pair costs a
tenth of what encoding a sentence costs, so each sentence is compared with several. Nearness is the cosine of TF-IDF
vectors (Manning et al. 2008, eq. 6.10), which needs no model: ingest stays a matter of seconds, and the same files give
the same pairs.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.core.types import SentenceId

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_WORD = re.compile(r"\w+")
_BLOCK = 512  # sentences whose similarities are computed at once
_FREQUENT = 0.02  # share of the sentences above which a word tells nothing; common words would be most of the work
_AT_LEAST = 50  # sentences that a word may always be in
_CANDIDATES = 4  # nearest sentences that are looked at for each neighbour, since some are a pair already


def draw_neighbours(
    texts: Mapping[SentenceId, str],
    wanted: Collection[SentenceId],
    paired: Set[tuple[SentenceId, SentenceId]],
    count: int,
) -> Iterator[tuple[SentenceId, SentenceId]]:
    """Draw the nearest sentences of each wanted one.

    Args:
        texts: all sentences of one split of one corpus.
        wanted: those of them that need neighbours.
        paired: sentences that are a pair already, in either order.
        count: neighbours of a sentence, at most; only sentences with a word in common are neighbours.

    Yields:
        Pairs that are not in `paired`, each once in one order: by the id of the wanted sentence, the nearest first.
    """
    ids = sorted(texts)
    vectors = _vectors([texts[sentence] for sentence in ids])
    taken: set[tuple[int, int]] = set()
    chosen = np.flatnonzero([sentence in wanted for sentence in ids])
    across = vectors.T.tocsr()
    for start in range(0, len(chosen), _BLOCK):
        block = chosen[start : start + _BLOCK]
        similar = (vectors[block] @ across).tocsr()
        for row, sentence in enumerate(block.tolist()):
            left = count
            for other in _nearest(similar, row, _CANDIDATES * (count + 1)):
                if not left:
                    break
                pair = (min(sentence, other), max(sentence, other))
                if (
                    other == sentence
                    or (ids[pair[0]], ids[pair[1]]) in paired
                    or (ids[pair[1]], ids[pair[0]]) in paired
                ):
                    continue
                left -= 1
                if pair not in taken:
                    taken.add(pair)
                    yield ids[sentence], ids[other]


def _vectors(texts: Sequence[str]) -> "csr_array":
    """Return the TF-IDF vectors of texts without their frequent words, each of length 1 or 0, (n_texts, n_words)."""
    from scipy.sparse import csr_array  # here, as `facetflow plan` mostly draws nothing

    words: dict[str, int] = {}
    rows, columns = [], []
    for row, text in enumerate(texts):
        here = {words.setdefault(word, len(words)) for word in _WORD.findall(text.casefold())}
        rows += [row] * len(here)
        columns += sorted(here)
    column = np.array(columns, dtype=np.int64)
    frequency = np.bincount(column, minlength=len(words))
    weight = np.log(len(texts) / np.maximum(frequency, 1))
    weight[frequency > max(_AT_LEAST, _FREQUENT * len(texts))] = 0.0
    vectors = csr_array((weight[column], (np.array(rows, dtype=np.int64), column)), shape=(len(texts), len(words)))
    vectors.eliminate_zeros()
    lengths = np.sqrt(vectors.multiply(vectors).sum(axis=1))
    vectors.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(vectors.indptr))
    return vectors


def _nearest(similar: "csr_array", row: int, count: int) -> list[int]:
    """Return the columns of the highest values of a row, the highest first; of equal ones, the first column first."""
    span = slice(similar.indptr[row], similar.indptr[row + 1])
    columns: NDArray[np.int32] = similar.indices[span]
    # Sums of the same products in another order differ in the last digits, and would decide between equal ones.
    values = np.round(similar.data[span], 9)
    if len(values) > count:
        high = np.flatnonzero(values >= np.partition(values, -count)[-count])
        columns, values = columns[high], values[high]
    ranked: list[int] = columns[np.lexsort((columns, -values))][:count].tolist()
    return ranked
