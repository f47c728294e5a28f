"""A sentence in another language is recognised by its commonest words; English ones are left alone."""

from importlib.resources import files

import polars as pl
import pytest

from features.parsers.language import other_language, tell_languages

FOREIGN = """
Der Hund schläft auf dem Sofa.|Die Katze schläft.|Ich habe keine Zeit.|Eine Frau schneidet Tomaten.
Le chat dort sur le canapé.|Je ne sais pas.|El perro come carne.|¿Dónde está la biblioteca?|Il gatto mangia il pesce.
Ele não gosta de café.|De hond slaapt op de bank.|Jag vet inte.|Hvor er toget?|Nevím, kde je.|Nem tudom, hogy hol van.
Minä en tiedä, missä se on.|Nu știu unde este.|Saya tidak tahu.
"""


@pytest.mark.parametrize("text", FOREIGN.strip().replace("\n", "|").split("|"))
def test_other_languages_are_recognised(text):
    assert other_language(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [("Il gatto dorme.", "French or Italian"), ("Un homme joue de la guitare.", "another language")],
)
def test_where_two_languages_are_as_likely_both_are_named_and_of_more_none(text, language):
    assert other_language(text) == language


def test_every_sentence_of_the_example_is_english():
    pairs = pl.read_csv((files("features.corpora.example") / "pairs.tsv").read_bytes(), separator="\t", quote_char=None)
    assert not [text for side in "ab" for text in pairs[f"sentence_{side}"] if other_language(text)]


@pytest.mark.parametrize(
    "text",
    [
        "El Greco died in Toledo.",
        "Beyoncé will die.",
        "Ten ships sank.",
        "Ben likes apples.",
        "Los Angeles police arrest man",
        "Al Gore wins debate",
        "Angela Merkel",
        "Two men boxing",
        "Prince Charles met Queen Silvia.",
        "Iran war ends",
        "EU extends sanctions",
        "",
        "9:30",
        "cat",
    ],
)
def test_names_and_loan_words_do_not_make_a_sentence_foreign(text):
    assert other_language(text) is None


def test_sentences_are_counted_once_and_named():
    assert tell_languages(["A cat sleeps.", "It rains."]) is None
    assert tell_languages(["Ich habe keine Zeit.", "Ich habe keine Zeit."]).startswith("One sentence seems not to be")
    told = tell_languages(["A cat sleeps.", "Ich habe keine Zeit.", "Je ne sais pas."])
    assert told.startswith("2 of 3 sentences seem not to be English (German, French: 'Ich habe keine Zeit.')")


def test_a_sentence_in_another_script_is_told_and_one_without_letters_is_not():
    assert [other_language(text) for text in ("狗在叫。", "Собака спит.", "9:30 🔥")] == ["another script"] * 2 + [None]
