"""Edits of sentences: what each makes of real trees, when it makes nothing, and that draws are reproducible."""

import random

import pytest

from features.contrasts.drawing import draw_contrasts
from features.contrasts.edits import EDITS, actor, name_slot, voice
from features.contrasts.tree import Tree, verb_form
from features.core.errors import ModelError

EDITED = [
    ("swap", "The dog chased two cats.", "Two cats chased the dog."),
    ("swap", "He thanked the nurse.", "The nurse thanked him."),
    ("swap", "A man is sitting on a bench.", "A bench is sitting on a man."),
    ("swap", "The letter was written by Mary Smith", "Mary Smith was written by the letter"),
    ("swap", "We'll meet her.", "She'll meet us."),
    ("swap", "The dogs are chasing a cat.", None),  # the verb would not agree
    ("swap", "The dog was chasing two cats.", None),
    ("swap", "I see the dogs.", "The dogs see me."),
    ("swap", "Who chased the cat?", None),
    ("swap", "The dog sleeps.", None),
    ("swap", "The dog chased the cat quickly that was old.", None),  # the object is in two places
    ("swap", "In the park a man sits on a bench.", "In the park a bench sits on a man."),
    ("swap", "The boy, the girl saw the dog.", None),
    ("patient", "The boy rides a horse near the lake.", "The boy rides a tall nurse near the lake."),
    ("patient", "The boys ride a horse.", "The boys ride two dogs."),
    ("patient", "A nurse helps the boy.", None),  # the only other who acts is a nurse, too
    ("patient", "The boy sleeps.", None),
    ("voice", "A man is playing a guitar.", "A guitar is being played by a man."),
    ("voice", "The cat chased two mice.", "Two mice were chased by the cat."),
    ("voice", "A guitar is being played by two men.", "Two men are playing a guitar."),
    ("voice", "She wrote the letter.", "The letter was written by her."),
    ("voice", "The letter was written by Mary Smith.", "Mary Smith wrote the letter."),
    ("voice", "The doctor may help the patient.", "The patient may be helped by the doctor."),
    ("voice", "Two dogs chased me.", "I was chased by two dogs."),
    ("voice", "The cats are chasing me.", "I am being chased by the cats."),
    ("voice", "A dog chased you.", "You were chased by a dog."),
    ("voice", "He is seen by the police.", "The police see him."),
    ("voice", "A cat has been chased by the dogs.", "The dogs have chased a cat."),
    ("voice", "The cats were being chased by the dog.", "The dog was chasing the cats."),
    ("voice", "The U.S. attacked the ship.", "The ship was attacked by the U.S."),
    ("voice", "The ship was attacked by the U.S.", "The U.S. attacked the ship."),
    ("voice", "He left the U.S...", "The U.S was left by him..."),
    ("voice", "The dog chased the cat and slept.", None),  # the cat did not sleep
    ("voice", "The cat was chased by the dog and slept.", None),
    ("voice", "The cat slept.", None),
    ("voice", "A mouse chased the dog and the cat.", "The dog and the cat were chased by a mouse."),
    ("negation", "The cat is sleeping.", "The cat is not sleeping."),
    ("negation", "The cat slept on the sofa.", "The cat did not sleep on the sofa."),
    ("negation", "A boy does not like the teacher.", "A boy likes the teacher."),
    ("negation", "The boy never eats meat.", "The boy eats meat."),
    ("negation", "Is the dog barking?", None),
    ("negation", "Two dogs running.", None),
    ("negation", "The dog barking loudly.", None),
    ("negation", "To catch the thief.", None),
    ("negation", "We'll meet her.", None),
    ("negation", "The dog can't swim.", "The dog can swim."),
    ("negation", "The dog isn't barking.", "The dog is barking."),
    ("negation", "The dog ain't barking.", None),
    ("negation", "A man playing a guitar", "A man not playing a guitar"),
    ("negation", "Not every bird can fly.", "Every bird can fly."),
    ("negation", '"Not every bird can fly."', '"Every bird can fly."'),
    ("negation", "Not knowing the way, he walked home.", "Not knowing the way, he did not walk home."),
    ("negation", "The dogs bit the man.", "The dogs did not bite the man."),  # which the parser calls a present
    ("voice", "The dogs bit the man.", "The man was bitten by the dogs."),
    ("negation", "I've a dog.", None),
    ("negation", "The children e-mailed the teacher.", None),
    ("quantifier", "Every student sleeps.", "No student sleeps."),
    ("quantifier", "A dog barks.", "No dog barks."),
    ("quantifier", "A dog was seen.", "No dog was seen."),
    ("quantifier", "A man and a woman are dancing.", None),
    ("quantifier", "No dog barks.", "Every dog barks."),
    ("quantifier", "No dogs bark.", "All dogs bark."),
    ("quantifier", "Many people sleep.", "Few people sleep."),
    ("quantifier", "The people look at each other.", None),
    ("quantifier", "A few people sleep.", None),  # not: no few
    ("quantifier", "Many a man sleeps.", None),
    ("quantifier", "Not every student sleeps.", None),
    ("quantifier", "There are no dogs here.", "There are some dogs here."),
    ("number", "One dog barks.", None),
    ("number", "2 boys chose plan A", "20 boys chose plan A"),
    ("number", "1 dog barks.", None),
    ("number", "He has 1000 dogs.", None),
    ("number", "He left on May 12.", None),
    ("number", "They built a two-story house.", None),  # a eight-story
    ("name", "The meeting is on Monday.", None),
    ("name", "He lives in D.C.", None),
    ("voice", "A boy is riding a bike.", "A bike is being ridden by a boy."),  # the parser's lemma is "rid"
    ("voice", "The European Union fined Google.", "Google was fined by the European Union."),
    ("voice", "10 boys were seen by the girl.", "The girl saw 10 boys."),
    ("voice", "yesterday, the man bought a car.", "yesterday, a car was bought by the man."),
    ("voice", '"The dog chased the cat."', '"The cat was chased by the dog."'),
    ("voice", "THE DOG CHASED THE CAT.", "THE CAT WAS CHASED BY THE DOG."),
    ("voice", "John, the baker, kissed Mary.", "Mary was kissed by John, the baker."),
    ("voice", "T cells need help.", "Help is needed by T cells."),
    ("voice", "He took his hat off.", None),
    ("voice", "They elected him president.", None),
    ("voice", "He hardly eats meat.", None),
    ("voice", "The book costs ten dollars.", None),
    ("swap", "The woman saw herself.", None),
    ("swap", "You are chasing me.", None),
    ("swap", "A group of girls are enjoying a parade.", None),
    ("negation", "The dog isn't a cat.", "The dog is a cat."),
    ("negation", "It does not.", "It does."),
    ("negation", "THE BOY DOES NOT LIKE THE TEACHER.", "THE BOY LIKES THE TEACHER."),
    ("negation", "The boy didn’t eat.", "The boy ate."),  # which the parser does not call a negation
    ("negation", "They won’t help.", "They will help."),
    ("negation", "The dog wasn’t seen by us.", "The dog was seen by us."),
    ("negation", "He hates the dog.", "He does not hate the dog."),
    ("negation", "A duck being held by a girl.", "A duck not being held by a girl."),
    ("negation", "The thief got arrested by the police.", None),
    ("negation", '"I hate this movie," said the critic.', None),
    ("negation", "Nobody likes him.", None),
    ("negation", "She does not have any money.", None),
]


@pytest.fixture(scope="module")
def parse():
    """Return a function that parses sentences into trees."""
    from features.parsers.dependencies import load
    from features.parsers.settings import DependencySettings

    try:
        parser = load(DependencySettings())
    except ModelError:
        pytest.skip("needs en_core_web_md: facetflow models pull en_core_web_md")
    return lambda texts: [Tree.of(text, row) for text, row in zip(texts, parser.parse(list(texts)), strict=True)]


NAMES = {
    "nsubj": ["Ann", "Bob"],
    "in pobj": ["Berlin", "Paris"],
    "on pobj": ["Quora"],
    "one actor": ["a tall nurse"],
    "several actors": ["two dogs"],
}


@pytest.mark.parametrize(("edit", "text", "edited"), EDITED)
def test_an_edit_changes_one_point(parse, edit, text, edited):
    assert EDITS[edit](*parse([text]), NAMES) == edited


def test_numbers_and_names_are_replaced_by_others(parse):
    (tree,) = parse(["Ann saw three dogs in Paris."])
    name, number = (EDITS[edit](tree, NAMES) for edit in ("name", "number"))
    assert name == "Bob saw three dogs in Paris."
    start, end = "Ann saw ", " dogs in Paris."
    assert number.startswith(start)
    assert number.endswith(end)
    assert number[len(start) : -len(end)] in {
        "two",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    }


def test_a_name_of_several_words_keeps_its_place(parse):
    (tree,) = parse(["Mary Smith lives in the Paris of the East."])
    assert {name_slot(tree, position) for position in range(len(tree))} == {""}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The very old tall nurse saw Paris.", "the very old tall nurse"),
        ("The very old but tall nurse saw Paris.", None),
        ("Ann saw Paris.", None),
        ("No man ate soup.", None),
        ("THE NURSE SAW PARIS.", None),
    ],
)
def test_who_acts_is_a_noun_with_few_words(parse, text, words):
    assert actor(*parse([text])) == (words and ("one actor", words))


@pytest.mark.parametrize(
    ("lemma", "tag", "form"),
    [
        ("ride", "VBN", "ridden"),
        ("pet", "VBG", "petting"),
        ("catch", "VBD", "caught"),
        ("go", "VBZ", "goes"),
        ("carry", "VBD", "carried"),
        ("skateboard", "VBN", "skateboarded"),
        ("run", "VBP", "run"),
    ],
)
def test_forms_of_verbs(lemma, tag, form):
    assert verb_form(lemma, tag) == form


def test_the_same_sentences_give_the_same_pairs_in_any_order(parse):
    texts = [
        f"A {a} chased {n} {b} in {c}."
        for a in ("dog", "boy")
        for n in ("the two", "three")
        for b in ("cats", "girls")
        for c in ("Rome", "Oslo")
    ]
    trees = parse(texts)
    drawn = list(draw_contrasts(trees, 3))
    random.Random(0).shuffle(trees)
    assert list(draw_contrasts(trees, 3)) == drawn
    counts = {edit: sum(pair.edit == edit and pair.sentence_a in texts for pair in drawn) for edit in EDITS}
    assert counts == dict.fromkeys(EDITS, 3)
    assert all(pair.sentence_a != pair.sentence_b for pair in drawn)


def test_who_acts_in_one_sentence_is_acted_upon_in_another(parse):
    trees = parse(["The dog chased a cat.", "A nurse saw Paris.", "Two boys, a girl and the man next door ate soup."])
    pairs = [pair[:2] for pair in draw_contrasts(trees, edits=["patient"])]
    assert pairs == [
        ("The dog chased a cat.", "The dog chased a nurse."),
        ("A nurse saw Paris.", "A nurse saw the dog."),
    ]


def test_the_same_words_are_drawn_in_every_process(parse):
    trees = parse(
        [f"The {noun} saw a horse." for noun in ("nurse", "boy", "girl", "dog", "cat", "man", "woman", "teacher")]
    )
    assert [pair.sentence_b for pair in draw_contrasts(trees, edits=["patient"])] == [
        f"The {a} saw the {b}."
        for a, b in (
            ("girl", "teacher"),
            ("dog", "man"),
            ("boy", "nurse"),
            ("nurse", "boy"),
            ("teacher", "cat"),
            ("cat", "boy"),
            ("woman", "nurse"),
            ("man", "dog"),
        )
    ]


def test_two_sentences_and_equal_arguments_are_left_alone(parse):
    trees = parse(["The dog chased the cat. The boy slept.", "The dog chased the dog."])
    assert list(draw_contrasts(trees, edits=["swap"])) == []


def test_both_voices_stand_beside_swapped_arguments(parse):
    # Of the two that can be swapped the one without another voice is drawn first, and edited last.
    trees = parse(["The dog chased the cat.", "The cat was chased.", "The boy is sitting on a bench."])
    pairs = {(pair.sentence_a, pair.sentence_b) for pair in draw_contrasts(trees, 1) if pair.edit == "swap"}
    active, passive, swapped = "The dog chased the cat.", "The cat was chased by the dog.", "The cat chased the dog."
    assert pairs == {(active, swapped), (passive, swapped), (passive, "The dog was chased by the cat.")}


@pytest.mark.parametrize(
    ("text", "exchanged"),
    [
        ("The dog chased two cats.", "The dog was chased by two cats."),
        ("He is seeing the cats.", "He is being seen by the cats."),
        ("Two letters were written by Mary.", "Two letters wrote Mary."),
        ("The cat is seen by him.", "The cat sees him."),
        ("Mary slept.", None),
    ],
)
def test_the_other_voice_with_arguments_exchanged(parse, text, exchanged):
    assert voice(*parse([text]), exchanged=True) == exchanged
