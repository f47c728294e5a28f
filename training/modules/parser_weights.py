"""Check that a parser is the one that an encoder was trained with, by the digest of its files as in a stage's recipe.

Name and version are not enough: a custom pipeline keeps them when it is trained further.
"""

from functools import lru_cache

from features.core.errors import ModelError
from features.core.faults import OtherParser
from features.parsers.settings import DependencySettings, SrlSettings


def weights_of(settings: DependencySettings | SrlSettings) -> str:
    """Return the digest of a parser, or of a tagger together with the pipeline that finds its predicates.

    Raises:
        ModelError: when it is not on this machine.
    """
    from features.models import locate, stamp
    from features.parsers.srl.parser import locate_tagger

    if isinstance(settings, DependencySettings):
        parts = [locate(settings.model)]
    else:
        parts = [locate_tagger(settings.model)] + ([locate(settings.tags)] if settings.predicates == "spacy" else [])
    return _weights_of(settings, tuple(stamp(part) for part in parts))


@lru_cache(maxsize=4)
def _weights_of(settings: DependencySettings | SrlSettings, _stamps: object) -> str:
    from features.stages.dependencies import dependency_recipe
    from features.stages.srl import srl_recipe

    recipe = dependency_recipe(settings) if isinstance(settings, DependencySettings) else srl_recipe(settings)
    return recipe.weights or ""


def same_weights(one: str, other: str) -> bool:
    """Return whether two digests are of the same files; an empty one, as of an export, matches any."""
    return not one or not other or one == other


def another_parser(learnt: str, here: str, option: str) -> ModelError:
    """Return the error of an encoder whose installed parser is not the one that it was trained with.

    Args:
        learnt: its training parses: "trees of 'spacy/en_core_web_md-3.8.0'".
        here: the installed parser: "the installed pipeline is 'spacy/en_core_web_md-3.7.0'".
        option: attribute of its transformer that allows another parser.
    """
    return OtherParser(
        f"the encoder was trained on {learnt}, but {here}, which would change its embeddings: restore that one, or "
        f"train the encoder again with this one; in Python `encoder.model[0].{option} = True` uses this one anyway."
    )
