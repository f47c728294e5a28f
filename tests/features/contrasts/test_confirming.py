"""Exchanged arguments that graphs do not show are not taught."""

import pytest

from features.contrasts.drawing import Contrast, confirmed, triples
from features.graphs.graph import decode

ACTIVE, PASSIVE, SWAPPED = "The dog chased the cat.", "The cat was chased by the dog.", "The cat chased the dog."
EXCHANGED = "The dog was chased by the cat."
OF_THE_TRIPLE = [
    Contrast(ACTIVE, PASSIVE, "voice"),
    Contrast(ACTIVE, SWAPPED, "swap"),
    Contrast(PASSIVE, SWAPPED, "swap"),
    Contrast(PASSIVE, EXCHANGED, "swap"),
]
OTHERS = [
    Contrast(ACTIVE, "The dog did not chase the cat.", "negation"),
    Contrast("A man sits on a bench.", "A bench sits on a man.", "swap"),
    Contrast("Mary was seen by Ann.", "Ann saw Mary.", "voice"),
]
DOG_CHASES = decode("(c / chase-01 :ARG0 (d / dog) :ARG1 (k / cat))")
CAT_CHASES = decode("(c / chase-01 :ARG0 (k / cat) :ARG1 (d / dog))")


def test_a_triple_is_a_sentence_with_another_voice_and_exchanged_arguments():
    assert triples(OF_THE_TRIPLE + OTHERS) == [
        (ACTIVE, PASSIVE, SWAPPED),
        (PASSIVE, ACTIVE, SWAPPED),
        (PASSIVE, ACTIVE, EXCHANGED),
    ]


def test_what_the_graphs_show_stays():
    graphs = {ACTIVE: DOG_CHASES, PASSIVE: DOG_CHASES, SWAPPED: CAT_CHASES, EXCHANGED: CAT_CHASES}
    assert confirmed(OF_THE_TRIPLE + OTHERS, graphs) == OF_THE_TRIPLE + OTHERS


@pytest.mark.parametrize("wrong", [SWAPPED, EXCHANGED])
def test_an_exchange_that_is_not_shown_goes_alone(wrong):
    graphs = {ACTIVE: DOG_CHASES, PASSIVE: DOG_CHASES, SWAPPED: CAT_CHASES, EXCHANGED: CAT_CHASES, wrong: DOG_CHASES}
    assert confirmed(OF_THE_TRIPLE, graphs) == [pair for pair in OF_THE_TRIPLE if pair.sentence_b != wrong]


@pytest.mark.parametrize(
    "graphs",
    [
        {ACTIVE: DOG_CHASES, PASSIVE: CAT_CHASES, SWAPPED: DOG_CHASES, EXCHANGED: CAT_CHASES},
        {ACTIVE: DOG_CHASES, PASSIVE: DOG_CHASES, SWAPPED: DOG_CHASES, EXCHANGED: DOG_CHASES},
        {ACTIVE: DOG_CHASES, PASSIVE: DOG_CHASES},
        {},
    ],
    ids=["the contrary", "no difference", "not parsed", "nothing parsed"],
)
def test_what_they_do_not_show_goes_and_other_edits_stay(graphs):
    assert confirmed(OF_THE_TRIPLE + OTHERS, graphs) == OTHERS
