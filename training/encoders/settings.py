"""What a user chooses about an encoder of any kind."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from training.encoders.search import check_search
from training.loop.settings import LoopSettings, Trainable

BY_LOSS = "loss"
"""What `choose_by` is where no set of ratings chooses the model."""


BY_POSITIVE = ("f1", "average_precision")
"""Further values of `choose_by` of kinds with a classifier: how well it tells dev pairs with the positive label."""

Part = Literal["u", "v", "|u-v|", "u*v"]
"""What a classifier sees of the embeddings u and v of a pair; as in `training.modules.pair_classifier`, which needs
torch."""
USUAL_PARTS: tuple[Part, ...] = ("u", "v", "|u-v|")
"""Of SBERT and SBERT-RGCN."""

Dropout = bool | Literal["states"]
"""What is kept of the dropout of layers that learn: all, none, or that of the states without that of the attention."""


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
        search: settings of which several values are tried, in every combination, each from the same start; the encoder
            is the one with the best dev score: `{ learning_rate = [1e-5, 2e-5, 5e-5] }`.
    """

    OWN_CHOICES: ClassVar[tuple[str, ...]] = (BY_LOSS,)
    """What `choose_by` may be beside sets of ratings: scores of the kind's own, on its dev split."""
    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ()
    """What `search` may name beside settings of the loop."""

    name: Annotated[str, Field(pattern=r"^[\w.-]+$")]
    kind: str
    backbone: str = "all-MiniLM-L6-v2"
    corpora: tuple[str, ...] = ()
    splits: tuple[str, str] = ("train", "dev")
    choose_by: str = BY_LOSS
    # Left out where it is empty, so that a run of the version before is still known by its settings.
    search: Annotated[Mapping[str, tuple[int | float, ...]], Field(exclude_if=lambda chosen: not chosen)] = {}

    @model_validator(mode="after")
    def _check_search(self) -> Self:
        check_search(self, self.search, self.OWN_SEARCHED)
        return self

    @property
    def unread(self) -> frozenset[str]:
        """Tables of the store that its kind reads, but not an encoder of these settings: a twin without structure."""
        return frozenset()

    @property
    def by_ratings(self) -> bool:
        """Whether a set of human ratings chooses the model."""
        return self.choose_by not in self.OWN_CHOICES


class JudgedSettings(EncoderSettings):
    """What kinds that learn from judged pairs have in common.

    Args:
        labels: that are told apart; all that occur when empty.
        positive_label: of the pairs that `f1` and `average_precision` are about.
        classifier: what the classifier sees of the embeddings u and v of a pair; with `u` and `v` their order counts.
        max_tokens: longer sentences are cut, also by the finished encoder.
        layers_tuned: how many of the last layers learn, or `all`, with the embeddings of tokens.
        words_below: so many layers below the last one are the word vectors that structure is made of; these layers
            have to learn, so that it is less than `layers_tuned`.
        dropout: of the layers that learn: `true` as the backbone has it, `false` none, `"states"` that of the states of
            words without that of the attention weights. On a processor torch's fused attention knows none, and long
            texts are learnt from twice as fast without.
        new_learning_rate: highest rate of what the backbone does not have, and of the classifier.
        cache_gib: memory for the outputs of the frozen layers.
        disk_gib: room for them in the folder for temporary files, where they do not fit into that memory; beyond it
            they are computed again. Several trainings of one command share them there.
    """

    OWN_CHOICES: ClassVar[tuple[str, ...]] = (BY_LOSS, *BY_POSITIVE)
    OWN_SEARCHED: ClassVar[tuple[str, ...]] = ("new_learning_rate",)

    labels: tuple[str, ...] = ()
    positive_label: str
    classifier: Annotated[tuple[Part, ...], Field(min_length=1)]
    max_tokens: Annotated[int, Field(ge=8)] = 128
    layers_tuned: Annotated[int, Field(ge=1)] | Literal["all"] = 2
    # Left out where it is 0, so that a run of the version before is still known by its settings.
    words_below: Annotated[int, Field(ge=0, exclude_if=lambda layers: layers == 0)] = 0
    dropout: Dropout = True
    new_learning_rate: Annotated[float, Field(gt=0)] = 5e-4
    cache_gib: Annotated[float, Field(ge=0)] = 2.0
    disk_gib: Annotated[float, Field(ge=0)] = 20.0

    @model_validator(mode="after")
    def _parts_and_labels_differ(self) -> Self:
        if len(set(self.labels)) < len(self.labels):
            raise ValueError(f"labels must differ from one another, got {list(self.labels)!r}")
        if len(set(self.classifier)) < len(self.classifier):
            raise ValueError(f"the parts of classifier must differ from one another, got {list(self.classifier)!r}")
        if self.layers_tuned != "all" and self.words_below >= self.layers_tuned:
            raise ValueError(
                f"words_below is {self.words_below}, and {self.layers_tuned} layers learn: raise layers_tuned to at "
                f"least {self.words_below + 1}, or lower words_below"
            )
        return self


def fill_in_preset(given: Any, presets: Mapping[Any, Mapping[str, Any]], usual: str) -> Any:
    """Return what a user wrote with the numbers of its preset where nothing else is said, those of the loop too.

    Args:
        given: keys of an encoder; anything else is returned as it is, for the model to refuse.
        presets: name → its numbers, with a table `loop`.
        usual: the preset where none is named.
    """
    if not isinstance(given, Mapping):
        return given
    preset = presets.get(given.get("preset", usual)) if isinstance(given.get("preset", ""), str) else None
    loop = given.get("loop", {})
    if isinstance(loop, LoopSettings):
        loop = loop.model_dump(exclude_unset=True)
    if preset is None or not isinstance(loop, Mapping):
        return given
    return {**preset, **given, "loop": {**preset["loop"], **loop}}


def from_version_before(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as this version writes them.

    Args:
        settings: perhaps of the version before, which kept the numbers of the loop beside all others, and counted the
            warm-up in steps, of which it took at most a tenth.
    """
    if "loop" in settings:
        return dict(settings)
    loop = {name: settings[name] for name in LoopSettings.model_fields if name in settings}
    others = {name: value for name, value in settings.items() if name not in loop}
    return others | {"loop": loop | {"warmup": 0.1}}
