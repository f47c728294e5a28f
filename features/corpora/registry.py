"""The datasets that facetflow knows, by name."""

from features.corpora.dataset import Dataset
from features.corpora.records.aspects import PWC_AREA_TASK, PWC_TDM, UKP_ASPECT, UKP_TOPICS, WIKI_ENTITIES
from features.corpora.records.captions import COCO, FLICKR30K
from features.corpora.records.classes import TRANSFER_TASKS
from features.corpora.records.inference import ALLNLI, MNLI, SNLI
from features.corpora.records.own import EXAMPLE, PAIRS, PENMAN, TEXTS
from features.corpora.records.paraphrase import MRPC, PAN, PAWS_QQP, PAWS_WIKI, PIT2015, QQP, TWITTER_URL
from features.corpora.records.sts import SICK, STS_SEMEVAL, STSB

_RATED = (STSB, *STS_SEMEVAL, SICK)
_JUDGED = (MRPC, SNLI, MNLI, ALLNLI, QQP, PAWS_WIKI, PAWS_QQP, TWITTER_URL, PIT2015, PAN, UKP_ASPECT)
_TEXTS = (*TRANSFER_TASKS, PWC_AREA_TASK, PWC_TDM, WIKI_ENTITIES, UKP_TOPICS)
_OWN = (PAIRS, PENMAN, TEXTS, EXAMPLE)
DATASETS: dict[str, Dataset] = {record.name: record for record in (*_RATED, *_JUDGED, *_TEXTS, COCO, FLICKR30K, *_OWN)}
