"""The classifier of pairs: its inputs, whether order matters, and that loading restores what was saved."""

import json
from unittest.mock import Mock

import pytest
import torch
from sentences import refused

from features.core.faults import EncoderDamaged
from training.modules.pair_classifier import SETTINGS_FILE, WEIGHTS_FILE, PairClassifier

U = torch.tensor([[1.0, 2.0]])
V = torch.tensor([[3.0, -1.0]])


def seen(parts) -> list[float]:
    """Return what a classifier sees of U and V: its weights pick one input each."""
    classifier = PairClassifier(2, [str(n) for n in range(2 * len(parts))], parts)
    with torch.no_grad():
        classifier.linear.weight.copy_(torch.eye(2 * len(parts)))
        classifier.linear.bias.zero_()
        return classifier(U, V)[0].tolist()


def test_the_parts_are_seen_in_their_order():
    assert seen(("u", "v", "|u-v|")) == [1, 2, 3, -1, 2, 3]
    assert seen(("|u-v|", "u*v")) == [2, 3, 3, -2]


@pytest.mark.parametrize(
    ("parts", "symmetric"), [(("|u-v|", "u*v"), True), (("|u-v|",), True), (("u", "v", "|u-v|"), False)], ids=str
)
def test_a_swapped_pair_has_the_same_answer_where_no_part_has_an_order(parts, symmetric):
    torch.manual_seed(0)
    classifier, left, right = PairClassifier(8, ["0", "1"], parts), torch.randn(50, 8), torch.randn(50, 8)
    assert torch.equal(classifier(left, right), classifier(right, left)) is symmetric
    assert classifier.is_symmetric is symmetric


def test_a_saved_classifier_is_the_same(tmp_path):
    classifier = PairClassifier(2, ["contradiction", "entailment", "neutral"])
    classifier.save(tmp_path)
    torch.set_default_dtype(torch.float64)  # as a script of its user may do
    try:
        found = PairClassifier.load(tmp_path)
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found(U, V), classifier(U, V))
    assert (found.labels, found.parts) == (classifier.labels, classifier.parts)
    assert not found.training


@pytest.mark.parametrize("lost", [(SETTINGS_FILE,), (WEIGHTS_FILE,), (SETTINGS_FILE, WEIGHTS_FILE)], ids=len)
def test_a_classifier_that_lost_files_names_them_and_what_helps(tmp_path, lost):
    PairClassifier(2, ["0", "1"]).save(tmp_path)
    for name in lost:
        (tmp_path / name).unlink()
    with refused(EncoderDamaged):
        PairClassifier.load(tmp_path)


def test_damage_is_one_sentence(tmp_path):
    PairClassifier(2, ["0", "1"]).save(tmp_path)
    settings = tmp_path / SETTINGS_FILE
    described = json.loads(settings.read_text())
    threshold = {"label": "1", "value": 0.4, "pairs": 9}
    changes = [{"parts": ["u+v"]}, {"dimension": 3}, {"threshold": threshold | {"label": "yes"}}]
    changes += [{"threshold": threshold | {"value": value}} for value in ("x", 1.5, float("nan"))]
    for wrong in (*({**described, **change} for change in changes), {"labels": []}):
        settings.write_text(json.dumps(wrong))
        with refused(EncoderDamaged):
            PairClassifier.load(tmp_path)
    settings.write_text(json.dumps(described))
    (tmp_path / WEIGHTS_FILE).write_bytes(b"nothing")
    with refused(EncoderDamaged):
        PairClassifier.load(tmp_path)


def test_a_file_that_the_system_refuses_is_not_damaged(tmp_path, monkeypatch):
    PairClassifier(2, ["0", "1"]).save(tmp_path)
    monkeypatch.setattr("pathlib.Path.read_text", Mock(side_effect=PermissionError("Permission denied")))
    with pytest.raises(PermissionError):
        PairClassifier.load(tmp_path)


def test_probabilities_are_the_softmax_of_the_logits_for_any_number_of_pairs():
    torch.manual_seed(0)
    classifier = PairClassifier(4, ("no", "yes", "perhaps"))
    left, right = torch.randn(2, 5000, 4)
    found = classifier.probabilities(left.numpy(), right.numpy())
    expected = classifier(left, right).detach().softmax(dim=1).numpy()
    assert found == pytest.approx(expected, abs=1e-6)
    assert found.dtype == "float64"
    two = classifier.probabilities(left.numpy(), right.numpy(), ("perhaps", "no"))
    assert two == pytest.approx(expected[:, [2, 0]] / expected[:, [2, 0]].sum(axis=1, keepdims=True), abs=1e-6)
    assert classifier.probabilities(left.numpy()[:0], right.numpy()[:0]).shape == (0, 3)


def test_embeddings_of_another_encoder_are_refused():
    with refused(EncoderDamaged):
        PairClassifier(4, ("no", "yes")).probabilities(*torch.randn(2, 5, 3).numpy())


def test_an_encoder_may_have_none(tmp_path):
    assert not PairClassifier.is_in(tmp_path)
    PairClassifier(4, ("no", "yes")).save(tmp_path)
    assert PairClassifier.load(tmp_path).labels == ("no", "yes")
