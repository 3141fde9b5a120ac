"""The known mistakes, in one table: code, message, wrong versions, section that explains it.

A candidate is compared with the wrong versions on every input, so a row needs no other rule than
its wrong version. Where two rows would give the same values, only one is kept; where people write
the same mistake in ways that give different values, the row has several versions.
"""

from companion.checks.mistakes.distributions import SOFTMAX
from companion.checks.mistakes.dot_product import COSINE_SIMILARITY, DOT
from companion.checks.mistakes.encoder import FEED_FORWARD, LAYER_NORM
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
    "layer_norm": LAYER_NORM,
    "feed_forward": FEED_FORWARD,
}

# Where each thing is explained: chapter, and the heading of a section there.
SECTIONS = {
    "smallest": (1, "Two lists that agree"),
    "sign": (1, "The sign says which side"),
    "cosine": (1, "Lengths times cosine"),
    "definition": (2, "Exponent, sum, divide"),
    "soft": (2, "Why it is called soft"),
    "axis": (2, "One distribution a row"),
    "overflow": (2, "Large scores"),
    "maximum": (2, "One maximum for the whole table"),
    "integers": (2, "Scores that are whole numbers or half precision"),
    "table": (3, "The formula, with shapes"),
    "scale": (3, "Why divide by √d_k"),
    "divisors": (3, "Other divisors"),
    "three-matrices": (3, "Why three matrices"),
    "transposed-matrix": (3, "A square matrix, transposed"),
    "future": (4, "The answer is in the table"),
    "before-softmax": (4, "The smallest example"),
    "forbidden": (4, "The formula, with shapes"),
    "boolean": (4, "True means may attend"),
    "causal": (4, "The causal mask"),
    "triangles": (4, "Two triangles, one mask"),
    "padding": (4, "Padding"),
    "empty": (4, "A query with nothing left"),
    "after-softmax": (4, "Zero after the softmax"),
    "not-infinite": (4, "Numbers that are not minus infinity"),
    "weighted-sum": (5, "The smallest example"),
    "all-at-once": (5, "The formula, with shapes"),
    "residual": (5, "Add, don't replace"),
    "weights-transposed": (5, "The weights transposed"),
    "keys-mixed": (5, "The keys mixed instead of the values"),
    "overwritten": (5, "Overwritten before it is added"),
    "in-place": (5, "Updated in place"),
    "left-out": (5, "The old vector left out"),
    "heads": (6, "Two questions, two heads"),
    "concat": (6, "All heads in one product"),
    "reshape": (6, "The reshape that scrambles"),
    "output-matrix": (6, "W_O left out, heads averaged"),
    "norm": (7, "Layer norm: keep the pattern, drop the size"),
    "feed-forward": (7, "Feed-forward: what a mixture can't say"),
    "norm-axis": (7, "The norm over the other axis"),
    "corner": (7, "A sharp corner for gelu"),
}
