"""Modules of PAS-SBERT: spans find their pieces, are summed as in the paper, and are the same from store and tagger."""

import itertools
import json

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from sentences import refused

from features.core.errors import RowError
from features.core.faults import OtherParser, OtherText
from features.parsers.settings import SrlSettings
from features.parsers.srl.parser import load, split_words
from features.sentences import normalise
from training.encoders.loading import load_encoder
from training.modules.parse import LabelNumbers, weights_of
from training.modules.span_pooling import WEIGHTS, SpanPooling
from training.modules.spans import NUMBERS, ROLES, SPAN_PLACES, Spans, spans_of
from training.modules.tagging_transformer import TaggingTransformer

ODD = [
    "The man sees a horse that runs in the park",
    "dogs don't bark \U0001f436\U0001f469\u200d\U0001f469\u200d\U0001f467 at all",
    "see https://example.org/a?b=c#d or mail x@y.org",
    "\u732b\u5728\u516c\u56ed\u91cc\u7761\u89c9\u3002",
    "The man who lives here " * 12,
    "word " * 400,
    "word " * 600,  # longer than what a build tags
    "antidisestablishmentarianism " * 120,  # longer than what the tagger reads
    "",
    "\u200b",
    "...",
    "  a   man\tsees\n\nthe house  ",
    "e\u0301t\u00e9 nai\u0308ve cannot wanna",
    "no man",
]
TOMATOES = {
    "words": ["He", "slices", "tomatoes", "in", "the", "kitchen"],
    "predicates": [1],
    "span_frames": [0, 0, 0, 0],
    "span_labels": ["ARG0", "V", "ARG1", "ARGM-LOC"],
    "span_starts": [0, 1, 2, 3],
    "span_ends": [1, 2, 3, 6],
}


def toy(**drawn):
    return Spans(tagger="toy", tagger_weights="", roles=["ARG0", "ARG1", "ARGM-LOC"], **drawn)


TOY = toy()


def words_of(spans):
    return [span.words for span in spans]


def made_up(random, words):
    """Return random frames of some words."""
    count = len(words)
    rows = []
    predicates = sorted(random.choice(count, size=min(count, 3), replace=False).tolist())
    for number in range(len(predicates)):
        for label in ("ARG0", "V", "ARG1")[: random.integers(4)]:
            start = int(random.integers(count))
            rows.append((number, label, start, int(random.integers(start + 1, count + 1))))
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[], [], [], []]
    names = ("span_frames", "span_labels", "span_starts", "span_ends")
    return {"words": list(words), "predicates": predicates, **dict(zip(names, columns, strict=True))}


def test_the_spans_of_the_example_of_the_paper_are_its_three():
    assert [(span.role, span.words) for span in spans_of(TOMATOES)] == [
        ("ARG0", (0, 1)), ("ARG1", (1, 2)), ("ARGM-LOC", (1, 3, 4, 5)),
    ]  # fmt: skip


def test_an_argument_goes_on_elsewhere_and_a_predicate_without_arguments_is_no_span():
    parse = {
        "words": list("abcdefg"),
        "predicates": [1, 4, 6],
        "span_frames": [0, 0, 0, 0, 0, 1, 2],
        "span_labels": ["ARG1", "V", "C-ARG1", "C-V", "C-ARG2", "V", "ARG0"],
        "span_starts": [0, 1, 2, 3, 5, 4, 0],
        "span_ends": [1, 2, 3, 4, 6, 5, 1],
    }
    assert [(span.role, span.words) for span in spans_of(parse)] == [
        ("ARG1", (0, 1, 2, 3)),
        ("ARG2", (1, 3, 5)),  # it continues nothing
        ("ARG0", (0, 6)),  # of a frame without V: its predicate
    ]


def test_words_find_their_pieces_as_a_loop_over_characters_finds_them():
    random = np.random.default_rng(0)
    for text in ODD[:6] + ODD[10:]:
        text = normalise(text)  # noqa: PLW2901 - as the store has it
        words = split_words([text])[0]
        # Pieces of three characters at most, which words and blanks end; half of the long sentence is cut off.
        ends = sorted(
            {place for place, sign in enumerate(text) if sign.isspace()} | set(range(0, len(text), 3)) | {len(text)}
        )
        cut = [(start, end) for start, end in itertools.pairwise(ends) if text[start:end].strip()]
        pieces = [(0, 0), *cut[:120], (0, 0)]
        parse = made_up(random, words)
        found = TOY.seen(text, parse, pieces)
        expected = []
        for span in spans_of(parse):
            characters, end = set(), 0
            for number, word in enumerate(words):
                start = text.index(word, end)
                end = start + len(word)
                if number in span.words:
                    characters |= set(range(start, end))
            places = tuple(p for p, (start, end) in enumerate(pieces) if characters & set(range(start, end)))
            if places:
                expected.append((span, places))
        assert found == expected


def test_a_batch_is_padded_with_zeros_and_a_span_without_a_piece_drops_out():
    text = "He slices tomatoes in the kitchen"
    pieces = [(0, 0), (0, 2), (3, 9), (10, 13), (13, 18), (0, 0)]  # "in the kitchen" was cut off
    tensors = TOY.tensors([text, text], [None, TOMATOES], [pieces, pieces])
    assert {name: rows.tolist() for name, rows in tensors.items()} == {
        NUMBERS: [[0] * 6, [1, 1, 2, 2, 2, 3]],
        SPAN_PLACES: [[0] * 6, [1, 2, 2, 3, 4, 2]],
        ROLES: [[0, 0, 0], [1, 2, 3]],
    }
    only = TOY.tensors([text], [TOMATOES], [[(0, 0), (0, 2), (0, 0)]])
    assert (only[NUMBERS].tolist(), only[ROLES].tolist()) == ([[1]], [[1]])
    assert TOY.tensors([""], [None], [[]])[ROLES].shape == (1, 0)


def test_words_of_another_text_are_refused():
    with refused(OtherText):
        TOY.seen("He slices onions", TOMATOES, [(0, 2)])


@pytest.mark.parametrize("drawn", ["random", "continuous"])
def test_spans_that_are_drawn_are_as_many_as_long_and_always_the_same(drawn):
    tagged, again, other = (
        words_of(toy(drawn=drawn, seed=seed).chosen(TOMATOES)) for seed in (0, 0, 1)
    )  # of the same words
    assert tagged == again != other
    assert [len(words) for words in tagged] == [2, 2, 4]
    assert all(list(words) == sorted(set(words)) and max(words) < 6 for words in tagged)
    if drawn == "continuous":
        assert all(words[-1] - words[0] == len(words) - 1 for words in tagged)


def test_spans_that_are_spoilt_are_the_share_that_is_asked_for_and_those_of_less_are_among_them():
    parse = {"words": [f"w{place}" for place in range(400)], "predicates": list(range(200))}
    parse |= {"span_frames": list(range(200)), "span_labels": ["ARG1"] * 200}
    parse |= {"span_starts": list(range(200, 400)), "span_ends": list(range(201, 401))}
    whole = spans_of(parse)
    before = set(whole)
    for share in (0.5, 0.3, 0.1):
        dropped = toy(harmed=share, harm="dropped").chosen(parse)
        moved = toy(harmed=share, harm="moved").chosen(parse)
        assert len(dropped) == pytest.approx(200 * (1 - share), abs=25)
        assert set(whole) - set(dropped) < before
        before = set(whole) - set(dropped)
        assert [(span.role, span.predicate, len(span.argument)) for span in moved] == [
            (span.role, span.predicate, 1) for span in whole
        ]
        kept = [span for span, other in zip(whole, moved, strict=True) if span == other]
        assert set(dropped) <= set(kept)
        assert len(kept) - len(dropped) < 10  # some are moved to where they were
    assert toy(harmed=1.0).chosen(parse) == []


@pytest.mark.parametrize("pooled", [True, False], ids=["with pooling", "spans only"])
@pytest.mark.parametrize("weights", ["learnt", "by_role", "equal"])
def test_the_weighted_sum_is_that_of_a_loop_over_spans(weights, pooled):
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    pooling = SpanPooling(8, 8, 3, weights=weights, pooled=pooled)
    if pooling.of_role is not None:
        torch.nn.init.normal_(pooling.of_role)
    lengths, counts = [9, 5, 7, 1], [3, 1, 0, 2]
    tokens, mask = (
        torch.randn(4, 9, 8, requires_grad=True),
        torch.tensor([[int(p < n) for p in range(9)] for n in lengths]),
    )
    spans = [
        [
            sorted(random.choice(length, size=random.integers(1, length + 1), replace=False).tolist())
            for _ in range(count)
        ]
        for length, count in zip(lengths, counts, strict=True)
    ]
    roles = torch.tensor([[1, 2, 3], [3, 0, 0], [0, 0, 0], [1, 1, 0]])
    members = [[(n, p) for n, places in enumerate(some, start=1) for p in places] for some in spans]
    longest = max(map(len, members))
    padded = torch.tensor([[*some, *[(0, 0)] * (longest - len(some))] for some in members])
    mean = torch.stack([row[:length].mean(dim=0) for row, length in zip(tokens, lengths, strict=True)])
    features = {"token_embeddings": tokens, "attention_mask": mask, "sentence_embedding": mean}
    found = pooling(features | {NUMBERS: padded[:, :, 0], SPAN_PLACES: padded[:, :, 1], ROLES: roles})
    for row, some in enumerate(spans):
        vectors = [tokens[row, places].mean(dim=0) for places in some]
        scores = []
        for vector, role in zip(vectors, roles[row].tolist(), strict=False):
            score = torch.zeros(()) if pooling.attention is None else (pooling.attention.weight[0] * vector).sum()
            scores.append(score if pooling.of_role is None else score + pooling.of_role[role])
        alphas = torch.softmax(torch.stack(scores), dim=0) if scores else torch.zeros(0)
        summed = sum((alpha * vector for alpha, vector in zip(alphas, vectors, strict=True)), torch.zeros(8))
        expected = summed if vectors else mean[row]
        whole = torch.cat([mean[row], expected]) if pooled else expected
        torch.testing.assert_close(found["sentence_embedding"][row], whole, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(found[WEIGHTS][row, : len(some)], alphas, rtol=1e-6, atol=1e-6)
        assert not found[WEIGHTS][row, len(some) :].any()
    assert pooling.get_embedding_dimension() == found["sentence_embedding"].shape[1] == (16 if pooled else 8)
    found["sentence_embedding"].sum().backward()
    assert all(learnt.grad.isfinite().all() for learnt in (tokens, *pooling.parameters()))


def test_unknown_weights_are_refused():
    with pytest.raises(ValueError, match="weights of spans are learnt, equal, by_role, not 'all'"):
        SpanPooling(8, 8, 3, weights="all")


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    """Return a tiny encoder with the embedded tagger's spans."""
    torch.manual_seed(0)
    roles = ["ARG0", "ARG1", "ARGM-LOC"]
    # In bfloat16 the tags of a sentence depend, once in some hundred, on which others stand in its batch.
    transformer = TaggingTransformer(
        str(tiny_encoder),
        tagger="embedded",
        tagger_weights=weights_of(SrlSettings()),
        precision="float32",
        roles=roles,
        max_seq_length=32,
    )
    spans = SpanPooling(48, 48, len(LabelNumbers(roles)), weights="by_role")
    return SentenceTransformer(modules=[transformer, Pooling(48), spans], device="cpu")


def from_store(texts):
    """Return text → frames, as a build makes and rejects them."""
    parser = load(SrlSettings(precision="float32"))
    normal = [normalise(text) for text in texts]
    admitted = [text for text in normal if len(text.split()) <= parser.max_words]
    found = dict(zip(admitted, parser.parse(admitted), strict=True))
    assert sum(isinstance(one, RowError) for one in found.values()) == 1
    parses = {text: one.columns for text, one in found.items() if not isinstance(one, RowError)}
    return {text: parses.get(text) for text in normal}


def test_embeddings_from_a_store_are_those_made_on_the_fly(encoder, monkeypatch, tmp_path):
    made = torch.from_numpy(encoder.encode(ODD, batch_size=5))
    given = from_store(ODD)
    monkeypatch.setattr(encoder[0].structure, "parses", type(encoder[0].structure.parses)(given))
    monkeypatch.setattr(Spans, "_load_tagger", lambda self: pytest.fail("tagged"))
    with torch.no_grad():
        features = encoder.eval()(encoder.preprocess(ODD))
    torch.testing.assert_close(features["sentence_embedding"], made, rtol=1e-5, atol=1e-5)
    assert made.isfinite().all()
    assert encoder.get_embedding_dimension() == made.shape[1] == 96
    assert features[WEIGHTS][0].sum().item() == pytest.approx(1)
    _, (text,), (parse,), (pieces,) = encoder[0].read(ODD[:1])  # known by now
    spans = encoder[0].structure.seen(text, parse, pieces)
    assert len(spans) == int((features[WEIGHTS][0] > 0).sum()) > 1
    span, _ = spans[0]
    assert (span.role, [parse["words"][place] for place in span.words]) == ("ARG0", ["The", "man", "sees"])
    assert made[13, :48].tolist() == pytest.approx(made[13, 48:].tolist())  # "no man" has no predicate: the mean twice

    encoder.save(str(tmp_path / "saved"), create_model_card=False)
    loaded = load_encoder(tmp_path / "saved", device="cpu")
    kinds = [module["type"].rpartition(".")[2] for module in json.loads((tmp_path / "saved/modules.json").read_text())]
    assert kinds == [type(module).__name__ for module in loaded] == ["TaggingTransformer", "Pooling", "SpanPooling"]
    loaded[0].structure.parses.update(given)
    with torch.no_grad():
        again = loaded(loaded.preprocess(ODD))["sentence_embedding"]
    torch.testing.assert_close(again, made, rtol=1e-5, atol=1e-5)


def test_the_tagger_computes_where_the_encoder_does(encoder, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("training.modules.spans.load", lambda settings: settings)
    monkeypatch.setattr(encoder[0].structure, "device", "auto")
    encoder[0].preprocess([])
    assert encoder[0].structure._load_tagger().device == "cpu"


def test_another_tagger_is_refused_unless_it_is_asked_for(encoder, monkeypatch):
    monkeypatch.setattr(encoder[0].structure, "tagger_weights", "0" * 64)
    with refused(OtherParser):
        encoder.encode(["a horse that nobody has tagged before"])
    monkeypatch.setattr(encoder[0].structure, "other_tagger", True)
    assert encoder.encode(["a horse that nobody has tagged before"]).shape == (1, 96)


def test_a_prompt_is_no_part_of_a_span(encoder):
    text = "He slices tomatoes in the kitchen"
    encoder[0].structure.parses[text] = TOMATOES
    plain, prompted = encoder.preprocess([text]), encoder.preprocess([text], prompt="the red horse ")
    assert prompted[NUMBERS].tolist() == plain[NUMBERS].tolist()
    assert prompted[SPAN_PLACES].tolist() == (plain[SPAN_PLACES] + 3).tolist()
