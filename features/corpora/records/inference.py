"""Natural language inference: premise, hypothesis, and whether the hypothesis follows."""

from functools import partial

from features.corpora.dataset import Dataset, TableLayout

_inference = partial(
    Dataset,
    kind="inference",
    layouts=(
        # As released, .jsonl or .txt; then the plain tables that many projects convert it to.
        TableLayout(columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "label": "gold_label"}),
        TableLayout(columns={"sentence_a": "premise", "sentence_b": "hypothesis", "label": "label"}),
    ),
    labels=("entailment", "neutral", "contradiction"),
    no_gold=("-",),
)

SNLI = _inference(
    name="snli",
    about="Captions of Flickr30k as premises, hypotheses written by people.",
    licence="CC BY-SA 4.0",
    source="https://nlp.stanford.edu/projects/snli/",
    paper="Bowman et al. 2015, EMNLP",
)

MNLI = _inference(
    name="mnli",
    about="Premises of ten genres of spoken and written English.",
    splits=("train", "dev"),
    licence="OANC licence, in part CC BY 3.0, CC BY-SA 3.0 and public domain",
    source="https://cims.nyu.edu/~sbowman/multinli/",
    paper="Williams et al. 2018, NAACL",
)

ALLNLI = _inference(
    name="allnli",
    about="SNLI and MNLI in one file, as sentence-transformers ships them.",
    layouts=(
        TableLayout(columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "label": "label", "split": "split"}),
    ),
    licence="those of SNLI and MNLI",
    source="https://sbert.net/datasets/AllNLI.tsv.gz",
    paper="Reimers and Gurevych 2019, EMNLP",
)
