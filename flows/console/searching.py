"""What `search` and `neighbours` share: choosing texts and encoder, and vectors that are kept in the project."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.core.faults import UnknownTexts
from features.core.outputs import STANDARD
from features.core.wording import counted
from features.parsers.sentence_encoder import TextEncoder
from flows.console.here import Here
from flows.console.one_shot import name_wrong
from flows.terminal import say, warn
from flows.watching.file_progress import FileProgress
from training.encoders.input_length import count_cut, tell_cut_off, tell_unknown
from training.encoders.loading import load_reader
from training.encoders.s3bert.facets import FILE_NAME, FacetLayout
from training.search.blocks import VectorBlocks
from training.search.choosing import Chosen, choose_encoder, named_or_in_use
from training.search.texts import SearchedTexts, texts_of_file, texts_of_folder, texts_of_release
from training.search.vectors import cached_vectors, embed, embed_in_parts


class Searcher:
    """An encoder for search, with its stored vectors: named, or chosen by the project, for an aspect or with facets."""

    def __init__(
        self, project: Path, encoder: str | None, aspect: str | None, device: str, *, facets: bool = False
    ) -> None:
        self.here, self._device = Here.read(project), device
        encoders = () if self.here.project is None else self.here.project.encoders
        for_aspect = [each.name for each in encoders if aspect is not None and aspect in getattr(each, "aspects", ())]
        if facets and aspect is None:  # no encoder with facets has routes, of which one would be asked for
            folder, name = named_or_in_use(self.here.runs, encoder, self.here.encoders, FILE_NAME)
            self.chosen = Chosen(folder, None, name)
        else:
            self.chosen = choose_encoder(self.here.runs, encoder, aspect, self.here.encoders, for_aspect)
        named = self.chosen.name if encoder is None and aspect is not None else encoder
        self.here.use(self.chosen.folder, named)
        self.layout = FacetLayout.load(self.chosen.folder) if facets else None

    @cached_property
    def model(self) -> TextEncoder:
        """The encoder, loaded when it is needed: stored vectors need none."""
        return load_reader(self.chosen.folder, device=self._device)

    def texts(self, among: str | None, columns: Sequence[str]) -> SearchedTexts:
        """Return the texts to search, as `texts_among`, and name those that are left out."""
        texts = texts_among(self.here, among, columns)
        if texts.empty:
            say(f"Left out: {counted(texts.empty, 'row')} of {texts.origin} without a text.")
        name_wrong([f"Left out: {problem}." for problem in texts.wrong])
        return texts

    def vectors(self, searched: SearchedTexts) -> VectorBlocks:
        """Return the vectors of texts: those of their file, or else cached; only texts that are new are encoded."""
        if searched.encoded is not None:
            return searched.encoded.vectors(self.chosen.folder, self.chosen.task)

        def embed_new(new: Sequence[str]) -> Iterator[NDArray[np.float32]]:
            with FileProgress("texts") as progress:
                yield from embed_in_parts(self.model, new, self.chosen.task, progress)
            if cut := tell_cut_off(count_cut(self.model, new)):
                warn(f"Note: {cut}.")

        return VectorBlocks.of(
            cached_vectors(self.here.runs, self.chosen.folder, self.chosen.task, searched.texts, embed_new)
        )

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text, (1, d); it is not stored."""
        if count_cut(self.model, [text]):
            warn("Note: the text to search for is longer than the encoder's input: its end has no effect.")
        if unknown := tell_unknown(self.model, text):
            warn(f"Note: the encoder does not know {unknown} of the text to search for: unknown ones are all the same.")
        return embed(self.model, [text], self.chosen.task)


def rows_of(searched: SearchedTexts, best: Mapping[int, float]) -> list[dict[str, Any]]:
    """Return the texts at some positions with their similarities, best first, and what is known of each."""
    return [
        {"rank": rank, "similarity": round(similarity, 6), "text": searched.texts[at]}
        | ({"id": searched.ids[at]} if searched.ids else {})
        | ({"labels": searched.labels[at]} if searched.labels else {})
        for rank, (at, similarity) in enumerate(best.items(), start=1)
    ]


def texts_among(here: Here, among: str | None, columns: Sequence[str]) -> SearchedTexts:
    """Return the texts of a file, whose named columns are joined, of a folder, a corpus, or the newest release."""
    path = Path(among or "").expanduser()
    if among and (path == STANDARD or path.exists()):  # an empty name would be this folder
        return (texts_of_folder if path.is_dir() else texts_of_file)(path, columns)
    if here.store is None:
        missing = "name a file to search (in a command by --among)" if among is None else f"{among!r} does not exist"
        raise UnknownTexts(f"There is no project here whose texts could be searched: {missing}.")
    corpora = [corpus.name for corpus in here.corpora]
    if among is not None and corpora and among not in corpora:
        raise UnknownTexts(
            f"{among!r} is neither a file nor a corpus of the project; its corpora are: {', '.join(corpora)}. "
            "Check the path."
        )
    return texts_of_release(here.store, among)
