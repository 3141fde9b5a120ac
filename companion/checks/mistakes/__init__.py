"""The known mistakes, in one table: code, message, wrong versions, section that explains it.

A candidate is compared with the wrong versions on every input, so a row needs no other rule than
its wrong version. Where two rows would give the same values, only one is kept; where people write
the same mistake in ways that give different values, the row has several versions.
"""

from companion.checks.mistakes.distributions import SOFTMAX
from companion.checks.mistakes.dot_product import COSINE_SIMILARITY, DOT
from companion.checks.mistakes.masking import CAUSAL_MASK, MASKED_SOFTMAX, PADDING_MASK
from companion.checks.mistakes.multi_head import CONCAT_HEADS, MULTI_HEAD, SPLIT_HEADS
from companion.checks.mistakes.queries_keys_values import ATTENTION_SCORES
from companion.checks.mistakes.value_updates import ATTENTION, RESIDUAL_UPDATE, WEIGHTED_VALUES

MISTAKES = {
    "dot": DOT,
    "cosine_similarity": COSINE_SIMILARITY,
    "softmax": SOFTMAX,
    "attention_scores": ATTENTION_SCORES,
    "causal_mask": CAUSAL_MASK,
    "padding_mask": PADDING_MASK,
    "masked_softmax": MASKED_SOFTMAX,
    "weighted_values": WEIGHTED_VALUES,
    "attention": ATTENTION,
    "residual_update": RESIDUAL_UPDATE,
    "split_heads": SPLIT_HEADS,
    "concat_heads": CONCAT_HEADS,
    "multi_head": MULTI_HEAD,
}

# Where each thing is explained: chapter and section.
SECTIONS = {
    "smallest": (1, "Multiply and add"),
    "sign": (1, "Sign and angle"),
    "cosine": (1, "Length and cosine"),
    "definition": (2, "From numbers to a distribution"),
    "soft": (2, "Why soft"),
    "axis": (2, "Which axis"),
    "overflow": (2, "Large numbers"),
    "integers": (2, "Integers and half precision"),
    "table": (3, "The table of scores"),
    "scale": (3, "Why divide by √d_k"),
    "three-matrices": (3, "Why three matrices"),
    "future": (4, "Why hide the future"),
    "before-softmax": (4, "Before the softmax or after"),
    "triangles": (4, "Two triangles"),
    "boolean": (4, "True means may attend"),
    "padding": (4, "Padding"),
    "empty": (4, "Nothing left to attend to"),
    "weighted-sum": (5, "A weighted sum of values"),
    "residual": (5, "The update"),
    "all-at-once": (5, "All tokens at once"),
    "heads": (6, "Several heads"),
    "reshape": (6, "Split and reshape"),
    "concat": (6, "Side by side"),
    "output-matrix": (6, "The output matrix"),
}
