from itertools import pairwise

import numpy as np
import pytest

from features.graphs.graph import decode
from features.parsers.embedded.nodes import FlatGraph
from features.parsers.embedded.vocabulary import Vocabulary, realise
from features.parsers.embedded.words import split_words
from training.parsers.amr.alignment import CONFIDENT, Alignment, learn_translations, likeness
from training.parsers.amr.corpus import Sentence, flatten
from training.parsers.amr.targets import anchor, count_vocabulary, make_target


def sentence(text: str, penman: str) -> Sentence:
    return Sentence(text, split_words(text), flatten(decode(penman)), penman, 1.0)


CITY = sentence(
    "On 12 May the doctor didn't see New York's 3 million boys.",
    """(s / see-01 :polarity -
          :ARG0 (p / person :ARG0-of (h / have-org-role-91 :ARG2 (d / doctor)))
          :ARG1 (b / boy :quant 3000000 :mod (c / city :wiki "x" :name (n / name :op1 "New" :op2 "York")))
          :time (e / date-entity :month 5 :day 12))""",
)


def words_of(example: Sentence, alignment: Alignment) -> dict[str, str]:
    spelling = [word.text for word in example.words]
    return {label: spelling[word] for label, word in zip(example.graph.nodes, alignment.word, strict=True)}


def test_flattening_folds_names_and_turns_roles_round():
    graph = flatten(decode('(b / boy :ARG0-of (s / see-01 :domain-of (x / x)) :name (n / name :op2 "B" :op1 "A"))'))
    assert graph == FlatGraph(["boy", "see-01", "x", "@A B"], [(1, "ARG0", 0), (1, "mod", 2), (0, "name", 3)], 0)


def test_roles_that_only_look_inverse_stay():
    assert flatten(decode("(r / ring :consist-of (g / gold))")).edges == [(0, "consist-of", 1)]


def test_nodes_are_put_on_the_words_that_say_them():
    (evidence,) = learn_translations([CITY])
    placed = words_of(CITY, Alignment(CITY.graph, CITY.words, evidence))
    assert placed["see-01"] == "see"
    assert placed["boy"] == "boys"
    assert placed["doctor"] == "doctor"
    assert placed["@New York"] == placed["city"] == "New"
    assert placed["=3000000"] == "3"
    assert placed["=12"] == "12"
    assert placed["=5"] == placed["date-entity"] == "May"


def test_a_hyphen_is_no_negation():
    penman = "(k / know-01 :polarity - :ARG1 (s / song :mod (w / well)))"
    sentences = [
        sentence(f"The {text} is not known.", penman) for text in ("well - known song", "song", "old song")
    ] * 4
    evidence = learn_translations(sentences)
    assert words_of(sentences[0], Alignment(sentences[0].graph, sentences[0].words, evidence[0]))["=-"] == "not"


def test_a_word_that_spells_one_node_is_left_to_it():
    """Headlines say "killed" where others say "people killed"; both have a person in their graph."""
    sentences = [
        sentence(text, f"(k / kill-01 :ARG1 (v / {victim} :quant {number}))")
        for number in range(20, 32)
        for victim, text in [
            ("person", f"{number} killed"),
            ("person", f"{number} people were killed"),
            *((animal, f"{number} {animal}s were killed") for animal in ("dog", "cat", "cow", "hen")),
        ]
    ]
    evidence = learn_translations(sentences)
    placed = [
        words_of(item, Alignment(item.graph, item.words, known))
        for item, known in zip(sentences, evidence, strict=True)
    ]
    assert (placed[0]["person"], placed[1]["person"]) == ("killed", "people")


def test_translations_are_learnt_where_letters_do_not_help():
    sentences = [
        sentence(f"She {verb}s not.", f"(v / {frame} :polarity - :ARG0 (s / she))")
        for verb, frame in [("run", "run-02"), ("sing", "sing-01"), ("sleep", "sleep-01"), ("work", "work-01")] * 3
    ] + [sentence("She runs.", "(v / run-02 :ARG0 (s / she))")] * 4
    evidence = learn_translations(sentences)
    placed = words_of(sentences[0], Alignment(sentences[0].graph, sentences[0].words, evidence[0]))
    assert placed["=-"] == "not"


def make(examples: list[Sentence]) -> tuple[Vocabulary, list[list[str]]]:
    evidence = learn_translations(examples)
    anchored = [
        anchor(example, Alignment(example.graph, example.words, known), known)
        for example, known in zip(examples, evidence, strict=True)
    ]
    vocabulary = count_vocabulary(anchored, {})
    realised = []
    for example, words in zip(anchored, examples, strict=True):
        target = make_target(example, vocabulary)
        primaries, senses, wrappers = target.labels.T.tolist()
        scores = 100 * np.eye(len(vocabulary.senses), dtype=np.float32)[senses]
        slots, labels = realise(words.text, words.words, primaries, wrappers, scores, vocabulary)
        assert [(slot.word, slot.place) for slot in slots] == [(word, place) for word, place, _ in target.nodes]
        assert all(first < second for first, second in pairwise(slots))
        realised.append(labels)
    return vocabulary, realised


def test_the_labels_say_the_whole_graph():
    _, realised = make([CITY] * 9)
    assert sorted(realised[0]) == sorted(CITY.graph.nodes)


def test_what_is_too_rare_for_a_label_is_left_out_or_copied():
    rare = sentence("A glorp!", "(w / wuzzle-03 :mod (x / strange-thing) :mode expressive)")
    vocabulary, realised = make([*[CITY] * 9, rare])
    assert "wuzzle" not in vocabulary.primaries
    assert "strange-thing" not in realised[-1]


@pytest.mark.parametrize(
    ("word", "label", "alike"),
    [
        ("boys", "boy", True),
        ("running", "run-02", True),
        ("development", "develop-02", True),
        ("cat", "case-04", False),
        ("may", "date-entity", False),
        ("up", "look-up-05", False),
        ("new", "@New York", False),
    ],
)
def test_likeness(word, label, alike):
    assert (likeness(word, label) >= CONFIDENT) == alike
