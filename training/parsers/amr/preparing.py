"""Everything before the first step: read, align, count labels, and turn sentences into examples."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from features.core.faults import FileEmpty, TooFewTexts
from features.core.files import open_text
from features.parsers.embedded.inputs import SentenceReader
from features.parsers.embedded.vocabulary import Vocabulary
from training.parsers.amr.alignment import align
from training.parsers.amr.corpus import Sentence, SourceReport, held_out_keys, read_source, read_training
from training.parsers.amr.examples import Example, make_example
from training.parsers.amr.settings import GraphSources
from training.parsers.amr.targets import anchor, count_vocabulary, make_target
from training.parsers.amr.translation import learn_translations

_log = logging.getLogger("training")
_ROLESET = re.compile(r"([a-z][a-z-]*)-(\d\d+)\b")


@dataclass(frozen=True, slots=True)
class Prepared:
    """The prepared data of a training.

    Args:
        vocabulary: labels counted on the training sentences.
        train: examples to train on.
        dev: examples to measure progress on.
        dev_sentences: the sentences of dev, each once, with their graphs.
        reports: report on each source.
    """

    vocabulary: Vocabulary
    train: list[Example]
    dev: list[Example]
    dev_sentences: list[Sentence]
    reports: list[SourceReport]


def prepare(source: GraphSources, reader: SentenceReader, *, max_words: int) -> Prepared:
    """Read and align all sentences of a training; those longer than `max_words` are left out.

    Raises:
        InputError: when a file cannot be read, or nothing is left to train on.
    """
    scored = [file for files in source.evaluations.values() for file in files]
    held_out = held_out_keys(source.held_out, [*source.dev, *scored])
    train, reports = read_training(source.train, held_out, max_words=max_words)
    dev = list({sentence.text: sentence for file in source.dev for sentence in read_source(file)}.values())
    dev = [sentence for sentence in dev if 0 < len(sentence.words) <= max_words]
    if not train or not dev:
        raise TooFewTexts(f"there are {len(train)} sentences to train on and {len(dev)} of dev; give some of each")
    sentences = [*train, *dev]
    evidence = learn_translations(sentences)
    anchored = [
        anchor(sentence, align(sentence.graph, sentence.words, concepts), concepts)
        for sentence, concepts in zip(sentences, evidence, strict=True)
    ]
    _log.info("aligned %d sentences", len(sentences))
    vocabulary = count_vocabulary(anchored[: len(train)], read_frames(source.frames))
    targets = [make_target(example, vocabulary) for example in anchored]
    examples = [
        make_example(sentence, target, reader, vocabulary) for sentence, target in zip(sentences, targets, strict=True)
    ]
    return Prepared(vocabulary, _usable(examples[: len(train)]), _usable(examples[len(train) :]), dev, reports)


def read_frames(path: Path | None) -> dict[str, list[str]]:
    """Read the senses of each lemma from a PropBank list of frames; empty without one.

    Raises:
        InputError: when no line starts with a roleset.
    """
    frames: dict[str, list[str]] = {}
    if path is None:
        return frames
    with open_text(path) as lines:
        for line in lines:
            roleset = _ROLESET.match(line)
            if roleset and roleset[2] not in frames.setdefault(roleset[1], []):
                frames[roleset[1]].append(roleset[2])
    if not frames:
        raise FileEmpty(f"the file {str(path)!r} lists no roleset; expected lines that start like 'abandon-01'")
    return frames


def _usable(examples: Sequence[Example | None]) -> list[Example]:
    return [example for example in examples if example is not None]
