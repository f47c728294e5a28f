"""Every layout of texts with labels: a small file is read as its authors intended."""

import pytest

from features.corpora.dataset import DATASETS
from features.corpora.reading import TextRow, read_outcomes
from features.corpora.settings import CorpusSettings

# Of each row of a file: (text, labels), or the reason why it is skipped.
Labelled = list[tuple[str, tuple[tuple[str, str], ...]] | str]


def classes(*rows: tuple[str, str]) -> Labelled:
    return [(text, (("class", label),)) for text, label in rows]


# (dataset, layout), file name, content, what is read of it
SAMPLES: list[tuple[tuple[str, int], str, bytes, Labelled]] = [
    *(
        (
            (name, 0),
            "all.txt",
            b"1 a gem .\n\n0 silly , tedious .\n",
            classes(("a gem .", "1"), ("silly , tedious .", "0")),
        )
        for name in ("cr", "mpqa", "sst2", "sst5")
    ),
    *(
        ((name, 0), "all.txt", "1 un café .\n0 no .\n".encode(encoding), classes(("un café .", "1"), ("no .", "0")))
        for name, encoding in (("mr", "latin-1"), ("subj", "utf-8"))
    ),
    (
        ("trec", 0),
        "train.label",
        "HUM:ind Who is Pelé ?\nNUM How many ?".encode("latin-1"),
        classes(("Who is Pelé ?", "HUM"), ("How many ?", "NUM")),
    ),
    (("trec", 0), "TREC.train.all", b"4 What county ?\n", classes(("What county ?", "4"))),
    (
        ("pwc_area_task", 0),
        "test.tsv",
        b"arxiv_id\ttitle\tabstract\tarea\ttask_id\n1\tA parser\tWe parse.\tNLP\t17\n2\t\tWe wait.\tunknown\t\n",
        [("A parser: We parse.", (("area", "NLP"), ("task", "17"))), "no label"],
    ),
    (
        ("pwc_tdm", 0),
        "papers.tsv",
        b"paper\ttitle\tabstract\ttasks\tdatasets\tmetrics\n1\tA\tB\tTagging|Parsing|Tagging\tPTB\tunknown\n",
        [("A: B", (("task", "Tagging"), ("task", "Parsing"), ("dataset", "PTB")))],
    ),
    (
        ("wiki_entities", 0),
        "companies.tsv",
        b"name\tcountry\tindustry\tdescription\nPost\tChina\tcourier\tIt posts.\nTower\tChina\tsteel\t\n",
        [("Post: It posts.", (("industry", "courier"), ("country", "China"))), "no description"],
    ),
    (
        ("ukp_topics", 0),
        "UKP_ASPECT.tsv",
        b"topic\tsentence_1\tsentence_2\tlabel\ncats\tThey purr.\tThey hunt.\tNS\n",
        [("They purr.", (("topic", "cats"),)), ("They hunt.", (("topic", "cats"),))],
    ),
    (
        ("texts", 0),
        "own.csv",
        b"text,label\nA cat.,pet|animal\n",
        [("A cat.", (("label", "pet"), ("label", "animal")))],
    ),
    (("texts", 0), "own.jsonl", b'{"text": "A cat.", "label": 3}\n', [("A cat.", (("label", "3"),))]),
]


def test_every_layout_of_texts_has_a_sample():
    records = {name: record for name, record in DATASETS.items() if record.has_texts}

    assert {layout for layout, *_ in SAMPLES} == {
        (name, place) for name, record in records.items() for place in range(len(record.layouts))
    }


@pytest.mark.parametrize(
    ("layout", "file", "content", "expected"), SAMPLES, ids=[f"{of[0]}-{file}" for of, file, *_ in SAMPLES]
)
def test_texts_are_read_with_their_labels(tmp_path, layout, file, content, expected):
    (tmp_path / file).write_bytes(content)

    outcomes = list(read_outcomes(CorpusSettings(dataset=layout[0], files={"test": file}), tmp_path))

    assert [(row.text, row.labels) if isinstance(row, TextRow) else row.reason for row in outcomes] == expected
    assert {row.split for row in outcomes} == {"test"}
    assert all(row.origin.startswith(f"{file}:") for row in outcomes if isinstance(row, TextRow))
