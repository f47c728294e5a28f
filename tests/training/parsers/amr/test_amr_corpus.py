from pathlib import Path

from sentences import refused

from features.core.faults import FileEmpty
from training.parsers.amr.corpus import held_out_keys, read_source, read_training
from training.parsers.amr.preparing import read_frames
from training.parsers.amr.settings import GraphSource, HeldOut

GUIDELINES = """Text.

```lisp
(g / go-02
   :polarity -)
```

> He may **not**
> go.
>
> Going is out.

More text ends the example.

> A quotation without a graph.

```lisp
(b / broken
```

> Left out.
"""


def write(path: Path, *texts: str) -> Path:
    path.write_text("\n\n".join(f"# ::snt {text}\n(t / thing)" for text in texts) + "\n", encoding="utf-8")
    return path


def test_what_is_held_out_repeated_or_unsuited_is_not_learnt_from(tmp_path):
    first = write(tmp_path / "a.amr", "header", "A boy.", "a boy!", "In dev", "In a table, really.", "?", "end")
    second = write(tmp_path / "b.amr", "A boy.", "one two three four")
    dev = write(tmp_path / "dev.amr", "in DEV.")
    table = tmp_path / "table.txt"
    table.write_text("7\tIn a table really\t0.5\n", encoding="utf-8")
    keys = held_out_keys([HeldOut(path=table, kind="table")], [GraphSource(path=dev)])
    sources = [GraphSource(path=first, skip_first=1, skip_last=1), GraphSource(path=second)]
    kept, ((_, of_first), (_, of_second)) = read_training(sources, keys, max_words=3)
    assert [sentence.text for sentence in kept] == ["A boy."]
    assert of_first == {"read": 5, "held_out": 2, "repeated": 1, "unsuited": 1, "kept": 1}
    assert of_second == {"read": 2, "held_out": 0, "repeated": 1, "unsuited": 1, "kept": 0}


def test_a_file_shorter_than_what_is_skipped_of_it_has_no_sentence(tmp_path):
    path = write(tmp_path / "a.amr", "A boy.", "A girl.", "A cow.")
    with refused(FileEmpty):
        read_source(GraphSource(path=path, skip_last=4))


def test_a_held_out_sentence_needs_no_graph_and_a_table_is_not_taken_for_graphs(tmp_path):
    rejected, table = tmp_path / "rejected.amr", tmp_path / "test.tsv"
    rejected.write_text("# ::snt The dogs.\n# ::reject no_graph: none\n", encoding="utf-8")
    assert held_out_keys([HeldOut(path=rejected)], []) == {"the dogs"}
    table.write_text("7\tA boy.\n", encoding="utf-8")
    with refused(FileEmpty):
        held_out_keys([HeldOut(path=table)], [])


def test_guidelines_give_each_sentence_of_a_graph(tmp_path):
    path = tmp_path / "guide.md"
    path.write_text(GUIDELINES, encoding="utf-8")
    sentences = read_source(GraphSource(path=path, kind="guidelines"))
    assert [sentence.text for sentence in sentences] == ["He may not go.", "Going is out."]
    assert {tuple(sentence.graph.nodes) for sentence in sentences} == {("go-02", "=-")}


def test_a_file_without_sentences_is_named(tmp_path):
    path = tmp_path / "bare.amr"
    path.write_text("(b / boy)\n", encoding="utf-8")
    with refused(FileEmpty):
        read_source(GraphSource(path=path))


def test_frames_list_the_senses_of_lemmas(tmp_path):
    path = tmp_path / "frames.txt"
    path.write_text("abandon-01  ARG0: one\nabandon-02  ARG0: two\nlook-up-05  ARG0\nother text\n", encoding="utf-8")
    assert read_frames(path) == {"abandon": ["01", "02"], "look-up": ["05"]}
    assert read_frames(None) == {}
    path.write_text("nothing\n", encoding="utf-8")
    with refused(FileEmpty):
        read_frames(path)
