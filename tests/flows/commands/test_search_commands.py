"""`facetflow search` and `facetflow neighbours`: results, what is kept between two searches, and bad input."""

import json
import os
import shutil

import pytest
from generated import commit_rows

from features.core.faults import CannotExplain, NoEncoderForAspect, UnknownName, UnknownTexts, Usage, VectorsWrong
from features.sentences import sentence_id
from features.stages.registry import TABLES
from features.store.store import Store
from flows.command_line import run
from training.encoders.s3bert.facets import FILE_NAME, plan_layout

TEXTS = ("a cat in the park", "a dog in the park", "a cat in the house", "a dog in the house", "two cat")


@pytest.fixture
def project(tmp_path, monkeypatch, word_encoder):
    """Go to the folder of a project with an encoder for the aspect `animal`, and a file of texts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facetflow.toml").write_text(
        'name = "zoo"\n[[corpora]]\ndataset = "texts"\nname = "zoo"\nfiles.train = "texts.tsv"\n'
    )
    made = tmp_path / "runs" / "animals" / "00001-abcdef" / "seed-0"
    (made / "encoder").mkdir(parents=True)
    for file in word_encoder.iterdir():
        (made / "encoder" / file.name).symlink_to(file)
    settings = {"kind": "aspect", "aspects": ["animal"]}
    (made / "encoder" / "training.json").write_text(json.dumps({"settings": settings}))
    (made / "train.json").write_text("{}")
    rows = "\n".join(f"{name}\t{text}" for name, text in zip("vwxyz", TEXTS, strict=True))
    (tmp_path / "texts.tsv").write_text(f"id\ttext\n{rows}\n")
    return tmp_path


@pytest.fixture
def labelled_store(project):
    """Make the store of the project: one release of texts with labels."""
    store = Store.open(project / "store", create=True)
    sentences = [{"sentence_id": sentence_id(text), "text": text} for text in TEXTS]
    labels = [
        dict.fromkeys(TABLES["labels"])
        | {
            "label_id": f"l{number}{aspect}",
            "sentence": sentence_id(text),
            "corpus": "zoo",
            "split": "test",
            "aspect": aspect,
            "label": word,
        }
        for number, text in enumerate(TEXTS)
        for aspect, words in (("animal", ("cat", "dog")), ("place", ("park", "house")))
        for word in words
        if word in text
    ]
    commit_rows(store, sentences=sentences, labels=labels)
    store.publish("made", stages=())


def test_a_search_finds_the_texts_that_the_encoder_finds_similar(project, capsys):
    assert run(["search", "the cat", "--aspect", "animal", "--among", "texts.tsv", "-k", "2"]) == 0
    out, err = capsys.readouterr()
    assert out == "  1  1.000  two cat\n            id: z\n  2  0.707  a cat in the park\n            id: v\n"
    assert "By the encoder animals/00001-abcdef/seed-0 in animal, among 5 texts of 'texts.tsv':" in err


def test_as_json_standard_output_is_one_object(project, capsys):
    assert run(["search", "  the \n cat", "--among", "texts.tsv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["text"], found["aspect"]) == ("the cat", None)
    assert found["among"] == {"texts": 5, "from": "'texts.tsv'"}
    assert [row["rank"] for row in found["found"]] == [1, 2, 3, 4, 5]  # there are no ten
    assert found["found"][0] == {"rank": 1, "similarity": 1.0, "text": "two cat", "id": "z"}


@pytest.mark.slow  # makes a store
def test_the_texts_of_the_newest_release_are_found_with_their_labels(project, labelled_store, capsys):
    assert run(["search", "a cat, park", "-k", "1"]) == 0
    out, err = capsys.readouterr()
    assert out == "  1  1.000  a cat in the park\n            animal: cat; place: park\n"
    assert "among 5 texts of release 1, those with labels:" in err
    assert run(["search", "a cat", "--among", "zoo", "-k", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["found"][0]["labels"] == {"animal": ["cat"]}
    assert run(["search", "a cat", "--among", "zo"]) == 1
    assert "'zo' is neither a file nor a corpus of the project; its corpora are: zoo." in capsys.readouterr().err


@pytest.mark.slow
def test_without_labelled_texts_the_sentences_of_the_pairs_are_searched(built, here, word_encoder):
    said = here.done(built, "search", "a cat", "--encoder", str(word_encoder), "-k", "1", "--json")
    found = json.loads(said[said.index("{") :])
    sentences = built.store.read("sentences")
    assert found["among"] == {"texts": sentences.height, "from": "release 1"}
    assert " cat can " in found["found"][0]["text"]
    assert found["found"][0].keys() == {"rank", "similarity", "text"}
    of_corpus = json.loads(
        here.done(built, "search", "a cat", "--encoder", str(word_encoder), "--among", "mine", "--json", "-q")
    )
    assert of_corpus["among"] == {"texts": sentences.height, "from": "mine, release 1"}


def test_texts_are_embedded_once_for_all_searches_of_them(project, monkeypatch):
    from flows.console import searching

    embedded = []

    def watch(embed):
        def watched(model, texts, *rest):
            embedded.append(len(texts))
            return embed(model, texts, *rest)

        return watched

    for name in ("embed", "embed_in_parts"):
        monkeypatch.setattr(searching, name, watch(getattr(searching, name)))
    for _ in range(2):
        assert run(["search", "a cat", "--among", "texts.tsv", "--quiet"]) == 0
    assert run(["neighbours", "texts.tsv", "-o", "out.tsv", "--quiet"]) == 0
    assert embedded == [1, 5, 1]
    (project / "texts.tsv").write_text(f"text\n{TEXTS[0]}\nanother\n")
    assert run(["neighbours", "texts.tsv", "-o", "out.tsv", "--quiet"]) == 0
    assert embedded[3:] == [1]  # the other text is known


def test_texts_longer_than_the_input_of_the_encoder_are_counted_when_they_are_encoded(project, capsys):
    (project / "long.tsv").write_text("text\n" + "a cat " * 300 + "\na dog\n")
    arguments = ["--encoder", "all-MiniLM-L6-v2"]
    assert run(["search", "a cat", "--among", "long.tsv", *arguments]) == 0
    note = "Note: 1 text longer than the encoder's input: its end has no effect."
    assert note in capsys.readouterr().err
    assert run(["encode", "long.tsv", "-o", "long.parquet", *arguments]) == 0
    assert note in capsys.readouterr().err
    assert run(["search", "a cat " * 300, "--among", "long.tsv", *arguments]) == 0
    assert "Note: the text to search for is longer than the encoder's input" in capsys.readouterr().err


def test_a_query_that_the_encoder_does_not_know_is_told(project, capsys):
    for query, notes in {"a 😀": 1, "a cat": 0}.items():
        assert run(["search", query, "--among", "texts.tsv", "--encoder", "all-MiniLM-L6-v2"]) == 0
        assert capsys.readouterr().err.count("does not know 1 of the 2 word pieces") == notes


def test_neighbours_are_a_table_with_a_row_a_neighbour(project, capsys):
    assert run(["neighbours", "texts.tsv", "--aspect", "animal", "-o", "out.tsv", "-k", "2"]) == 0
    assert "Wrote 10 neighbours of 5 texts by animals to out.tsv." in capsys.readouterr().err
    lines = (project / "out.tsv").read_text().splitlines()
    assert lines[0] == "id\ttext\trank\tneighbour_id\tneighbour\tsimilarity"
    first = [line.split("\t") for line in lines[1:3]]
    assert [cells[:5] for cells in first] == [
        ["v", TEXTS[0], "1", "z", TEXTS[4]],
        ["v", TEXTS[0], "2", "w", TEXTS[1]],
    ]
    assert float(first[0][5]) == pytest.approx(0.707, abs=1e-3)


def test_neighbours_in_another_file_may_be_the_text_itself(project, capsys):
    (project / "asked.txt").write_text("a dog in the park\n\nthe house\n")
    assert run(["neighbours", "asked.txt", "--among", "texts.tsv", "-o", "-", "--format", "csv", "-k", "1"]) == 0
    out, err = capsys.readouterr()
    assert [line.split(",")[:4] for line in out.splitlines()[1:]] == [
        ["1", "a dog in the park", "1", "w"],
        ["3", "the house", "1", "x"],
    ]
    assert "Left out: 1 row of 'asked.txt' without a text." in err


def test_no_cosine_is_above_1_where_rounding_makes_vectors_longer(project, monkeypatch):
    from training import nearest

    unit = nearest.unit
    monkeypatch.setattr(nearest, "unit", lambda vectors: unit(vectors) * 1.00001)
    assert run(["neighbours", "texts.tsv", "--among", "texts.tsv", "-o", "out.tsv", "-k", "1"]) == 0
    similarities = [float(line.split("\t")[5]) for line in (project / "out.tsv").read_text().splitlines()[1:]]
    assert similarities == [1.0] * 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "  ", "--among", "texts.tsv"], "The text to search for is empty: give one in quotes (FF124)."),
        (["search", "a cat", "--aspect", "colour"], "No encoder of the project was trained for the aspect 'colour'"),
        (["search", "a cat", "--encoder", "cats"], "'cats' is not an encoder, a folder or a model; there are: animals"),
        (["search", "a cat", "--encoder", "runs"], "'runs' holds no encoder (there is no modules.json)"),
        (["search", "a cat", "--among", "texts.tsv", "--text", "title"], "has no column 'title'; it has 'id', 'text'"),
        (
            ["search", "a cat", "--among", "none.tsv"],
            "'none.tsv' is neither a file nor a corpus of the project; its corpora are: zoo. Check the path (FF141).",
        ),
        (["search", "a cat", "-k", "0"], "0 is not in the range x>=1"),
        (["neighbours", "texts.tsv", "-o", "out.docx"], "out.docx"),
        (["neighbours", "empty.txt", "-o", "out.tsv"], "'empty.txt' is empty"),
        (["neighbours", "bytes.txt", "-o", "out.tsv"], "'bytes.txt' is not UTF-8 text"),
        (["neighbours", "one.txt", "-o", "out.tsv"], "'one.txt' has only one text, so it has no neighbour"),
        (["neighbours", "-", "--among", "-", "-o", "out.tsv"], "standard input is read once"),
    ],
    ids=[
        *("empty query", "aspect", "encoder", "no encoder", "column", "no file", "k", "suffix"),
        *("empty file", "binary file", "one text", "standard input twice"),
    ],
)
def test_wrong_input_is_one_sentence_and_nothing_is_written(project, capsys, words, said):
    (project / "empty.txt").write_text("")
    (project / "bytes.txt").write_bytes(bytes(range(256)))
    (project / "one.txt").write_text("a cat\n")
    assert run(words) == 1
    out, err = capsys.readouterr()
    assert said in err
    assert "Traceback" not in err
    assert out == ""
    assert not (project / "out.tsv").exists()


def test_without_a_project_a_file_is_searched_by_any_encoder(tmp_path, monkeypatch, word_encoder, capsys, refuses):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts.txt").write_text("a cat\na dog\n")
    assert run(["search", "cat", "--among", "texts.txt", "--encoder", str(word_encoder), "-k", "1", "--quiet"]) == 0
    assert capsys.readouterr().out == "  1  1.000  a cat\n            id: 1\n"
    assert [file.name for file in tmp_path.iterdir()] == ["texts.txt"]
    refuses(UnknownTexts, "search", "cat", "--encoder", str(word_encoder))


@pytest.mark.parametrize("named", [(), ("--encoder", "animals"), ("--aspect", "animal")])
def test_a_current_run_that_is_gone_is_named_with_the_one_that_is_used(project, capsys, named):
    runs = project / "runs" / "animals"
    (runs / "current").symlink_to("00002-abcdef/seed-0")
    (runs / "00001-abcdef/seed-0/promotion.json").write_text('{"promoted": false, "holds": false}')
    assert run(["search", "a cat", "--among", "texts.tsv", *named]) == 0
    said = (
        "The current run of the encoder 'animals', animals/00002-abcdef/seed-0, is gone; animals/00001-abcdef/seed-0 "
        "is used, which was not promoted. `facetflow status` says what to do."
    )
    assert capsys.readouterr().err.count(said) == 1
    assert run(["search", "a cat", "--among", "texts.tsv", "--encoder", "animals/00001-abcdef/seed-0"]) == 0
    assert "is gone" not in capsys.readouterr().err


def test_an_encoder_of_the_project_file_that_is_not_trained_for_its_aspect_yet_is_named(project, refuses):
    toml = project / "facetflow.toml"
    toml.write_text(f'{toml.read_text()}[[encoders]]\nname = "places"\nkind = "aspect"\naspects = ["place"]\n')
    refuses(NoEncoderForAspect, "search", "a cat", "--aspect", "place")


def test_an_empty_name_is_not_this_folder(project, refuses):
    refuses(UnknownTexts, "search", "a cat", "--among", "")


def test_a_text_of_another_encoding_is_refused(refuses):
    for command in (["search", "caf\udce9"], ["explain", "A cat.", "caf\udce9"]):
        refuses(Usage, *command)


@pytest.mark.parametrize("file", ["vectors.parquet", "vectors.arrow"])
def test_vectors_that_encode_wrote_are_searched_as_their_texts_are(project, capsys, file):
    assert run(["encode", "texts.tsv", "-o", file]) == 0
    printed = []
    for among in ("texts.tsv", file):
        capsys.readouterr()
        assert run(["search", "the cat", "--among", among, "-k", "3"]) == 0
        assert run(["neighbours", among, "-o", "-", "-k", "2"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "two cat" in printed[0]


def test_vectors_of_another_encoder_are_refused(project, refuses, tmp_path, word_encoder):
    other = tmp_path / "other"
    shutil.copytree(word_encoder, other)
    (other / "README.md").write_text("Another one.")
    assert run(["encode", "texts.tsv", "-o", "vectors.parquet", "--encoder", "./other"]) == 0
    refuses(VectorsWrong, "search", "the cat", "--among", "vectors.parquet")
    assert run(["search", "the cat", "--among", "vectors.parquet", "--encoder", "./other"]) == 0


def test_facets_are_those_of_an_encoder_that_has_some_though_another_is_newer(project, capsys):
    shutil.copytree(project / "runs/animals", project / "runs/faceted")
    folder = project / "runs/faceted/00001-abcdef/seed-0/encoder"
    (folder / FILE_NAME).write_text(plan_layout(["animal", "place"], width=2, dimension=5, first=1).text())
    os.utime(folder / "training.json", (1, 1))
    assert run(["search", "a dog", "--among", "texts.tsv", "--facet", "animal", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["encoder"] == str(folder)


def test_facets_with_weights_order_the_texts(project, capsys, tmp_path, word_encoder, refuses):
    shutil.copytree(word_encoder, tmp_path / "faceted")
    layout = plan_layout(["animal", "place"], width=2, dimension=5, first=1)
    (tmp_path / "faceted" / FILE_NAME).write_text(layout.text())
    search = ["search", "a dog in the park", "--encoder", "./faceted", "--among", "texts.tsv", "--json"]
    assert run([*search, "--facet", "colour"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == UnknownName.code
    assert not (project / "runs/.vectors").exists(), "texts were encoded before the facet was looked up"
    assert run([*search, "--facet", "place", "--facet", "animal=-1", "-k", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["weights"] == {"place": 1.0, "animal": -1.0}
    assert found["found"] == [{"rank": 1, "similarity": 0.5, "text": "a cat in the park", "id": "v"}]
    refuses(CannotExplain, "search", "a dog", "--among", "texts.tsv", "--facet", "animal", "--encoder", "animals")
    routed = project / "runs/animals/00001-abcdef/seed-0/encoder"
    (routed / "modules.json").unlink()
    (routed / "modules.json").write_text('[{"type": "models.Router", "path": ""}]')
    (routed / "router_config.json").write_text('{"structure": {"animal": [], "place": []}}')
    refuses(
        CannotExplain, "search", "a dog", "--among", "texts.tsv", "--facet", "animal", "--encoder", "animals"
    )  # a route was asked for, and no encoder with facets has one
    for wrong in (["animal=much"], ["animal=nan"], ["animal=1e308", "place=1e308"], ["animal=2", "animal"]):
        capsys.readouterr()
        assert run([*search, *(f"--facet={facet}" for facet in wrong)]) == 1
        assert json.loads(capsys.readouterr().out)["error"]["code"] == Usage.code
