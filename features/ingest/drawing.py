"""Which split a text with labels is in: that of its file, or the one that is drawn, unless the store has it already."""

from features.corpora.rows import TextRow
from features.corpora.settings import CorpusSettings
from features.ingest.known import Known
from features.ingest.sentences import Sentences


def place(row: TextRow, corpus: CorpusSettings, sentences: Sentences, known: Known) -> TextRow:
    """Return a text in its split.

    Where all files of a corpus stand under one split, a text that the store has keeps the split that it has there,
    whatever `draw` says by now: shards never change, and no text is in two splits.

    Args:
        row: as it was read, in the split of its file.
        corpus: that it is of.
        sentences: knows the ids of texts.
        known: what is stored.
    """
    if len(corpus.files) != 1 or corpus.record.kind == "classes":
        return row
    sentence = sentences.identify(row.text)[0]
    drawn = row.split if corpus.draw is None else corpus.draw.split_of(sentence)
    stored = known.split_of.get((row.corpus, sentence), drawn)
    return row._replace(split=stored, kept=stored != drawn)
