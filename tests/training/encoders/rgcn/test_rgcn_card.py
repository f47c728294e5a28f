"""What the model card of an encoder with dependency trees says about its graph."""

import pytest

from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.running import write_card

FACTS = {
    "corpora": {"a|b": {"train": 2, "dev": 1, "licence": ""}},
    "source": {"release": 3, "versions": {"pairs": 4, "sentences": 9}},
    "parser": {"identity": "spacy/en_toy-1.0", "sentences": 2, "trees": 2},
    "pairs": {"train": 2, "dev": 1, "with_hard": 0},
    "chosen_by": {"set": None},
    "dev": {"loss": 0.5, "average_precision": 0.25},
    "precision": "float32",
    "device": "cpu",
    "steps": 2,
    "best_step": 1,
    "seconds": 3.0,
    "backbone_digest": "0123456789abcdef",
    "backbone_licence": "MIT",
    "data_digest": "dd",
}


@pytest.mark.parametrize(
    ("layers", "said"), [(0, "0 graph convolutions"), (1, "1 graph convolution over"), (2, "2 graph convolutions")]
)
def test_convolutions_are_counted_in_words_that_fit(layers, said):
    settings = RgcnSettings(graph_layers=layers).model_dump(mode="json")
    assert said in write_card(FACTS | {"settings": settings})


def test_a_card_has_the_data_and_the_values_that_were_tried_as_tables():
    tried = [{"values": {"learning_rate": 1e-5}, "dev": {"loss": 0.5, "f1": 0.25}, "best_step": 3}]
    settings = RgcnSettings().model_dump(mode="json")
    card = write_card(FACTS | {"settings": settings, "search": {"chosen": {"learning_rate": 1e-5}, "tried": tried}})
    assert "| corpus | training pairs | dev pairs | licence |\n|---|---|---|---|\n| a\\|b | 2 | 1 | not rec" in card
    header = "| learning_rate | dev loss | dev f1 | best step |  |\n|---|---|---|---|---|\n"
    assert f"{header}| 1e-05 | 0.5000 | 0.2500 | 3 | this encoder |\n\n| setting | value |" in card
    assert "\n\n\n" not in card
    assert "Chosen by the dev loss: loss 0.5000, average precision 0.2500. Start weights" in card
