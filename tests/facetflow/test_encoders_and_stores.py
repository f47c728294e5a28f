import asyncio
import json
from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from sentences import refused

import facetflow
from features.core.errors import RowError
from features.core.faults import (
    CannotExplain,
    DeviceMissing,
    EmptyText,
    NoRelease,
    NoStore,
    NotTexts,
    NotThisModel,
    UnknownModel,
    UnknownName,
    UnknownTable,
    WrongValue,
)

pytestmark = pytest.mark.slow  # loads an encoder


@pytest.fixture(scope="module")
def encoder(project: Path) -> facetflow.Encoder:
    return facetflow.load_encoder(project / "runs" / "s3bert" / "current", device="cpu")


def test_shapes_of_embeddings_and_similarities(encoder: facetflow.Encoder) -> None:
    assert encoder.encode("A cat looks.").shape == (384,)
    assert encoder.encode(["A cat looks."]).shape == (1, 384)
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.similarity([], []).shape == (0,)
    assert encoder.similarity(["a", "b"], ["c", "d"]).shape == (2,)
    assert encoder.similarity("a", ("c", "d", "e"), facet="wlk").shape == (3,)
    texts = ["Two cats look.", "A cat looks.", "a", "b", "c", "d"]
    for facet in (None, *[facet.name for facet in encoder.facets]):
        assert encoder.similarity(texts, texts, facet).max() <= 1, "as math.acos needs it"


def test_the_similarity_of_a_facet_is_that_of_its_dimensions(encoder: facetflow.Encoder) -> None:
    a, b = encoder.encode(["Two cats look.", "A cat looks."]).astype(float)

    def cosine(of: slice) -> float:
        return float(a[of] @ b[of] / np.linalg.norm(a[of]) / np.linalg.norm(b[of]))

    parts = {facet.name: facet.dimensions for facet in encoder.facets} | {"residual": slice(240, 384)}
    for name, of in parts.items():
        found = encoder.similarity("Two cats look.", "A cat looks.", facet=name)
        assert found == pytest.approx(cosine(of), abs=1e-5)
    assert encoder.similarity("Two cats look.", "A cat looks.") == pytest.approx(cosine(slice(None)), abs=1e-5)
    explained = encoder.explain("Two cats look.", "A cat looks.", graphs=False)
    for reading in explained.facets:
        assert reading.similarity == pytest.approx(cosine(parts[reading.name]), abs=1e-5)


def test_a_similarity_is_divided_among_words(encoder: facetflow.Encoder) -> None:
    pair = ("It rains unbelievably.", "It  snows.")
    for facet in (None, "smatch", "residual"):
        shares = encoder.attribute(*pair, facet)
        assert shares.similarity == pytest.approx(encoder.similarity(*pair, facet), abs=1e-5)
    assert shares.words_a == ("[CLS]", "It", "rains", "unbelievably", ".", "[SEP]"), "pieces of a word have one share"
    with refused(NotTexts):
        encoder.attribute(["It rains."], ["It snows."])  # type: ignore[arg-type]
    with refused(NotTexts):
        encoder.attribute("cut \ud83d", "It snows.")
    with refused(UnknownName):
        encoder.similarity(*pair, facet=3)  # type: ignore[call-overload]


def test_two_sentences_are_explained_by_what_comes_with_facetflow(encoder_model: str) -> None:
    one = facetflow.explain("Two cats look.", "A cat looks.")
    assert one.encoder.startswith("s3bert-minilm: all-MiniLM-L6-v2, trained on")
    encoder = facetflow.load_encoder()
    assert one.similarity == pytest.approx(encoder.similarity("Two cats look.", "A cat looks."))
    assert all(facet.reliable == one.facet(facet.name).reliable for facet in encoder.facets)
    assert all(facet.spearman is not None and 0 < facet.spearman < 1 for facet in encoder.facets)
    reading = one.facet("quantifiers")
    assert (reading.measured, reading.reliable) == (0, True)
    assert 0 <= reading.prediction < one.facet("concepts").prediction


def test_two_sentences_are_explained_without_an_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("facetflow.explaining.bundled_encoder", lambda: None)
    one = facetflow.explain("Two cats look.", "A cat looks.")
    assert isinstance(one, facetflow.Explanation)
    assert one.words == 'Same frames and roles; "Two cats" in a, "A cat" in b.'
    assert (one.similarity, one.encoder, one.graphs_from) == (None, "", "the embedded parser")
    assert (one.facet("concepts").measured, one.facet("quantifiers").measured) == (1, 0)
    assert repr(one) == f"<explanation of 'Two cats look.' and 'A cat looks.': {one.words}>"
    page = one._repr_html_()
    assert page.count("<svg") == 2
    assert ("predicted" in page, "Encoder" in page, "<td" in page) == (False, False, True)
    first, second = facetflow.explain([("It rains.", "It does not rain."), ("A cat looks.", "狗在叫。")])
    assert first.facet("negations").mark == "lowest"
    assert (second.graphs, second.facet("smatch").measured) == (None, None)
    (foreign,) = facetflow.explain([("Der Hund schläft auf dem Sofa.", "It rains.")])
    assert (first.notes, "not to be English" in foreign.notes[0]) == ((), True)
    assert "has none" in second.graphs_from
    with refused(EmptyText):
        facetflow.explain("a", " ")


def test_an_encoder_whose_start_model_is_pulled_later_predicts(
    encoder: facetflow.Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("facetflow.explaining.bundled_encoder", lambda: None)
    assert not facetflow.explain("It rains.", "It snows.").encoder
    monkeypatch.setattr("facetflow.explaining.bundled_encoder", lambda: encoder.folder)
    assert facetflow.explain("It rains.", "It snows.").encoder


def test_an_encoder_stays_that_of_its_run_when_the_link_leads_elsewhere(project: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(project / "runs" / "s3bert" / "current")
    loaded = facetflow.load_encoder(tmp_path / "current")
    assert loaded.folder == (project / "runs" / "s3bert" / "current" / "encoder").resolve()


def test_pairs_are_explained_however_they_are_given(encoder: facetflow.Encoder) -> None:
    one = encoder.explain("a cat", "a dog", graphs=False)
    (pair,) = encoder.explain([("a cat", "a dog")], graphs=False)
    (lists,) = encoder.explain(["a cat"], ["a dog"], graphs=False)
    many = encoder.explain(["a cat", "a bird"], "a dog", graphs=False)
    assert one == pair == lists
    assert [(found.sentence_a, found.sentence_b) for found in many] == [("a cat", "a dog"), ("a bird", "a dog")]


def test_nothing_is_printed_and_no_bar_drawn(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded = facetflow.load_encoder(project / "runs" / "s3bert" / "current", device="cpu")
    loaded.explain("Two cats look.", "A cat looks.")
    assert capfd.readouterr() == ("", "")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        assert not any(name.startswith("on") or name in {"src", "href"} for name, _ in attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_an_explanation_with_its_graphs(encoder: facetflow.Encoder) -> None:
    async def cell() -> facetflow.Explanation:  # a notebook runs its cells in an event loop
        return encoder.explain("Two <b>cats look.", "A cat looks.")

    explanation = asyncio.run(cell())
    page = _Page()
    page.feed(explanation._repr_html_())
    assert page.open == []
    assert {"table", "svg", "details"} <= page.tags
    assert not {"script", "link", "iframe", "html", "b>cats"} & page.tags
    for said in ("Two <b>cats look.", explanation.headline, str(explanation.words), "quantifiers", "residual"):
        assert said in page.text
    assert json.loads(json.dumps(asdict(explanation)))["facets"][0]["measured"] == explanation.facet("smatch").measured


def test_a_sentence_that_the_encoder_cuts_is_named(encoder: facetflow.Encoder) -> None:
    long = "word " * 400
    first, second = encoder.explain([("a cat", long), ("a cat", "word " * 250)], graphs=False)
    (note,) = first.notes
    assert note.startswith("Sentence b is truncated: the encoder reads the first 254 of its 400 word pieces; ")
    assert second.notes == ()
    assert "the encoder reads the first 254 of its 400 word pieces" in first._repr_html_()


def test_a_text_that_the_parser_does_not_know_is_measured_as_nothing(encoder: facetflow.Encoder) -> None:
    explanation = encoder.explain("猫在睡觉。", "狗在叫。")
    assert explanation.graphs is None
    assert {reading.measured for reading in explanation.facets} == {None}
    assert "this pair has none" in explanation.graphs_from


@pytest.mark.parametrize("text", ["猫在睡觉。", "他有2只猫", "Кошка спит.", "القط نائم", "🙂🙂", "...", "\u200b"])
@pytest.mark.usefixtures("encoder_model")
def test_a_text_without_a_word_of_the_parser_is_rejected_with_a_code(text: str) -> None:
    with refused(RowError) as raised:
        facetflow.parse_amr(text, device="cpu")
    assert raised.value.code == "unknown_words"


@pytest.mark.usefixtures("encoder_model")
def test_a_text_with_a_word_or_a_number_is_parsed() -> None:
    graphs = facetflow.parse_amr(["The word 猫 means cat.", "¿Dónde está?", "42", "Ø"], device="cpu")
    assert all(isinstance(graph, str) for graph in graphs)


def test_an_encoder_without_facets_encodes_and_does_not_explain(project: Path, tmp_path: Path) -> None:
    for entry in (project / "runs" / "s3bert" / "current" / "encoder").iterdir():
        if entry.name != "facets.json":
            (tmp_path / entry.name).symlink_to(entry)
    plain = facetflow.load_encoder(str(tmp_path), device="cpu")
    assert plain.facets == ()
    assert 0 < plain.similarity("a cat", "a dog") < 1
    with refused(UnknownName):
        plain.similarity("a cat", "a dog", "smatch")
    with refused(CannotExplain):
        plain.explain("a cat", "a dog")


def test_a_store_is_read_at_its_release(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = facetflow.open_store(project)
    assert store.path == project / "store"
    monkeypatch.setenv("HOME", str(project.parent))
    assert facetflow.open_store(f"~/{project.name}").path == store.path
    assert {name: store.table(name).collect().height for name in store.tables} == {
        "sentences": 3,
        "pairs": 2,
        "metrics": 2,
        "rejects": 0,
    }
    assert store.rejects.collect_schema().names() == ["entity_id", "code", "message", "stage"]
    with refused(UnknownTable):
        _ = store.srl
    assert (hasattr(store, "pairs"), hasattr(store, "srl")) == (True, False)
    with refused(NoRelease):
        facetflow.open_store(project / "store", release=7)
    with refused(NoRelease):
        store.at("newest")  # type: ignore[arg-type]
    with refused(NoStore):
        facetflow.open_store(project / "elsewhere")


def test_a_file_in_the_home_folder_is_encoded(
    encoder: facetflow.Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text("A cat looks.\n")
    assert encoder.encode_file("~/a.txt", "~/a.parquet", processes=np.int64(1)).rows == 1
    assert (tmp_path / "a.parquet").is_file()


def test_columns_of_tables_are_read_whatever_library_made_them(encoder: facetflow.Encoder) -> None:
    texts = ["Two cats look.", "It rains."]
    whole = encoder.encode(texts)
    for column in (pa.array(texts), pa.chunked_array([texts]), pl.Series(texts), np.array(texts, object)):
        assert (encoder.encode(column) == whole).all()
    frame = pl.DataFrame({"a": texts, "b": texts[::-1]})
    for pairs in (frame, frame.to_numpy(), frame.rows()):
        assert [pair.sentence_b for pair in encoder.explain(pairs, graphs=False)] == texts[::-1]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda encoder: encoder.encode(pl.DataFrame({"text": ["a"]})), NotTexts),  # not the name of its column
        (lambda encoder: encoder.encode(pa.table({"text": ["a"]})), NotTexts),
        (lambda encoder: encoder.encode(pl.LazyFrame({"text": ["a"]})), NotTexts),  # its columns are not to be resolved
        (lambda encoder: encoder.encode({"text": ["a"]}), NotTexts),  # as a batch of Hugging Face's datasets
        (lambda encoder: facetflow.TextIndex({"7": "a"}, encoder), NotTexts),
        (lambda encoder: encoder.explain(pa.table({"a": ["a"], "b": ["b"]})), NotTexts),
        (lambda encoder: encoder.attribute(pl.Series(["a"]), "b"), NotTexts),
        (lambda encoder: encoder.encode(["a", "cut \ud83d"]), NotTexts),
        (lambda encoder: encoder.explain([("a", "cut \ud83d")]), NotTexts),
        (lambda encoder: encoder.encode("a", batch_size="32"), WrongValue),
        (lambda encoder: encoder.encode("a", batch_size=0), WrongValue),
        (lambda encoder: encoder.encode_file("a.tsv", "a.parquet", processes="2"), WrongValue),
        (lambda encoder: encoder.encode(["a", 3]), NotTexts),
        (lambda encoder: encoder.similarity("a", [3]), NotTexts),
        (lambda encoder: encoder.explain("a"), NotTexts),
        (lambda encoder: encoder.explain([("a", "b", "c")]), NotTexts),
        (lambda encoder: encoder.explain("a", " "), EmptyText),
        (lambda encoder: facetflow.load_encoder(encoder.folder, device="gpu"), DeviceMissing),
        (lambda encoder: facetflow.load_encoder(encoder.folder.parents[3]), NotThisModel),
        (lambda encoder: facetflow.load_encoder(encoder.folder / "none"), UnknownModel),
        (lambda encoder: encoder.similarity("a", "b", "frame"), UnknownName),
        (lambda encoder: encoder.similarity("a", "b", ["srl"]), UnknownName),
        (lambda encoder: encoder.similarity("a", "b", 0), UnknownName),
        (lambda encoder: encoder.attribute("a", "b", ""), UnknownName),
        (lambda encoder: encoder.for_mteb(""), UnknownName),
        (lambda encoder: encoder.for_mteb(encoder.facets[0]), UnknownName),
        (lambda _: facetflow.load_encoder(""), NotThisModel),  # of a variable that is not set
        (lambda _: facetflow.measure("(a / b)", "(a / b)", [["smatch"]]), UnknownName),
        (lambda _: facetflow.parse_amr("a", model=Path("none")), UnknownModel),
        (lambda _: facetflow.parse_srl("a", model=Path("none")), UnknownModel),
        (lambda encoder: encoder.encode("a", batch_size=True), WrongValue),
        (lambda encoder: encoder.explain(["ab"]), NotTexts),  # of two characters
    ],
)
def test_a_wrong_argument_is_one_fault(encoder: facetflow.Encoder, call, error) -> None:
    with refused(error):
        call(encoder)
