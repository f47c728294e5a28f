"""BERT with a projection to BIO tags, and a head that finds predicates. Imports torch: load it only with a tagger.

    token types   0    0    0    1       0  0    0        1 marks the pieces of the predicate
    pieces      [CLS]  the  cat  chased  a  mouse [SEP]
                  └──── BERT ────┴──────────┘
    tags          O    B-ARG0 I-ARG0 B-V B-ARG1 I-ARG1 O

If no predicate is marked, the second head scores each word as a predicate. Parameters are named as in AllenNLP; the
second head is ours.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

PREDICATE_LAYER = "predicate_layer"
_WIDTH_OF_A_HEAD = 64  # in all of Google's BERTs; other models give their number of heads


class SrlBert(nn.Module):
    """The network of `srl_bert`, with or without the head that finds predicates."""

    def __init__(self, config: BertConfig, n_labels: int, *, finds_predicates: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.bert_model = BertModel(config, add_pooling_layer=False)
        self.tag_projection_layer = nn.Linear(config.hidden_size, n_labels)
        self.embedding_dropout = nn.Dropout(dropout)
        self.predicate_layer = nn.Linear(config.hidden_size, 1) if finds_predicates else None

    def encode(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Return a vector for each piece, (n, t, hidden).

        Both `types` and `mask` are (n, t): 1 for a piece of the predicate, and 1 for any piece, 0 for padding.
        """
        states: Tensor = self.bert_model(input_ids=ids, token_type_ids=types, attention_mask=mask).last_hidden_state
        dropped: Tensor = self.embedding_dropout(states)
        return dropped

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        """Return the logits of the tags, (n, t, n_labels)."""
        logits: Tensor = self.tag_projection_layer(self.encode(ids, types, mask))
        return logits

    def predicate_logits(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return for each piece the logit of its word being a predicate, (n, t)."""
        assert self.predicate_layer is not None, "this network has no head for predicates"  # noqa: S101
        logits: Tensor = self.predicate_layer(self.encode(ids, torch.zeros_like(ids), mask))
        return logits.squeeze(-1)


def encoder_config(weights: Mapping[str, Tensor], described: Mapping[str, Any]) -> BertConfig:
    """Return the sizes of an encoder: by the shapes of its weights, else by the archive's configuration of it.

    Raises:
        KeyError: a weight that every BERT has is missing.
    """
    words = weights["bert_model.embeddings.word_embeddings.weight"]
    first = weights["bert_model.encoder.layer.0.intermediate.dense.weight"]
    layers = {name.split(".")[3] for name in weights if name.startswith("bert_model.encoder.layer.")}
    hidden = int(words.shape[1])
    return BertConfig(
        vocab_size=int(words.shape[0]),
        hidden_size=hidden,
        num_hidden_layers=len(layers),
        intermediate_size=int(first.shape[0]),
        max_position_embeddings=int(weights["bert_model.embeddings.position_embeddings.weight"].shape[0]),
        type_vocab_size=int(weights["bert_model.embeddings.token_type_embeddings.weight"].shape[0]),
        num_attention_heads=int(described.get("num_attention_heads", max(1, hidden // _WIDTH_OF_A_HEAD))),
        hidden_act=str(described.get("hidden_act", "gelu")),
        layer_norm_eps=float(described.get("layer_norm_eps", 1e-12)),
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
