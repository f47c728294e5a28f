"""UKP ASPECT: arguments on controversial topics."""

from features.corpora.dataset import Dataset, TableLayout

UKP_ASPECT = Dataset(
    name="ukp_aspect",
    kind="similarity",
    about="Pairs of arguments on 28 topics: highly (HS), somewhat (SS), not similar (NS), other topics (DTORCD).",
    splits=("test",),
    layouts=(TableLayout(columns={"sentence_a": "sentence_1", "sentence_b": "sentence_2", "label": "label"}),),
    labels=("DTORCD", "NS", "SS", "HS"),
    # The three-point scale of Behrendt and Harmeling (2021), as S3BERT uses it.
    label_scores={"DTORCD": 0.0, "NS": 0.0, "SS": 0.5, "HS": 1.0},
    licence="CC BY-NC 4.0 (UKP); the copy with silver graphs MIT",
    source="https://tudatalib.ulb.tu-darmstadt.de/handle/tudatalib/1998",
    paper="Reimers et al. 2019, ACL",
    sha256={"UKP_ASPECT.tsv": "3b25bf54202f1cbee274c7ff399c16233a4ca2da8f5beb2521f31d5a25a778b6"},
)
