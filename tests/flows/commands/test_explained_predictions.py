"""`facetflow predict --explain`, and spans from Python: what an encoder with predicate-argument spans looked at."""

import json
import re

import pytest

import facetflow
from flows.command_line import run
from training.encoders.loading import load_encoder
from training.modules.pair_classifier import PairClassifier
from training.span_weights import explain_sentences


@pytest.fixture(scope="module")
def spans(tmp_path_factory, tiny_encoder):
    """Return the folder of an untrained encoder that weighs predicate-argument spans, with a classifier."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    from features.parsers.settings import SrlSettings
    from training.modules.parse import weights_of
    from training.modules.span_pooling import SpanPooling
    from training.modules.tagging_transformer import TaggingTransformer

    torch.manual_seed(0)
    roles = ["ARG0", "ARG1"]
    tagging = TaggingTransformer(
        str(tiny_encoder), tagger="embedded", tagger_weights=weights_of(SrlSettings()), roles=roles
    )
    width = int(tagging.get_embedding_dimension())
    modules = [tagging, Pooling(width), SpanPooling(width, width, len(roles) + 1)]
    folder = tmp_path_factory.mktemp("spans") / "encoder"
    SentenceTransformer(modules=modules, device="cpu").save_pretrained(str(folder), create_model_card=False)
    PairClassifier(2 * width, ("0", "1"), ("|u-v|", "u*v")).save(folder)
    return folder


SAID = ("the boy sees the <b>doctor", "the doctor sees the boy", "boy boy")


def test_an_encoder_with_spans_draws_what_it_looked_at_and_says_what_parsing_took(tmp_path, monkeypatch, spans, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairs.tsv").write_text(f"sentence_a\tsentence_b\n{SAID[0]}\t{SAID[1]}\n{SAID[0]}\t{SAID[2]}\n")
    asked = ["predict", "pairs.tsv", "-o", "labels.tsv", "--explain", "page.html", "--encoder", str(spans), "--json"]
    assert run(asked) == 0
    out, err = capsys.readouterr()
    assert 0 < json.loads(out)["share_of_parsing"] < 1
    assert "% of the time spent parsing." in err
    assert "Wrote 2 explained pairs to page.html." in err
    page = (tmp_path / "page.html").read_text()
    assert page.count('<div class="card">') == 2
    assert "the boy sees" not in page  # word by word
    assert page.count("doctor") == page.count(">doctor<") > 0
    assert "&lt;</span>" in page
    assert "ARG0" in page
    assert "This encoder sees predicate-argument spans: the embedding of a sentence" in page
    assert "boy boy <span" in page


def test_the_weights_of_words_are_those_of_their_spans(spans):
    model = load_encoder(spans, device="cpu")
    (first, again, none) = explain_sentences(model, [SAID[1], SAID[0], SAID[2]])
    assert first.words == ("the", "doctor", "sees", "the", "boy")
    (frame,) = first.frames
    assert frame.predicate == (2,)
    assert [(argument.role, argument.words) for argument in frame.arguments] == [("ARG0", (0, 1)), ("ARG1", (3, 4))]
    weights = [argument.weight for argument in frame.arguments]
    assert sum(weights) == pytest.approx(1)
    one, other = weights
    assert first.weights == pytest.approx((one, one, 1, other, other))
    assert len(again.frames) == 1
    assert (none.frames, none.words, none.weights) == ((), ("boy", "boy"), (0.0, 0.0))


def test_from_python_a_prediction_has_the_spans_where_they_are_asked_for(spans):
    encoder = facetflow.load_encoder(spans, device="cpu")
    assert encoder.predict(SAID[0], SAID[1]).spans is None
    one = encoder.predict(SAID[0], SAID[1], spans=True)
    assert one.spans == tuple(explain_sentences(encoder.model, SAID[:2]))
    assert [said.spans for said in encoder.predict([SAID[:2], SAID[1:]], spans=True)][1][1].frames == ()


def test_what_the_page_on_predicate_spans_runs_is_so(spans, root, capsys):
    page = (root / "docs/concepts/predicate_spans.md").read_text()
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "spans=True" in block]
    names = {"encoder": facetflow.load_encoder(spans, device="cpu")}
    exec(code, names)  # noqa: S102 - a block of our own page
    assert [word for word, _ in names["shares"]] == ["He", "slices", "tomatoes", "in", "the", "kitchen", "."]
    assert len(capsys.readouterr().out.splitlines()) == sum(len(frame.arguments) for frame in names["first"].frames)
