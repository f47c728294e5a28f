"""`facetflow facets`: vectors of the start model get facets, and what is no such vector is refused."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from features.models import BUNDLED_ENCODER, BUNDLED_MAP, digest
from flows.command_line import run

TEXTS = ["a cat in the park", "a dog in the house", "two cat"]


@pytest.fixture
def made(tmp_path, monkeypatch, word_encoder):
    """Go to a folder with an encoder that is a map, and return it with its start model."""
    from training.encoders.loading import load_encoder
    from training.encoders.s3bert.facets import plan_layout
    from training.encoders.s3bert.task import add_map

    monkeypatch.chdir(tmp_path)
    start, encoder = (load_encoder(word_encoder, device="cpu") for _ in range(2))
    first = start.get_embedding_dimension()
    add_map(encoder, 6, seed=0)
    encoder.save_pretrained("encoder", create_model_card=False)
    layout = plan_layout(["smatch", "srl"], width=3, first=first, dimension=first + 6)
    (tmp_path / "encoder" / "facets.json").write_text(layout.model_copy(update={"maps_start": True}).text())
    training = {"backbone_digest": digest(word_encoder), "settings": {"backbone": str(word_encoder)}}
    (tmp_path / "encoder" / "training.json").write_text(json.dumps(training))
    vectors = start.encode(TEXTS)
    pl.DataFrame({"id": [1, 2, 3], "vector": vectors.tolist()}).write_parquet("vectors.parquet")
    return encoder, vectors


@pytest.mark.parametrize("output", ["facets.parquet", "facets.jsonl"])
def test_the_vectors_get_the_facets_that_encoding_gives(made, output, capsys):
    encoder, _ = made
    assert run(["facets", "vectors.parquet", "-o", output, "--encoder", "encoder"]) == 0
    assert "Wrote 2 facets of 3 vectors" in capsys.readouterr().err
    table = pl.read_parquet(output) if output.endswith("parquet") else pl.read_ndjson(output)
    assert table["id"].to_list() == [1, 2, 3]
    np.testing.assert_allclose(np.array(table["vector"].to_list()), encoder.encode(TEXTS), atol=1e-6)


def test_standard_output_is_parquet_unless_another_format_is_chosen(made, capsysbinary):
    assert run(["facets", "vectors.parquet", "-o", "-", "--encoder", "encoder"]) == 0
    assert pl.read_parquet(io.BytesIO(capsysbinary.readouterr().out))["id"].to_list() == [1, 2, 3]


def test_vectors_that_encode_wrote_are_those_of_the_start_model_as_numbers(made, word_encoder, capsys):
    Path("texts.txt").write_text("\n".join(TEXTS))
    for name, encoder, precision in (
        ("start", word_encoder, "float16"),
        ("other", "encoder", "float32"),
        ("codes", word_encoder, "int8"),
    ):
        command = ["encode", "texts.txt", "-o", f"{name}.parquet", "--encoder", str(encoder), "--precision", precision]
        assert run(command) == 0
    for name, code, told in (
        ("start", 0, "facets of 3 vectors"),
        ("other", 1, "vectors of 'test_"),
        ("codes", 1, "int8 codes"),
    ):
        assert run(["facets", f"{name}.parquet", "-o", "made.parquet", "--encoder", "encoder"]) == code
        assert told in capsys.readouterr().err
    Path("encoder/training.json").unlink()
    assert run(["facets", "start.parquet", "-o", "made.parquet", "--encoder", "encoder"]) == 1
    assert "copy it with its training.json" in capsys.readouterr().err


def test_facets_of_vectors_that_encode_wrote_are_searched(made, word_encoder, capsys):
    Path("texts.txt").write_text("\n".join(["", *TEXTS[:2], "", TEXTS[2]]))
    assert run(["encode", "texts.txt", "-o", "start.parquet", "--encoder", str(word_encoder)]) == 0
    assert run(["facets", "start.parquet", "-o", "made.parquet", "--encoder", "encoder"]) == 0
    assert run(["encode", "texts.txt", "-o", "encoded.parquet", "--encoder", "encoder"]) == 0
    assert pl.read_parquet("made.parquet").schema == pl.read_parquet("encoded.parquet").schema
    printed = []
    for among in ("made.parquet", "encoded.parquet"):
        capsys.readouterr()
        search = ["search", "the cat", "--among", among, "--encoder", "encoder"]
        assert run(search) == run([*search, "--facet", "srl", "--facet", "smatch=-1"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "id: 5" in printed[0]
    assert run(["search", "the cat", "--among", "made.parquet", "--encoder", str(word_encoder)]) == 1
    assert "holds vectors of 'test_" in capsys.readouterr().err  # the folder of the run


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ({"vector": [[1.0, 2.0]]}, "shape (1, 2), but"),
        ({"vector": [[1.0, 2.0], [1.0], [1.0, 2.0]]}, "not as in row 2:"),
        ({"vector": [[1.0, 2.0], None, [None, 1.0], [1.0]]}, "not as in row 3 and 1 more:"),
        ({"vector": [[1.0, float("nan")]]}, "not as in row 1:"),
        ({"vector": [None]}, "has no vector"),
        ({"vector": pl.Series([], dtype=pl.List(pl.Float32))}, "has no vector"),
        ({"vector": ["a"]}, "no lists of numbers"),
        ({"other": [1]}, "--vector"),
    ],
)
def test_what_is_no_vector_of_the_start_model_is_refused_in_a_sentence(made, rows, reason, capsys):
    pl.DataFrame(rows, strict=False).write_parquet("wrong.parquet")
    assert run(["facets", "wrong.parquet", "-o", "facets.parquet", "--encoder", "encoder"]) == 1
    assert reason in capsys.readouterr().err


def test_an_encoder_without_facets_is_refused(made, word_encoder, capsys):
    assert run(["facets", "vectors.parquet", "-o", "facets.parquet", "--encoder", str(word_encoder)]) == 1
    assert "no facets.json" in capsys.readouterr().err


def test_a_project_whose_encoders_have_no_facets_uses_the_map_of_the_package(made, word_encoder, monkeypatch, capsys):
    monkeypatch.setattr("features.models.locate", lambda name, *_: Path("encoder" if name == BUNDLED_MAP else "none"))
    Path("facetflow.toml").write_text('name = "p"\n[[corpora]]\ndataset = "example"\n')
    run_folder = Path("runs/aspects/00001-abcdef/seed-0")
    shutil.copytree(word_encoder, run_folder / "encoder")
    (run_folder / "train.json").write_text("{}")
    (run_folder / "encoder/training.json").write_text('{"settings": {"kind": "aspect"}}')
    assert run(["facets", "vectors.parquet", "-o", "facets.parquet"]) == 0
    assert f"Wrote 2 facets of 3 vectors by {BUNDLED_MAP}" in capsys.readouterr().err
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Router"}]
    (run_folder / "encoder/modules.json").write_text(json.dumps(modules))
    (run_folder / "encoder/router_config.json").write_text(json.dumps({"structure": {"animal": [], "place": []}}))
    assert run(["facets", "vectors.parquet", "-o", "facets.parquet"]) == 0, "no route is asked for"


@pytest.mark.parametrize("name", ["maps", BUNDLED_ENCODER])
def test_an_encoder_of_the_project_with_facets_is_used_beside_one_without_that_was_trained_later(
    name, made, word_encoder, capsys
):
    Path("facetflow.toml").write_text('name = "p"\n[[corpora]]\ndataset = "example"\n')
    for of, encoder, kind in ((name, "encoder", "s3bert"), ("aspects", word_encoder, "aspect")):
        run_folder = Path(f"runs/{of}/00001-abcdef/seed-0")
        shutil.copytree(encoder, run_folder / "encoder")
        (run_folder / "train.json").write_text("{}")
        training = {"backbone_digest": digest(word_encoder), "settings": {"kind": kind, "backbone": str(word_encoder)}}
        (run_folder / "encoder/training.json").write_text(json.dumps(training))
    assert run(["facets", "vectors.parquet", "-o", "facets.parquet"]) == 0
    assert f"by {name} " in capsys.readouterr().err
