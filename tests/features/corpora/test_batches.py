"""Rows in columns are those that are read one by one, whatever the file holds."""

import tempfile
from pathlib import Path
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from features.corpora import batches
from features.corpora.settings import CorpusSettings

COLUMNS = {"sentence_a": "a", "sentence_b": "b", "score": "s", "label": "l", "group": "g"}

texts = st.sampled_from(["A.", "B b.", " C", "", " ", "\x1f", "\u3000", "Größe", '"D"', 'E "e"', "G\rg", "H\r"])
scores = st.sampled_from(["", "1", " 2.5 ", "x", "nan", "inf", "1e400", "１", "1_0"])
labels = st.sampled_from(["", "yes", " yes", "no"])
rows = st.tuples(texts, texts, scores, labels, labels).map(list)
odd_rows = st.one_of(rows.map(lambda row: row[:3]), rows.map(lambda row: [*row, "more"]), st.just([]), st.just(["A."]))
lines = st.lists(st.one_of(rows, rows, odd_rows), min_size=1, max_size=12)


@given(lines, st.integers(1, 5))
def test_columns_hold_the_rows_in_their_order(read_both_ways, written, size):
    body = "".join("\t".join(row) + "\n" for row in written)
    with tempfile.TemporaryDirectory() as folder, patch.object(batches, "_BATCH_ROWS", size):
        header = "\t".join(COLUMNS.values()) + "\n"
        (Path(folder) / "p.tsv").write_bytes((header + "A.\tB.\t1\tyes\tg\n" + body).encode())
        read_both_ways(
            CorpusSettings(
                dataset="pairs", files={"train": ["p.tsv"]}, columns=COLUMNS, quotes="ordinary", draw={"dev": 0.1}
            ),
            Path(folder),
        )


def test_rows_of_several_files_are_numbered_on(tmp_path, read_both_ways):
    for name in ("p.tsv", "q.tsv"):
        (tmp_path / name).write_text("sentence_a\tsentence_b\tscore\nA.\tB.\t1\nA.\tB.\tx\nA.\tB.\t2\n")
    corpus = CorpusSettings(dataset="pairs", files={"train": ["p.tsv", "q.tsv"]})
    assert len(read_both_ways(corpus, tmp_path)) == 6
