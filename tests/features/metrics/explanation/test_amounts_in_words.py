"""Amounts and times in words: 6:30 is half past six, and another amount is told with all that stands in its place."""

import pytest

from features.graphs.graph import decode
from features.metrics.explanation.comparing import REMARKS
from features.metrics.explanation.pair import explain_graphs
from features.metrics.explanation.words import describe
from tests.features.metrics.explanation.test_words import told


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("It left at half past six.", "It left at 6:30."),
        ("It left at a quarter to one.", "It left at 12:45."),
        ("It leaves at 8 a.m. every day.", "It leaves at 8:00 every day."),
        ("It left at noon.", "It left at 12 p.m."),
        ("It left at 7A.M.", "It left at 7 a.m."),
        ("It left on March 4, 2024.", "It left on 2024-03-04."),
        ("It left on the 4th of Sept. 2024.", "It left on 4 September, 2024."),
        ("It lasted an hour and a half.", "It lasted 90 minutes."),
        ("It lasted two hours and a quarter.", "It lasted 135 minutes."),
        ("It lasted three quarters of an hour.", "It lasted 45 minutes."),
        ("It lasted four minutes.", "It lasted 240 seconds."),
        ("A second try lasted an hour.", "A second try lasted 60 minutes."),
        ("It lasted half a day.", "It lasted 12 hours."),
        ("It lasted a decade.", "It lasted ten years."),
        ("A week later he left.", "Seven days later he left."),
        ("One boy left a day later.", "A boy left one day later."),
        ("A three-day trip ended.", "A 3-day trip ended."),
        ("About a hundred and fifty boys left.", "About 150 boys left."),
        ("A hundred and twelve boys left.", "112 boys left."),
        ("Up to 50 boys left.", "At most 50 boys left."),
        ("Up to 50 boys left.", "As many as 50 boys left."),
        ("Up to one hundred boys and nearly two thousand girls left.", "Up to 100 boys and nearly 2,000 girls left."),
        ("Fifty-thousand boys left.", "50,000 boys left."),
        ("Seventy-five-thousand boys left.", "75,000 boys left."),
        ("Two dozen boys ate half a dozen eggs.", "24 boys ate six eggs."),
        ("He called twice.", "He called two times."),
        ("It weighs 1.5e3 g.", "It weighs 1500 g."),
        ("One in five boys left.", "20% of boys left."),
        ("One in twenty boys left.", "1 in 20 boys left."),
        ("One in a hundred boys left.", "One in 100 boys left."),
        ("One in ten thousand boys left.", "1 in 10,000 boys left."),
        ("Three in four boys left.", "75% of boys left."),
        ("It cost US$3 million.", "It cost $3 million."),
        ("Two thousand million boys left.", "2 billion boys left."),
        ("It was built in the sixties.", "It was built in the 1960s."),
        ("It was built in the 1960s.", "It was built in the 1960’s."),
    ],
)
def test_amounts_and_times_in_other_words_are_the_same(a, b):
    assert {found.aspect for found in told(a, b).differences} <= REMARKS


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("It left at half past six.", "It left at 6:45."),
        ("It lasted an hour and a half.", "It lasted an hour and a quarter."),
        ("It costs $10 an hour.", "It costs $9 an hour."),
        ("It lasted half an hour.", "It lasted an hour."),
        ("It is open from 9 to 5.", "It is open from 9 to 6."),
        ("A couple of boys left.", "Two boys left."),
        ("It rose from one in 2,000.", "It rose from one in 3,000."),
        ("He is number one in 5 towns.", "He is number two in 5 towns."),
    ],
)
def test_other_amounts_and_times_are_told(a, b):
    assert [found.aspect for found in told(a, b).differences if found.aspect not in REMARKS] == ["quantity"]


def test_a_quantity_is_compared_first_with_one_that_is_written_alike():
    graph = "(m / meet-03 :time (y / year :quant 2))"
    texts = [found.text for found in told("Two men met in two years.", "Ann met Bob in two years.", graph).differences]
    assert not any("two years" in text for text in texts)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("Two boys left.", "Boys left.", '"Two boys" in a, "Boys" in b'),
        ("He got a lot of help.", "He got any help.", '"a lot of help" in a, "any help" in b'),
        ("Five players left.", "The coach left.", '"Five players" in a, "coach" in b'),
        ("Ann and Bob left.", "Two girls left.", '"Ann and Bob" in a, "Two girls" in b'),
        ("Two boys left with a boy.", "Boys left with a boy.", 'only a says "Two boys"'),
        ("It lost $1.5bn in 2019, $1.2bn in 2020.", "It lost $1.2bn in 2019, $1.5bn in 2020.",
         '"$1.5bn" and "$1.2bn" change places'),
        ("He met Ann at 22 Mill Road.", "He met Ann at 23 Mill Road.", '"22" in a, "23" in b'),
        ("He lives at 22B Mill Road.", "He lives at 22C Mill Road.", '"22B" in a, "22C" in b'),
        ("It won 43–12.", "It won 17–3.", '"43–12" in a, "17–3" in b'),
        ("Take it twice daily.", "Take it three times daily.", '"twice" in a, "three times" in b'),
        ("It holds 10 MB.", "It holds 10 GB.", '"10 MB" in a, "10 GB" in b'),
        ("It left on March 4, 2024.", "It left on 2024-03-05.", '"March 4, 2024" in a, "2024-03-05" in b'),
        ("It lost $3 million last year.", "It lost $3 billion last year.", '"$3 million" in a, "$3 billion" in b'),
        ("It rose by 10%.", "It rose by 10.", '"10%" in a, "10" in b'),
        ("In 2020 50 boys left.", "In 2020 60 boys left.", '"50 boys" in a, "60 boys" in b'),
        ("At 9:30 two boys left.", "At 9:30 six boys left.", '"two boys" in a, "six boys" in b'),
        ("Nearly half the boys left.", "Over half the boys left.", '"Nearly half" in a, "Over half" in b'),
    ],
)  # fmt: skip
def test_a_quantity_is_told_beside_what_the_other_sentence_has_in_its_place(a, b, words):
    assert [found.text for found in told(a, b).differences if found.aspect not in REMARKS] == [words]


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("Dozens dead in Rome.", "98 dead in Rome.", {"Dozens dead", "98 dead"}),
        ("A group of boys sang.", "A few boys sang.", {"group of boys", "A few boys"}),
        ("The tan dogs ran.", "Two old tan dogs ran.", {"tan dogs", "Two old tan dogs"}),
        ("Most old kings left.", "Old actors left.", {"Most old kings", "Old actors"}),
    ],
)
def test_a_quantity_is_told_beside_all_that_stands_in_its_place(a, b, words):
    graph = "(a / and :op1 (d / dog :quant 2) :op2 (k / king :quant 2))"
    texts = [found.text for found in told(a, b, graph).differences if found.aspect == "quantity"]
    assert [set(text.split('"')[1::2]) for text in texts] == [words]


@pytest.mark.parametrize("number", ["1" * 400, "1" * 400 + " 1/2", "1" * 4300 + " dozen"])
def test_a_number_of_hundreds_of_digits_is_a_quantity_like_any_other(number):
    graphs = [decode(f"(e / eat-01 :ARG1 (e2 / egg :quant {digits}))") for digits in (number.split()[0], 2)]
    told = describe(explain_graphs([(graphs[0], graphs[1])], None)[0], (f"I ate {number} eggs.", "I ate 2 eggs."))
    assert "quantity" in [difference.aspect for difference in told.differences]
