"""Semantic textual similarity: the STS benchmark, the SemEval tasks of 2012 to 2016, and SICK."""

from collections.abc import Mapping
from functools import partial

from features.corpora.dataset import Dataset, Role, TableLayout

_TERMS = "terms of the sources (Microsoft Research, LDC, news sites and forums); research use"
_tsv = partial(TableLayout, form="tsv", quotes="ordinary")

STSB = Dataset(
    name="stsb",
    kind="similarity",
    about="The STS benchmark: news, captions and forum sentences, similarity rated from 0 to 5.",
    layouts=(
        # The form of GLUE, with a header line; sts-train.csv as released: tab-separated despite its name.
        _tsv(columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "score": "score"}),
        _tsv(columns={"sentence_a": 5, "sentence_b": 6, "score": 4}, width=7),
    ),
    score_range=(0.0, 5.0),
    licence=_TERMS,
    source="https://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark",
    paper="Cer et al. 2017, SemEval-2017 Task 1",
    sha256={
        "sts-train.csv": "0f71910b59aa1ad973c5897f0791f3b0965a92b8f82b1a95f3eea9f4162fda82",
        "sts-dev.csv": "5d7e944d8b02734b07bfdb5df67db3420c64bed153fcaa1ba47ad03480cf4234",
        "sts-test.csv": "affe45928a66ee5a708531233c95b7dacbbdc57f974f002a3d32ea0180cf816a",
    },
)


def _semeval(year: int, task: str) -> Dataset:
    return Dataset(
        name=f"sts{year % 100}",
        kind="similarity",
        about=f"SemEval {year}, task {task}: sentence pairs of several sources, similarity rated from 0 to 5.",
        # Only the first year has a training set of its own; later years train on the years before.
        splits=("train", "test") if year == 2012 else ("test",),
        layouts=(
            # As released: STS.input.NAME.txt with two sentences (2016: and two notes), STS.gs.NAME.txt with the scores.
            _tsv(columns={"sentence_a": 0, "sentence_b": 1}, width=2, scores_beside=(".input.", ".gs.")),
            _tsv(columns={"score": 0, "sentence_a": 1, "sentence_b": 2}, width=3),
        ),
        score_range=(0.0, 5.0),
        unscored=year >= 2015,  # since 2015 only part of the released pairs has been rated
        licence=_TERMS,
        source="https://ixa2.si.ehu.eus/stswiki/index.php/Main_Page",
        paper=f"Agirre et al. {year}, SemEval-{year} Task {task}",
    )


STS_SEMEVAL = (
    _semeval(2012, "6"),
    _semeval(2013, "*SEM shared task"),
    _semeval(2014, "10"),
    _semeval(2015, "2"),
    _semeval(2016, "1"),
)

_SICK: Mapping[Role, str] = {"sentence_a": "sentence_A", "sentence_b": "sentence_B", "score": "relatedness_score"}

SICK = Dataset(
    name="sick",
    kind="similarity",
    about="Captions changed by rule, relatedness rated from 1 to 5, entailment judged.",
    layouts=(
        # SICK.txt: all splits in one file.
        TableLayout(quotes="ordinary", columns={**_SICK, "label": "entailment_label", "split": "SemEval_set"}),
        # SICK_train.txt, SICK_trial.txt, SICK_test_annotated.txt of SemEval 2014.
        TableLayout(quotes="ordinary", columns={**_SICK, "label": "entailment_judgment"}),
    ),
    score_range=(1.0, 5.0),
    labels=("NEUTRAL", "ENTAILMENT", "CONTRADICTION"),
    split_names={"TRAIN": "train", "TRIAL": "dev", "TEST": "test"},
    licence="CC BY-NC-SA 3.0",
    source="https://marcobaroni.org/composes/sick.html",
    paper="Marelli et al. 2014, LREC",
    sha256={
        "SICK_train.txt": "266cf8047149bd1d68138dd30439f3122bff30069740ac6705bb6197d9f1b48e",
        "SICK_trial.txt": "5a88cfb62f8c6bd2a3cce0f2421ba2cb8c2be5ab4a800f6f01e2c64aafb7db56",
        "SICK_test_annotated.txt": "2b8aa806658d6fc23c6824c83776c2d4fee7556000817b5ec0f982861413b7d0",
    },
)
