"""Natural language inference: premise, hypothesis, and whether the hypothesis follows."""

from features.corpora.dataset import Dataset, TableLayout

_LABELS = ("entailment", "neutral", "contradiction")
_LAYOUTS = (
    # As released, .jsonl or .txt; then the plain tables that many projects convert it to.
    TableLayout(columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "label": "gold_label"}),
    TableLayout(columns={"sentence_a": "premise", "sentence_b": "hypothesis", "label": "label"}),
)

SNLI = Dataset(
    name="snli",
    kind="inference",
    about="Captions of Flickr30k as premises, hypotheses written by people.",
    splits=("train", "dev", "test"),
    layouts=_LAYOUTS,
    labels=_LABELS,
    no_gold=("-",),
    licence="CC BY-SA 4.0",
    source="https://nlp.stanford.edu/projects/snli/",
    paper="Bowman et al. 2015, EMNLP",
)

MNLI = Dataset(
    name="mnli",
    kind="inference",
    about="Premises of ten genres of spoken and written English.",
    splits=("train", "dev"),
    layouts=_LAYOUTS,
    labels=_LABELS,
    no_gold=("-",),
    licence="OANC licence, in part CC BY 3.0, CC BY-SA 3.0 and public domain",
    source="https://cims.nyu.edu/~sbowman/multinli/",
    paper="Williams et al. 2018, NAACL",
)

ALLNLI = Dataset(
    name="allnli",
    kind="inference",
    about="SNLI and MNLI in one file, as sentence-transformers ships them.",
    splits=("train", "dev", "test"),
    layouts=(
        TableLayout(columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "label": "label", "split": "split"}),
    ),
    labels=_LABELS,
    no_gold=("-",),
    licence="those of SNLI and MNLI",
    source="https://sbert.net/datasets/AllNLI.tsv.gz",
    paper="Reimers and Gurevych 2019, EMNLP",
)
