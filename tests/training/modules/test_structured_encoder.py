"""Modules of SBERT-RGCN: words find their pieces; trees of a store and trees made on the fly give equal embeddings."""

import json
import shutil

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from sentences import refused

import facetflow
from features.core.faults import EncoderDamaged, ModelUnfit, OtherParser
from features.models import locate
from features.parsers.dependencies import load
from features.parsers.settings import DependencySettings
from features.sentences import normalise
from training.encoders.loading import load_encoder
from training.modules import trees
from training.modules.graph_pooling import GraphPooling, NodeCombination
from training.modules.layers import words_of
from training.modules.parse import LabelNumbers, weights_of
from training.modules.parsing_transformer import ParsingTransformer
from training.modules.trees import HEADS, LABELS, PLACES, Trees, random_tree, tree_rows

ODD = [
    "two cats sleep in the park",
    "dogs don't bark \U0001f436\U0001f469\u200d\U0001f469\u200d\U0001f467 at all",
    "see https://example.org/a?b=c#d or mail x@y.org",
    "\u732b\u5728\u516c\u56ed\u91cc\u7761\u89c9\u3002",
    " ".join(["the red horse runs"] * 100),
    " ".join(["word"] * 600),  # longer than what a build parses
    "",
    "\u200b",
    "...",
    "  a   man\tsees\n\nthe house  ",
    "e\u0301t\u00e9 nai\u0308ve",
    "no",
]
LABELS_OF_TOY = ("det", "nsubj")


@pytest.fixture(scope="module")
def parser(needs_model):
    needs_model("en_core_web_md")
    return load(DependencySettings())


@pytest.fixture(scope="module")
def encoder(tiny_encoder, parser):
    """Return a tiny encoder with a graph over its words."""
    torch.manual_seed(0)
    transformer = ParsingTransformer(
        str(tiny_encoder), parser="en_core_web_md", parser_identity=parser.name, labels=parser.labels, max_seq_length=32
    )
    graph = GraphPooling(48, labels=len(LabelNumbers(parser.labels)), width=24, layers=2, bases=4)
    return SentenceTransformer(modules=[transformer, Pooling(48), graph, NodeCombination(48, 24)], device="cpu")


def from_store(parser, texts):
    """Return text → parse, as a build makes and rejects them."""
    normal = [normalise(text) for text in texts]
    admitted = [text for text in normal if len(text.split()) <= parser.max_words]
    parses = dict(zip(admitted, parser.parse(admitted), strict=True))
    return {text: parses.get(text) for text in normal}


def copied_pipeline(folder):
    """Return a copy of the pipeline that may be changed."""
    return shutil.copytree(locate("en_core_web_md"), folder)


def embed(encoder, texts, parses):
    encoder[0].structure.parses.update(parses)
    features = encoder.preprocess(texts)
    with torch.no_grad():
        return encoder.eval()(features)["sentence_embedding"]


def test_embeddings_from_a_store_are_those_made_on_the_fly(encoder, parser, monkeypatch):
    made = torch.from_numpy(encoder.encode(ODD, batch_size=5))
    monkeypatch.setattr(trees.Trees, "_load_parser", lambda self: pytest.fail("parsed"))
    monkeypatch.setattr(encoder[0].structure, "parses", type(encoder[0].structure.parses)())
    stored = embed(encoder, ODD, from_store(parser, ODD))
    torch.testing.assert_close(stored, made, rtol=1e-5, atol=1e-5)
    assert made.isfinite().all()
    assert encoder.get_embedding_dimension() == made.shape[1] == 72


def test_a_text_that_is_too_long_for_the_parser_has_no_tree_and_ends_nothing(encoder):
    long, short = encoder[0].structure.trees(["a" * 1_000_001, "Dogs bark."])
    assert long is None
    assert short is not None


def test_a_saved_encoder_loads_with_its_own_modules_and_runs_no_code_of_its_folder(encoder, tmp_path):
    before = encoder.encode(ODD)
    encoder.save(str(tmp_path / "saved"), create_model_card=False)
    (tmp_path / "saved" / "training.py").write_text("raise SystemExit('ran')")
    loaded = load_encoder(tmp_path / "saved", device="cpu")
    assert [type(module).__name__ for module in loaded] == [
        "ParsingTransformer", "Pooling", "GraphPooling", "NodeCombination",
    ]  # fmt: skip
    torch.testing.assert_close(torch.from_numpy(loaded.encode(ODD)), torch.from_numpy(before), rtol=1e-5, atol=1e-5)
    assert loaded[0].structure.parser_identity == encoder[0].structure.parser_identity
    modules = json.loads((tmp_path / "saved" / "modules.json").read_text())
    modules[2]["type"] = "training.modules.parse.LabelNumbers"
    (tmp_path / "saved" / "modules.json").write_text(json.dumps(modules))
    with refused(EncoderDamaged):
        load_encoder(tmp_path / "saved", device="cpu")


def test_another_parser_is_refused_unless_it_is_asked_for_as_the_message_says(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(encoder[0].structure, "parser_identity", "spacy/en_core_web_md-1.0.0")
    with refused(OtherParser):
        encoder.encode(["a horse that nobody has parsed before"])
    encoder.save(str(tmp_path / "saved"), create_model_card=False)
    loaded = facetflow.load_encoder(tmp_path / "saved")
    with refused(OtherParser):
        loaded.encode(["a horse that nobody has parsed before"])
    loaded.model[0].structure.other_parser = True
    assert loaded.encode("a horse that nobody has parsed before").shape == (72,)


def test_a_pipeline_of_the_same_name_and_version_with_other_weights_is_refused(encoder, tmp_path, monkeypatch):
    text = ["a horse that nobody has parsed before"]
    own = copied_pipeline(tmp_path / "pipe")
    monkeypatch.setattr(encoder[0].structure, "parser", str(own))
    monkeypatch.setattr(encoder[0].structure, "parser_weights", weights_of(DependencySettings(model=str(own))))
    assert encoder.encode(text).shape == (1, 72)
    (own / "further").write_text("trained further")
    with refused(OtherParser):
        encoder.encode(["another horse that nobody has parsed before"])
    monkeypatch.setattr(encoder[0].structure, "other_parser", True)
    assert encoder.encode(["another horse that nobody has parsed before"]).shape == (1, 72)


def test_the_digest_is_kept(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(encoder[0].structure, "parser_weights", weights_of(DependencySettings()))
    encoder.save(str(tmp_path / "saved"), create_model_card=False)
    (config,) = (tmp_path / "saved").glob("**/sentence_bert_config.json")
    kept = json.loads(config.read_text())["parser_weights"]
    assert kept == load_encoder(tmp_path / "saved", device="cpu")[0].structure.parser_weights != ""


def test_an_encoder_encodes_under_autocast(encoder):
    plain = encoder.encode(ODD[:3])
    with torch.autocast("cpu", torch.bfloat16):
        found = encoder.encode(ODD[:3])
    assert torch.cosine_similarity(torch.from_numpy(found).float(), torch.from_numpy(plain)).min() > 0.99


def test_a_prompt_is_no_part_of_the_tree(encoder, parser):
    plain = encoder.preprocess(["two cats sleep"])
    prompted = encoder.preprocess(["two cats sleep"], prompt="the red horse ")
    assert prompted[HEADS].tolist() == plain[HEADS].tolist()
    assert prompted[PLACES].tolist() == (plain[PLACES] + 3).tolist()


def test_the_tree_changes_the_embedding_and_a_sentence_without_one_has_an_embedding(encoder, parser):
    (tree,) = parser.parse(["two cats sleep"])
    flat = tree | {"heads": [0, 1, 2]}
    text = "two cats sleep"
    first, second, third = (embed(encoder, [text], {text: parse}) for parse in (tree, flat, None))
    del encoder[0].structure.parses[text]
    assert not torch.allclose(first, second)
    assert third.isfinite().all()


def test_word_vectors_are_those_of_the_layer_that_was_asked_for(tiny_encoder, parser):
    given = {"parser": "en_core_web_md", "parser_identity": parser.name, "labels": parser.labels}
    transformer = ParsingTransformer(str(tiny_encoder), words_below=1, **given).eval()
    features = transformer(transformer.preprocess([ODD[0]]))
    states = transformer.model(input_ids=features["input_ids"], output_hidden_states=True).hidden_states
    torch.testing.assert_close(words_of(features), states[-2])
    torch.testing.assert_close(features["token_embeddings"], states[-1])
    with refused(ModelUnfit):
        ParsingTransformer(str(tiny_encoder), words_below=3, **given)


def test_words_find_their_first_pieces():
    labels = LabelNumbers(LABELS_OF_TOY)
    parse = {
        "tokens": ["Dogs", "do", "n't", " ", "bark", "loudly"],
        "starts": [0, 5, 7, 10, 11, 16],
        "heads": [4, 4, 4, 4, 4, 4],
        "relations": ["nsubj", "aux", "neg", "", "ROOT", "advmod"],
    }
    # [CLS] dogs don ' t ba ##rk [SEP]: "loudly" was cut off, the blank has no piece, "n't" begins within "don"
    pieces = [(0, 0), (0, 4), (5, 8), (8, 9), (9, 10), (11, 13), (13, 15), (0, 0)]
    rows = tree_rows(parse, pieces, labels)
    assert [place for place, _, _ in rows] == [1, 2, 2, 0, 5, 0]
    assert [head for _, head, _ in rows] == [5] * 6
    assert [label for _, _, label in rows] == [2, 3, 3, 3, 3, 3]  # all unknown ones share the last
    assert len(labels) == 3
    smile = {"tokens": ["😀"], "starts": [0], "heads": [0], "relations": ["nsubj"]}
    assert tree_rows(smile, [(0, 0), (0, 1), (0, 1), (0, 0)], labels)[0][0] == 1  # pieces of a byte have its character


def test_a_batch_is_padded_with_zeros_and_a_sentence_without_a_parse_has_none():
    parse = {"tokens": ["a"], "starts": [0], "heads": [0], "relations": ["det"]}
    toy = Trees(parser="toy", parser_identity="toy", labels=LABELS_OF_TOY)
    tensors = toy.tensors(["", "a"], [None, parse], [[(0, 0)], [(0, 0), (0, 1), (0, 0)]])
    assert {name: rows.tolist() for name, rows in tensors.items()} == {
        PLACES: [[0], [1]], HEADS: [[0], [1]], LABELS: [[0], [1]],
    }  # fmt: skip
    assert toy.tensors([""], [None], [[]])[PLACES].shape == (1, 0)


def test_the_mean_over_nodes_without_layers_is_that_of_the_words():
    torch.manual_seed(0)
    pooling = GraphPooling(5, labels=3, width=4, layers=0).eval()
    tokens = torch.randn(2, 4, 5)
    features = {
        "token_embeddings": tokens,
        PLACES: torch.tensor([[1, 3], [0, 0]]),
        HEADS: torch.tensor([[1, 1], [0, 0]]),
        LABELS: torch.tensor([[1, 1], [0, 0]]),
    }
    found = pooling(features)["node_embedding"]
    torch.testing.assert_close(found[0], torch.relu(pooling.words(tokens[0, [1, 3]])).mean(dim=0))
    assert found[1].tolist() == [0, 0, 0, 0]


def test_a_random_tree_is_a_tree_of_the_same_words_and_labels_and_always_the_same():
    words = ["two", "cats", "and", "a", "dog", "sleep", "in", "the", "park"]
    parse = {"tokens": words, "starts": list(range(9)), "heads": [1, 5, 1, 4, 1, 5, 5, 8, 6]}
    parse["relations"] = ["num", "nsubj", "cc", "det", "conj", "ROOT", "prep", "det", "pobj"]
    found = [random_tree(parse, seed) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]
    for tree in found:
        assert sorted(tree["relations"]) == sorted(parse["relations"])
        assert (tree["tokens"], tree["starts"]) == (parse["tokens"], parse["starts"])
        (root,) = [word for word, head in enumerate(tree["heads"]) if head == word]
        for start in range(9):
            word = start
            for _ in range(9):
                word = tree["heads"][word]
            assert word == root
    assert random_tree({"tokens": [], "starts": [], "heads": [], "relations": []}, 0)["heads"] == []


def test_with_one_label_all_edges_are_alike(encoder, parser):
    torch.manual_seed(0)
    (tree,) = parser.parse(["two cats sleep in the park"])
    other = tree | {"relations": ["det"] * len(tree["relations"])}
    for labels, alike in ((1, True), (len(LabelNumbers(parser.labels)), False)):
        graph = GraphPooling(48, labels=labels, width=24, bases=4)
        alone = SentenceTransformer(modules=[encoder[0], Pooling(48), graph, NodeCombination(48, 24)], device="cpu")
        text = "two cats sleep in the park"
        first, second = (embed(alone, [text], {text: one}) for one in (tree, other))
        del encoder[0].structure.parses[text]
        assert torch.allclose(first, second) is alike
