"""What a user chooses about an encoder of any kind."""

from typing import Annotated

from pydantic import Field

from training.loop.settings import Trainable

BY_LOSS = "loss"
"""What `choose_by` is where no set of ratings chooses the model."""


class EncoderSettings(Trainable):
    """What all kinds of encoders have in common.

    Args:
        name: of the encoder; its runs are kept under it.
        kind: which kind it is; `training.kinds` lists them.
        backbone: name or path of the sentence encoder to start from.
        corpora: corpora to learn from; all when empty.
        splits: names of the splits to learn from and to choose the best model by.
        choose_by: what the best model is chosen by: the loss on the dev split, or, by its name, a set of split `dev`
            under `[[evaluation]]`: Spearman's correlation of the cosines of its pairs with their ratings.
    """

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    kind: str
    backbone: str = "all-MiniLM-L6-v2"
    corpora: tuple[str, ...] = ()
    splits: tuple[str, str] = ("train", "dev")
    choose_by: str = BY_LOSS
