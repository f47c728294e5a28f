"""What the model card of an encoder with dependency trees says about its graph."""

import pytest

from training.encoders.rgcn.model_card import _about
from training.encoders.rgcn.settings import RgcnSettings


@pytest.mark.parametrize(
    ("layers", "said"), [(0, "0 graph convolutions"), (1, "1 graph convolution over"), (2, "2 graph convolutions")]
)
def test_convolutions_are_counted_in_words_that_fit(layers, said):
    settings = RgcnSettings(graph_layers=layers).model_dump(mode="json")
    parser = {"identity": "spacy/en_toy-1.0", "sentences": 2, "trees": 2}
    assert said in _about({"settings": settings, "parser": parser})
