"""Captions of images: any two captions of one image are a similar pair."""

from features.corpora.dataset import CaptionLayout, Dataset

COCO = Dataset(
    name="coco",
    kind="captions",
    about="Five captions each of 123,000 photographs of everyday scenes.",
    splits=("train", "dev"),
    layouts=(
        CaptionLayout(form="coco json"),  # captions_train2017.json
        CaptionLayout(form="rows", image="image_id", caption="caption"),
    ),
    licence="CC BY 4.0 (captions)",
    source="https://cocodataset.org/#download",
    paper="Lin et al. 2014, ECCV; Chen et al. 2015",
)

FLICKR30K = Dataset(
    name="flickr30k",
    kind="captions",
    about="Five captions each of 31,000 photographs of people and animals.",
    layouts=(
        CaptionLayout(form="wide", image="image", caption="caption"),
        CaptionLayout(form="tokens"),  # results_20130124.token
    ),
    licence="non-commercial research and education",
    source="https://shannon.cs.illinois.edu/DenotationGraph/",
    paper="Young et al. 2014, TACL",
)
