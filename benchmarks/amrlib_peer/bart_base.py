"""amrlib's own inference over a BART-base with random weights: times a parser without downloading one."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BATCH = 12  # amrlib's own


@dataclass
class Peer:
    """amrlib's inference.

    Args:
        inference: `amrlib.models.parse_xfm.inference.Inference`.
    """

    inference: Any

    def seconds(self, texts: Sequence[str], lengths: Sequence[int], beams: int) -> float:
        """Return the wall time for some sentences, each batch as long as its longest graph."""
        self.inference.num_beams = self.inference.num_ret_seq = beams
        order = sorted(range(len(texts)), key=lambda position: -lengths[position])
        begun = time.perf_counter()
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            self.inference.max_graph_len = lengths[batch[0]]
            # Random weights may end a graph at once, or never.
            self.inference.model.generation_config.min_length = lengths[batch[0]]
            self.inference.parse_sents([texts[position] for position in batch], add_metadata=False)
        return time.perf_counter() - begun


def load_peer(folder: Path, texts: Sequence[str]) -> Peer:
    """Create the model in a folder, with a word-level tokenizer for these sentences, and load it."""
    import torch
    from amrlib.models.parse_xfm.inference import Inference
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    words = sorted({word for text in texts for word in text.split()})
    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(special + words)}, unk_token=special[3]))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    bos, pad, eos, unknown = special
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=bos, eos_token=eos, pad_token=pad, unk_token=unknown
    )
    torch.manual_seed(0)
    config = BartConfig(  # facebook/bart-base
        vocab_size=50265,
        d_model=768,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
    )
    settings = {"model_name_or_path": "none", "max_in_len": 512, "max_out_len": 512}
    model = BartForConditionalGeneration(config)
    model.save_pretrained(folder)
    loaded = BartForConditionalGeneration.from_pretrained(folder)
    return Peer(Inference(model=loaded, tokenizer=tokenizer, config=settings, device="cpu"))
