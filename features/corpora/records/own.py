"""A user's own data: pairs, parsed pairs, texts with labels; and the example that comes with the package."""

from functools import partial
from pathlib import Path

from features.corpora.dataset import Dataset, GraphLayout, Role, TableLayout, TextLayout

_DIFFERENCES = "paraphrase negation quantity roles names coreference modality tense modifier root specificity frames"
_OPTIONAL: tuple[Role, ...] = ("score", "label", "split")
_own = partial(Dataset, kind="own", licence="the user's", source="the user's")

PAIRS = _own(
    name="pairs",
    about="Any table of sentence pairs: TSV, CSV, JSON lines or Parquet; the option `columns` takes other names.",
    layouts=(
        TableLayout(columns={role: role for role in ("sentence_a", "sentence_b", *_OPTIONAL)}, optional=_OPTIONAL),
    ),
    unscored=True,
)

PENMAN = _own(
    name="penman",
    about="Parsed pairs: two PENMAN files, whose n-th graphs are the n-th pair, with the sentences in `# ::snt`.",
    layouts=(GraphLayout(),),
    unscored=True,
    paper="Kasper 1989 (PENMAN notation); Banarescu et al. 2013 (AMR)",
)

TEXTS = _own(
    name="texts",
    about="Any table of texts with labels; the options `text` and `aspects` name its columns.",
    layouts=(TextLayout(text=(("text",),), aspects={"label": "label"}, separator="|"),),
)

EXAMPLE = Dataset(
    name="example",
    kind="own",
    about="Sentence pairs that differ in one point each, written for facetflow; they come with the package.",
    splits=("train", "dev"),
    layouts=(
        TableLayout(
            quotes="ordinary",
            columns={"sentence_a": "sentence_a", "sentence_b": "sentence_b", "label": "difference", "split": "split"},
        ),
    ),
    labels=tuple(_DIFFERENCES.split()),
    licence="Apache-2.0",
    source="features/corpora/example/pairs.tsv",
    package_file=Path("example/pairs.tsv"),
)
