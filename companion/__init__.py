"""The tested NumPy companion of *Attention, Step by Step*: one module a chapter.

Rows are tokens, the softmax runs over the last axis, masks are boolean and ``True`` means
*may attend*. Figures live in ``companion.plotting``, which is imported only where it is used.
"""

from companion.distributions import log_softmax, softmax, softmax_jacobian
from companion.dot_product import alignment_matrix, cosine_similarity, dot
from companion.efficient import (
    KeyValueCache,
    attention_bytes,
    attention_flops,
    attention_parameters,
    blockwise_attention,
    grouped_query_attention,
)
from companion.embeddings import (
    Sentence,
    WordVectors,
    load_head,
    load_layer,
    load_probes,
    load_sentence,
    load_word_vectors,
    recorded_heads,
    sentence_names,
)
from companion.masking import causal_mask, masked_softmax, padding_mask
from companion.multi_head import MultiHeadAttention, MultiHeadSteps, concat_heads, split_heads
from companion.queries_keys_values import attention_scores, project
from companion.value_updates import (
    AttentionSteps,
    attention,
    attention_steps,
    residual_update,
    weighted_values,
)

__all__ = [
    "AttentionSteps",
    "KeyValueCache",
    "MultiHeadAttention",
    "MultiHeadSteps",
    "Sentence",
    "WordVectors",
    "alignment_matrix",
    "attention",
    "attention_bytes",
    "attention_flops",
    "attention_parameters",
    "attention_scores",
    "attention_steps",
    "blockwise_attention",
    "causal_mask",
    "concat_heads",
    "cosine_similarity",
    "dot",
    "grouped_query_attention",
    "load_head",
    "load_layer",
    "load_probes",
    "load_sentence",
    "load_word_vectors",
    "log_softmax",
    "masked_softmax",
    "padding_mask",
    "project",
    "recorded_heads",
    "residual_update",
    "sentence_names",
    "softmax",
    "softmax_jacobian",
    "split_heads",
    "weighted_values",
]
