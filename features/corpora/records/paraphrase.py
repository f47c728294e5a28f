"""Pairs judged as paraphrase or not: news, questions, scrambled sentences, tweets, passages of novels."""

from functools import partial

from features.corpora.dataset import Dataset, TableLayout

_NAMED = TableLayout(columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "label": "label"})
_tsv = partial(TableLayout, form="tsv", quotes="ordinary")
_judged = partial(Dataset, kind="paraphrase", labels=("0", "1"), label_scores={"0": 0.0, "1": 1.0})


MRPC = _judged(
    name="mrpc",
    about="Sentence pairs of news that are close in wording; two thirds are paraphrases.",
    # Quotes are ordinary, the first line begins with a byte order mark, lines end in CR LF.
    layouts=(
        TableLayout(
            quotes="ordinary", columns={"sentence_a": "#1 String", "sentence_b": "#2 String", "label": "Quality"}
        ),
    ),
    licence="Microsoft Research terms, research use",
    source="https://www.microsoft.com/en-us/download/details.aspx?id=52398",
    paper="Dolan and Brockett 2005, IWP",
    sha256={"msr_paraphrase_test.txt": "51a1f197d8786712d2f0d97700f5be653b7488a96cde00e158159350d23e3d90"},
)

QQP = _judged(
    name="qqp",
    about="Pairs of questions that users of Quora asked, duplicate or not.",
    layouts=(
        # As released and in GLUE; the usual split (Wang et al. 2017) has no header line.
        TableLayout(columns={"sentence_a": "question1", "sentence_b": "question2", "label": "is_duplicate"}),
        TableLayout(form="tsv", columns={"label": 0, "sentence_a": 1, "sentence_b": 2}, width=4),
    ),
    licence="Quora's terms of service, research use",
    source="https://quoradata.quora.com/First-Quora-Dataset-Release-Question-Pairs",
    paper="Iyer, Dandekar and Csernai 2017; split of Wang, Hamza and Florian 2017, IJCAI",
)

PAWS_WIKI = _judged(
    name="paws_wiki",
    about="Wikipedia sentences with words swapped: high overlap, often another meaning.",
    layouts=(_NAMED,),
    licence="free for any purpose, with acknowledgement of Google",
    source="https://github.com/google-research-datasets/paws",
    paper="Zhang, Baldridge and He 2019, NAACL",
    sha256={
        "dev.tsv": "069c5c604db421f5d3513e932e9b1025456f1ffa7321ddb8336189bbc627bd67",
        "test.tsv": "51fc5f45bf33e7991a0c09b38bb4ff1ee482afd170128ae5ae5d8c4ba1d250cf",
    },
)

PAWS_QQP = PAWS_WIKI.model_copy(
    update={
        "name": "paws_qqp",
        "about": "Quora questions with words swapped: high overlap, often another meaning.",
        "splits": ("train", "test"),
        "licence": "free for any purpose, with acknowledgement of Google; the questions under Quora's terms",
        "sha256": {"dev_and_test.tsv": "4cd621b3f1c0fa70d13992bfe928a868124444a226b1ce6386b2fc949aaad233"},
    }
)

TWITTER_URL = _judged(
    name="twitter_url",
    about="Tweets that link to one page; at least four of six annotators make a paraphrase, three are no judgement.",
    splits=("train", "test"),
    layouts=(
        TableLayout(
            columns={"sentence_a": "sentence1", "sentence_b": "sentence2", "label": "votes"}, label_form="votes_of_six"
        ),
        _NAMED,
        # As released: sentence, sentence, (n, 6), URL.
        _tsv(columns={"sentence_a": 0, "sentence_b": 1, "label": 2}, width=4, label_form="votes_of_six"),
    ),
    licence="not stated; on request from the authors",
    source="https://github.com/lanwuwei/Twitter-URL-Corpus",
    paper="Lan et al. 2017, EMNLP",
)

PIT2015 = _judged(
    name="pit2015",
    about="Tweets about one trending topic; judged by five annotators (train, dev) or rated by an expert (test).",
    layouts=(  # the group is the topic
        _tsv(columns={"sentence_a": 2, "sentence_b": 3, "label": 4, "group": 0}, width=5, label_form="votes_of_five"),
    ),
    licence="not stated; research use",
    source="https://github.com/cocoxu/SemEval-PIT2015",
    paper="Xu, Callison-Burch and Dolan 2015, SemEval-2015 Task 1",
)

PAN = _judged(
    name="pan",
    about="Sentences of novels and their plagiarism: paraphrased by people, or unrelated.",
    splits=("train", "test"),
    layouts=(_NAMED,),
    licence="not stated",
    source="https://github.com/wasiahmad/paraphrase_identification",
    paper="Madnani, Tetreault and Chodorow 2012, NAACL",
)
