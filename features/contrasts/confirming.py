"""Which exchanged arguments the graphs show.

A dog chased two cats.    Two cats were chased by a dog.    srl 1.00   the roles are kept
                          Two cats chased a dog.            srl 0.67   and exchanged: all three are kept
"""

from collections.abc import Mapping, Sequence

import numpy as np

from features.contrasts.drawing import Contrast
from features.graphs.batch import GraphBatch
from features.graphs.graph import AmrGraph
from features.graphs.table import graphs_frame
from features.metrics.label_vectors import NO_VECTORS
from features.metrics.measurement import compare
from features.metrics.metric import Comparison


def triples(contrasts: Sequence[Contrast]) -> list[tuple[str, str, str]]:
    """Return each sentence that stands beside both: sentence, in the other voice, with exchanged arguments."""
    voices: dict[str, str] = {}
    for pair in contrasts:
        if pair.edit == "voice":
            voices |= {pair.sentence_a: pair.sentence_b, pair.sentence_b: pair.sentence_a}
    swaps = [pair for pair in contrasts if pair.edit == "swap" and pair.sentence_a in voices]
    return [(pair.sentence_a, voices[pair.sentence_a], pair.sentence_b) for pair in swaps]


def confirmed(contrasts: Sequence[Contrast], graphs: Mapping[str, AmrGraph]) -> list[Contrast]:
    """Leave out each exchange of arguments in whose graphs the other voice keeps no more roles than the exchange.

    Such a one would teach the contrary of what the edits say: the verb was read as a noun, or nobody believes that a
    wall climbs a man. A sentence that stands beside none of its exchanges any more goes with its other voice.

    Args:
        contrasts: pairs as `draw_contrasts` yields them.
        graphs: text → graph, for the sentences of `triples`; an exchange for which one is missing is left out.
    """
    drawn = triples(contrasts)
    compared = [triple for triple in drawn if all(text in graphs for text in triple)]
    positions = {
        text: position for position, text in enumerate(dict.fromkeys(text for triple in compared for text in triple))
    }
    shown: set[tuple[str, str]] = set()
    if compared:
        batch = GraphBatch.from_rows(graphs_frame(graphs[text] for text in positions))
        first, voiced, swapped = np.array([[positions[text] for text in triple] for triple in compared], np.int64).T
        kept, exchanged = (
            compare(Comparison(batch, first, second, NO_VECTORS), ["srl"])["srl"].to_numpy()
            for second in (voiced, swapped)
        )
        shown = {(compared[position][0], compared[position][2]) for position in np.flatnonzero(kept > exchanged)}
    hidden = {(text, swapped) for text, _, swapped in drawn} - shown
    asked, told = {text for text, _, _ in drawn}, {text for text, _ in shown}

    def stays(pair: Contrast) -> bool:
        if pair.edit == "voice":
            return asked.isdisjoint(pair[:2]) or not told.isdisjoint(pair[:2])
        return pair.edit != "swap" or pair[:2] not in hidden

    return [pair for pair in contrasts if stays(pair)]
