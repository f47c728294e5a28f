import os
import shutil
import signal
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sentences import refused

from features.core.errors import RowError, SettingsError
from features.core.faults import FileMissing, OtherSettings, TooFewTexts
from features.core.types import OnRows
from features.graphs.graph import decode
from features.graphs.penman_files import read_blocks
from features.parsers.amr import load
from features.parsers.embedded.parser import EmbeddedParser, load_parser
from features.parsers.embedded.storage import Thresholds
from features.parsers.settings import AmrSettings
from flows.command_line import run
from training.jobs import read_parser_job
from training.loop import checkpoints
from training.loop.loop import Loop
from training.parsers.amr.corpus import read_source
from training.parsers.amr.scoring import score_graphs
from training.parsers.amr.settings import AmrParserJob, GraphSource
from training.parsers.amr.train import identity_of, main, train

pytestmark = pytest.mark.slow  # the network is trained once, in about half a minute


@pytest.fixture(scope="module")
def parser(trained):
    return load_parser(trained, AmrSettings(device="cpu", precision="float32", batch_size=8))


@pytest.fixture(scope="module")
def amr_settings(trained):
    return AmrSettings(backend="embedded", model=str(trained), device="cpu", precision="float32")


def test_unseen_sentences_of_the_language_are_parsed(parser, trained):
    dev = read_source(GraphSource(path=trained.parents[1] / "dev.amr"))
    scores = score_graphs(parser.parse([item.text for item in dev]), [item.penman for item in dev])
    assert scores["smatch"].f1.value > 0.95
    assert scores["coreference"].f1.value > 0.9
    assert scores["named_entities"].f1.value > 0.9


def test_half_precision_says_the_same(parser, trained):
    texts = [item.text for item in read_source(GraphSource(path=trained.parents[1] / "dev.amr"))]
    half = load_parser(trained, AmrSettings(device="cpu", precision="bfloat16")).parse(texts)
    same = sum(ours == theirs for ours, theirs in zip(parser.parse(texts), half, strict=True))
    assert same >= 0.9 * len(texts)


def test_batches_do_not_matter(parser, trained):
    texts = [item.text for item in read_source(GraphSource(path=trained.parents[1] / "dev.amr"))]
    one_by_one = load_parser(trained, AmrSettings(device="cpu", precision="float32", batch_size=1))
    assert one_by_one.parse(texts) == parser.parse(texts)


@example(texts=['0:0"', '\\ "\\"'], bias=-30.0, arc=-9.0)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=60), max_size=5), st.sampled_from([-30.0, 0.0, 30.0]), st.sampled_from([-9.0, 9.0]))
def test_any_text_and_any_labels_give_a_well_formed_graph(parser, texts, bias, arc):
    before = parser.thresholds
    parser.thresholds = Thresholds(arc=arc, primary=bias, wrapper=bias)
    try:
        graphs = parser.parse(texts)
    finally:
        parser.thresholds = before
    assert len(graphs) == len(texts)
    for graph in graphs:
        assert decode(graph).concepts


def test_what_cannot_be_parsed_is_rejected(amr_settings):
    results = load(amr_settings).parse(["The boy sleeps.", " ", "sleep " * 63, "boy " * 62])
    assert isinstance(results[0], str)
    assert [result.code for result in results if isinstance(result, RowError)] == [
        "empty_sentence",
        "sentence_too_long",
    ]
    assert isinstance(results[3], str), "62 word pieces are just what this encoder reads"


def test_a_failure_costs_one_sentence(amr_settings, monkeypatch):
    parse = EmbeddedParser.parse

    def fails(self: EmbeddedParser, texts: list[str], *told: OnRows) -> list[str]:
        if "bad" in texts:
            raise ValueError("a bug")
        return parse(self, texts, *told)

    monkeypatch.setattr(EmbeddedParser, "parse", fails)
    first, second, third = load(amr_settings).parse(["The boy sleeps.", "bad", "The dog runs."])
    assert isinstance(first, str)
    assert isinstance(third, str)
    assert isinstance(second, RowError)
    assert second.code == "parser_failed"
    assert second.message == "the parser 'embedded/own' failed on 'bad': ValueError('a bug')"


def test_the_card_names_data_licence_and_scores(trained):
    card = (trained / "README.md").read_text(encoding="utf-8")
    assert "| Apache-2.0 | 144 | 29 | 0 | 0 | 115 | 1 |" in card
    assert "| dev | 29 |" in card
    assert "/dev.amr) or in " in card
    assert "no other file" not in card, "what it is scored on was left out, too"


@pytest.mark.soak
def test_a_stopped_training_ends_with_the_same_weights(tmp_path, make_settings, interrupt, kill_at_a_checkpoint):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    paths = []
    for folder in (whole, parts):
        folder.mkdir()
        paths.append(make_settings(folder, epochs=3, dropout=0.1, concept_dropout=0.1, checkpoint_every=4))
    train(read_parser_job(AmrParserJob, paths[0]))
    assert "continue after step 8 of 24" in interrupt(11, train, read_parser_job(AmrParserJob, paths[1]))
    kill_at_a_checkpoint("training.parsers.amr.train", paths[1], parts / "run")
    train(read_parser_job(AmrParserJob, paths[1]))
    first, second = (folder / "run" / "model" / "model.safetensors" for folder in (whole, parts))
    assert first.read_bytes() == second.read_bytes()


def test_a_signal_waits_for_the_checkpoint_of_its_step(tmp_path, make_settings, monkeypatch):
    learn = Loop._learn

    def learn_and_be_ended(self: Loop, *told: Any, **named: Any) -> Any:
        if self.outcome.steps == 10:
            os.kill(os.getpid(), signal.SIGTERM)
        return learn(self, *told, **named)

    monkeypatch.setattr(Loop, "_learn", learn_and_be_ended)
    monkeypatch.setattr(torch, "set_flush_denormal", lambda _: None)  # of the process of all tests
    assert main(["--settings", str(make_settings(tmp_path, epochs=3))]) == 128 + signal.SIGTERM
    assert torch.load(tmp_path / "run" / checkpoints.FILE_NAME, weights_only=True)["outcome"]["steps"] == 11


def test_another_training_does_not_replace_a_finished_parser(trained, tmp_path, make_settings):
    shutil.copytree(trained.parents[1], tmp_path, dirs_exist_ok=True)
    model = tmp_path / trained.relative_to(trained.parents[1])
    before = (model / "model.safetensors").read_bytes()
    assert train(read_parser_job(AmrParserJob, make_settings(tmp_path))) == model, "it is done"
    with refused(OtherSettings):
        train(read_parser_job(AmrParserJob, make_settings(tmp_path, seed=1)))
    assert (model / "model.safetensors").read_bytes() == before


def test_a_trained_parser_parses_a_file(trained, tmp_path):
    sentences, output = tmp_path / "in.txt", tmp_path / "out.amr"
    sentences.write_text("The boy wants to sleep.\nThe cat does not run.\n", encoding="utf-8")
    assert run(["parse", "amr", str(sentences), "-o", str(output), "--model", str(trained)]) == 0
    graphs = [" ".join(block.text.split()) for block in read_blocks(output)]
    assert graphs == [
        "(z0 / want-01 :ARG0 (z1 / boy) :ARG1 (z2 / sleep-01 :ARG0 z1))",
        "(z0 / run-02 :ARG0 (z1 / cat) :polarity -)",
    ]


def test_an_error_is_one_sentence(tmp_path, make_settings, capsys):
    assert main(["--settings", str(make_settings(tmp_path, epochs=0))]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_too_few_sentences_are_an_error(tmp_path, make_settings):
    job = read_parser_job(AmrParserJob, make_settings(tmp_path))
    (tmp_path / "train.amr").write_text("# ::snt none\n(n / none)\n\n# ::snt A cow moos.\n(m / moo-01)\n")
    with refused(TooFewTexts):
        train(job)


def test_a_file_that_is_not_there_is_named(tmp_path, make_settings):
    job = read_parser_job(AmrParserJob, make_settings(tmp_path, source={"held_out": [{"path": "none.amr"}]}))
    with refused(FileMissing):
        train(job)


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"unknown": 1}, {"source": {"train": []}}])
def test_wrong_settings_are_named(tmp_path, make_settings, wrong):
    path = make_settings(tmp_path, **wrong)
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        read_parser_job(AmrParserJob, path)
    assert f'"{next(iter(wrong))}"' in path.read_text()


def test_a_training_is_known_by_the_content_of_its_files(tmp_path, make_settings):
    first, second = tmp_path / "first", tmp_path / "second"
    identities = []
    for folder in (first, second):
        folder.mkdir()
        identities.append(
            identity_of(read_parser_job(AmrParserJob, make_settings(folder, epochs=len(identities) + 1)), "base")
        )
    assert identities[0] == identities[1]
    (second / "train.amr").write_text((second / "train.amr").read_text().replace("boy", "lad"), encoding="utf-8")
    changed = read_parser_job(AmrParserJob, second / "settings.json")
    assert identity_of(changed, "base") != identities[1]
    kinds = [
        identity_of(read_parser_job(AmrParserJob, make_settings(first, source={"held_out": [held_out]})), "base")
        for held_out in ({"path": "dev.amr"}, {"path": "dev.amr", "kind": "table"})
    ]
    assert kinds[0] != kinds[1], "other sentences are held out"
    assert identity_of(read_parser_job(AmrParserJob, make_settings(first, seed=1)), "base") != identities[0]
