"""Texts with aspects: papers with their tasks and areas, companies with their industry, arguments with their topic.

The arguments also come as pairs, UKP ASPECT.
"""

from features.corpora.dataset import Dataset, TableLayout, TextLayout

_PAPERS = ("title", "abstract")

PWC_AREA_TASK = Dataset(
    name="pwc_area_task",
    kind="aspects",
    about="Abstracts of papers with one of 16 areas and one of 339 tasks, by Papers with Code.",
    splits=("dev", "test"),
    layouts=(TextLayout(text=(_PAPERS,), aspects={"area": "area", "task": "task_id"}),),
    no_gold=("unknown",),
    licence="CC BY-SA 4.0 (Papers with Code)",
    source="https://github.com/1pha/BayesianActiveLearning",
)

PWC_TDM = Dataset(
    name="pwc_tdm",
    kind="aspects",
    about="Abstracts of papers with their tasks, data sets and metrics, several each, by Papers with Code.",
    splits=("train",),
    layouts=(
        TextLayout(
            text=(_PAPERS,), aspects={"task": "tasks", "dataset": "datasets", "metric": "metrics"}, separator="|"
        ),
    ),
    no_gold=("unknown",),
    licence="CC BY-SA 4.0 (labels, Papers with Code); the tables MIT",
    source="https://paperswithcode.com/about",
    paper="Kardas et al. 2020, EMNLP",
)

WIKI_ENTITIES = Dataset(
    name="wiki_entities",
    kind="aspects",
    about="Descriptions of companies, from Wikipedia, with their industry and their country.",
    splits=("train",),
    layouts=(
        TextLayout(
            text=(("name", "description"),),
            needs=("description",),
            aspects={"industry": "industry", "country": "country"},
        ),
    ),
    licence="CC BY 3.0",
    source="https://www.wikipedia.org",
)

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

UKP_TOPICS = Dataset(
    name="ukp_topics",
    kind="aspects",
    about="The arguments of UKP ASPECT, each with the one of 28 topics that it is about.",
    splits=("test",),
    layouts=(TextLayout(text=(("sentence_1",), ("sentence_2",)), aspects={"topic": "topic"}),),
    licence=UKP_ASPECT.licence,
    source=UKP_ASPECT.source,
    paper=UKP_ASPECT.paper,
    sha256=UKP_ASPECT.sha256,
)
