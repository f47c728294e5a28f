"""MRPC: the Microsoft Research Paraphrase Corpus."""

from features.corpora.dataset import Dataset, TableLayout

MRPC = Dataset(
    name="mrpc",
    kind="paraphrase",
    about="Sentence pairs of news that are close in wording; two thirds are paraphrases.",
    splits=("train", "dev", "test"),
    # Quotes are ordinary, the first line begins with a byte order mark, lines end in CR LF.
    layouts=(
        TableLayout(
            quotes="ordinary",
            columns={"sentence_a": "#1 String", "sentence_b": "#2 String", "label": "Quality"},
        ),
    ),
    labels=("0", "1"),
    label_scores={"0": 0.0, "1": 1.0},
    licence="Microsoft Research terms, research use",
    source="https://www.microsoft.com/en-us/download/details.aspx?id=52398",
    paper="Dolan and Brockett 2005, IWP",
    sha256={
        "msr_paraphrase_test.txt": "51a1f197d8786712d2f0d97700f5be653b7488a96cde00e158159350d23e3d90",
    },
)
