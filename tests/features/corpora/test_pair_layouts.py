"""Every layout of pairs: a small file is read as its authors intended."""

import json

import pytest

from features.corpora.dataset import DATASETS
from features.corpora.reading import PairRow, Skip, read_outcomes
from features.corpora.settings import CorpusSettings

# Of each row of a file: (a, b, score, label), or the reason why it is skipped.
Expected = list[tuple[str, str, float | None, str | None] | str]

NLI_LINES = [
    {"gold_label": "entailment", "sentence1": 'A "cat" sleeps.', "sentence2": "A cat rests.", "pairID": "1"},
    {"gold_label": "neutral", "sentence1": "A dog runs.", "sentence2": "It is late."},
    {"gold_label": "-", "sentence1": "A dog runs.", "sentence2": "A dog hunts."},
]

NLI_TEXT = (
    "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpairID\n"
    'entailment\t( A cat )\tA "cat" sleeps.\tA cat rests.\t1\n'
    "neutral\t( A dog )\tA dog runs.\tIt is late.\t2\n-\t( A dog )\tA dog runs.\tA dog hunts.\t3\n"
)

NLI_READ: Expected = [
    ('A "cat" sleeps.', "A cat rests.", None, "entailment"),
    ("A dog runs.", "It is late.", None, "neutral"),
    "no gold label",
]

NLI_PLAIN = (
    "premise\thypothesis\tlabel\n"
    '"A ""cat"" sleeps."\tA cat rests.\tentailment\nA dog runs.\tIt is late.\tneutral\nA dog runs.\tA dog hunts.\t-\n'
)

LABELLED = "id\tsentence1\tsentence2\tlabel\n1\tA cat .\tA tomcat .\t1\n2\tA cat .\tA dog .\t0\n"

LABELLED_READ: Expected = [("A cat .", "A tomcat .", None, "1"), ("A cat .", "A dog .", None, "0")]

CAPTIONS: Expected = [("One", "Two", None, None), ("One", "Three", None, None), ("Two", "Three", None, None)]

PIT2015 = [
    ("A tomcat", "(3, 2)"),
    ("A dog", "(1, 4)"),
    ("Cats", "(2, 3)"),
    ("A kitten", "4"),
    ("Rain", "2"),
    ("Pets", "3"),
]


def lines(*rows: str, end: str = "\n") -> str:
    return "".join(row + end for row in rows)


# (dataset, layout), file name, text, what is read of it
SAMPLES: list[tuple[tuple[str, int], str, str, Expected]] = [
    (
        ("stsb", 0),
        "train.tsv",
        lines("index\tgenre\tsentence1\tsentence2\tscore", '0\tnews\t"A cat" sleeps.\tA cat rests.\t4.200'),
        [('"A cat" sleeps.', "A cat rests.", 4.2, None)],
    ),
    (
        ("stsb", 1),
        "sts-train.csv",
        lines(
            'main-captions\tMSRvid\t2012test\t0001\t5.000\tA cat.\t"A "tomcat".',
            "main-news\theadlines\t2015\t0002\t0.0\tA dog.\tRain.\thttp://a\thttp://b",
        ),
        [("A cat.", '"A "tomcat".', 5.0, None), ("A dog.", "Rain.", 0.0, None)],
    ),
    *(
        (
            (f"sts{year}", 0),
            "STS.input.news.txt",
            lines('A "cat".\tA tomcat.\tnote\tnote', "A dog.\tA hound.", "A bird.\tA wren."),
            [
                ('A "cat".', "A tomcat.", 4.5, None),
                ("A dog.", "A hound.", 5.0, None) if year < 15 else "not rated",
                ("A bird.", "A wren.", 3.0, None),
            ],
        )
        for year in range(12, 17)
    ),
    *(
        (
            (f"sts{year}", 1),
            "news.test.tsv",
            lines('4.400\tA "cat".\tA tomcat.', *(["\tA dog.\tA hound."] if year >= 15 else [])),
            [('A "cat".', "A tomcat.", 4.4, None), *(["not rated"] if year >= 15 else [])],
        )
        for year in range(12, 17)
    ),
    (
        ("sick", 0),
        "SICK.txt",
        lines(
            "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set",
            "1\tA cat\tA tomcat\tENTAILMENT\t4.5\tTRAIN",
            "2\tA cat\tNo cat\tCONTRADICTION\t3.1\tTEST",
        ),
        [("A cat", "A tomcat", 4.5, "ENTAILMENT"), "split not asked for"],
    ),
    (
        ("sick", 1),
        "SICK_train.txt",
        lines(
            "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment",
            "1\tA cat\tA dog\t1\tNEUTRAL",
            end="\r\n",
        ),
        [("A cat", "A dog", 1.0, "NEUTRAL")],
    ),
    (
        ("mrpc", 0),
        "msr_paraphrase_train.txt",
        lines(
            "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String",
            '1\t7\t8\tHe called "the cat".\t"A cat"?',
            "0\t7\t9\tHe called.\tIt rains.",
            end="\r\n",
        ),
        [('He called "the cat".', '"A cat"?', None, "1"), ("He called.", "It rains.", None, "0")],
    ),
    (("snli", 0), "snli_1.0_train.jsonl", lines(*map(json.dumps, NLI_LINES)), NLI_READ),
    (("snli", 0), "snli_1.0_train.txt", NLI_TEXT, NLI_READ),
    (("snli", 1), "train.tsv", NLI_PLAIN, NLI_READ),
    (("mnli", 0), "multinli_1.0_train.jsonl", lines(*map(json.dumps, NLI_LINES)), NLI_READ),
    (("mnli", 0), "multinli_1.0_train.txt", NLI_TEXT, NLI_READ),
    (("mnli", 1), "train.tsv", NLI_PLAIN, NLI_READ),
    (
        ("allnli", 0),
        "AllNLI.tsv",
        lines(
            "split\tdataset\tsentence1\tsentence2\tlabel",
            "train\tSNLI\tA cat.\tA pet.\tentailment",
            "dev\tMNLI\tA cat.\tA dog.\tcontradiction",
        ),
        [("A cat.", "A pet.", None, "entailment"), "split not asked for"],
    ),
    (
        ("qqp", 0),
        "quora_duplicate_questions.tsv",
        lines(
            "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate",
            '0\t1\t2\t"What is ""it""?"\tWhat is it?\t1',
            '1\t3\t4\tWhere?\t"Two\nlines?"\t0',
            "2\t5\t6\tWho?\tWho is it?\t1",
        ),
        [
            ('What is "it"?', "What is it?", None, "1"),
            ("Where?", "Two\nlines?", None, "0"),
            ("Who?", "Who is it?", None, "1"),
        ],
    ),
    (
        ("qqp", 1),
        "train.tsv",
        lines("1\tWhat ?\tWhat is it ?\t18", "0\tWho ?\tWhere ?\t19"),
        [("What ?", "What is it ?", None, "1"), ("Who ?", "Where ?", None, "0")],
    ),
    (("paws_wiki", 0), "train.tsv", LABELLED, LABELLED_READ),
    (("paws_qqp", 0), "train.tsv", LABELLED, LABELLED_READ),
    (("pan", 0), "train.tsv", LABELLED, LABELLED_READ),
    (
        ("twitter_url", 0),
        "train.tsv",
        lines(
            "sentence1\tsentence2\tvotes\turl",
            "A cat\tA tomcat\t(4,6)\tu",
            "A cat\tA dog\t(2, 6)\tu",
            "A cat\tCats\t(3, 6)\t",
        ),
        [("A cat", "A tomcat", None, "1"), ("A cat", "A dog", None, "0"), "votes are tied"],
    ),
    (("twitter_url", 1), "train.tsv", LABELLED, LABELLED_READ),
    (
        ("twitter_url", 2),
        "Twitter_URL_Corpus_train.txt",
        lines('A "cat"\tA tomcat\t(6, 6)\thttp://a', "A cat\tA dog\t(0, 6)\thttp://a"),
        [('A "cat"', "A tomcat", None, "1"), ("A cat", "A dog", None, "0")],
    ),
    (
        ("pit2015", 0),
        "train.data",
        lines(*(f"1\tcats\tA cat\t{b}\t{votes}\ttags\ttags" for b, votes in PIT2015)),
        [
            ("A cat", "A tomcat", None, "1"),
            ("A cat", "A dog", None, "0"),
            "debatable",
            ("A cat", "A kitten", None, "1"),
            ("A cat", "Rain", None, "0"),
            "debatable",
        ],
    ),
    (
        ("ukp_aspect", 0),
        "UKP_ASPECT.tsv",
        lines(
            "topic\tsentence_1\tsentence_2\tlabel",
            'cats\t"A ""cat""."\tA dog.\tDTORCD',
            "cats\tA cat.\tA tomcat.\tHS",
        ),
        [('A "cat".', "A dog.", None, "DTORCD"), ("A cat.", "A tomcat.", None, "HS")],
    ),
    (
        ("coco", 0),
        "captions_train2017.json",
        json.dumps(
            {
                "images": [],
                "annotations": [
                    {"image_id": 9, "id": 1, "caption": "One"},
                    {"image_id": 8, "id": 2, "caption": "Alone"},
                    {"image_id": 9, "id": 3, "caption": "Two"},
                    {"image_id": 9, "id": 4, "caption": "Three"},
                ],
            }
        ),
        [*CAPTIONS, "the only caption of its image"],
    ),
    (
        ("coco", 1),
        "captions.tsv",
        lines("image_id\tcaption_id\tcaption", "9\t1\tOne", "9\t2\tTwo", "9\t3\tThree"),
        CAPTIONS,
    ),
    (("flickr30k", 0), "train.tsv", lines("image\tcaption1\tcaption2\tcaption3", "9.jpg\tOne\tTwo\tThree"), CAPTIONS),
    (
        ("flickr30k", 0),
        "rows.tsv",
        lines("image\tcaption_id\tcaption", "9\t1\tOne", "9\t2\tTwo", "9\t3\tThree"),
        CAPTIONS,
    ),
    (("flickr30k", 1), "results.token", lines("9.jpg#0\tOne", "9.jpg#1\tTwo", "9.jpg#2\tThree"), CAPTIONS),
    (
        ("pairs", 0),
        "mine.tsv",
        lines("sentence_a\tsentence_b\tscore", "A cat\tA dog\t7.5", "A cat\tCats\t"),
        [("A cat", "A dog", 7.5, None), ("A cat", "Cats", None, None)],
    ),
    (
        ("pairs", 0),
        "mine.csv",
        lines("sentence_a,sentence_b,label", '"A cat, a dog",Pets,x'),
        [("A cat, a dog", "Pets", None, "x")],
    ),
    (
        ("pairs", 0),
        "mine.jsonl",
        lines('{"sentence_a": "A cat", "sentence_b": "A dog", "label": true, "score": 3}'),
        [("A cat", "A dog", 3.0, "1")],
    ),
    (
        ("penman", 0),
        "a.amr",
        lines("# ::snt A cat.", "(c / cat)", "", "# ::snt A dog.", "(d / dog)"),
        [("A cat.", "A tomcat.", None, None), ("A dog.", "A hound.", None, None)],
    ),
]


BESIDE = {
    "STS.gs.news.txt": "4.5\n5.0\n3.0\n",
    "b.amr": "# ::snt A tomcat.\n(t / tomcat)\n\n# ::snt A hound.\n(h / hound)\n",
}


def test_every_layout_of_pairs_has_a_sample():
    records = {name: record for name, record in DATASETS.items() if not record.has_texts}
    layouts = {(name, place) for name, record in records.items() for place in range(len(record.layouts))}

    without = layouts - {layout for layout, *_ in SAMPLES}
    assert without == {("example", 0)}  # comes with the package; test_registry reads it


@pytest.mark.parametrize(
    ("layout", "file", "text", "expected"), SAMPLES, ids=[f"{of[0]}-{file}" for of, file, *_ in SAMPLES]
)
def test_a_file_is_read_as_its_makers_mean_it(tmp_path, layout, file, text, expected):
    name, _ = layout
    for other, content in {file: text, **BESIDE}.items():
        scores = content.replace("5.0", "") if name in {"sts15", "sts16"} else content
        (tmp_path / other).write_text(scores if other in BESIDE else content, encoding="utf-8", newline="")
    files = (file, "b.amr") if name == "penman" else file

    outcomes = list(read_outcomes(CorpusSettings(dataset=name, files={"train": files}), tmp_path))

    read = [
        (row.text_a, row.text_b, row.score, row.label) if isinstance(row, PairRow) else row.reason
        for row in outcomes
        if isinstance(row, PairRow | Skip)
    ]
    assert read == expected
    assert len(read) == len(outcomes)
    pairs = [row for row in outcomes if isinstance(row, PairRow)]
    assert {row.split for row in pairs} == {"train"}
    assert all(row.origin.startswith(f"{file}:") for row in pairs)
