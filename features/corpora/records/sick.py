"""SICK: sentences involving compositional knowledge."""

from features.corpora.dataset import Dataset, TableLayout

SICK = Dataset(
    name="sick",
    kind="similarity",
    about="Captions changed by rule, relatedness rated from 1 to 5, entailment judged.",
    splits=("train", "dev", "test"),
    layouts=(
        # SICK.txt: all splits in one file.
        TableLayout(
            quotes="ordinary",
            columns={
                "sentence_a": "sentence_A",
                "sentence_b": "sentence_B",
                "score": "relatedness_score",
                "label": "entailment_label",
                "split": "SemEval_set",
            },
        ),
        # SICK_train.txt, SICK_trial.txt, SICK_test_annotated.txt of SemEval 2014.
        TableLayout(
            quotes="ordinary",
            columns={
                "sentence_a": "sentence_A",
                "sentence_b": "sentence_B",
                "score": "relatedness_score",
                "label": "entailment_judgment",
            },
        ),
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
