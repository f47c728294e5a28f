"""Semantic textual similarity: the STS benchmark and the SemEval tasks of 2012 to 2016."""

from features.corpora.dataset import Dataset, TableLayout

_TERMS = "terms of the sources (Microsoft Research, LDC, news sites and forums); research use"

STSB = Dataset(
    name="stsb",
    kind="similarity",
    about="The STS benchmark: news, captions and forum sentences, similarity rated from 0 to 5.",
    splits=("train", "dev", "test"),
    layouts=(
        # The form of GLUE, with a header line; sts-train.csv as released: tab-separated despite its name.
        TableLayout(
            form="tsv",
            quotes="ordinary",
            columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "score": "score"},
        ),
        TableLayout(form="tsv", quotes="ordinary", columns={"sentence_a": 5, "sentence_b": 6, "score": 4}, width=7),
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
            TableLayout(
                form="tsv",
                quotes="ordinary",
                columns={"sentence_a": 0, "sentence_b": 1},
                width=2,
                scores_beside=(".input.", ".gs."),
            ),
            TableLayout(form="tsv", quotes="ordinary", columns={"score": 0, "sentence_a": 1, "sentence_b": 2}, width=3),
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
